#!/usr/bin/env bash
# Installs the Debian packages that building (and with --test, testing) needs, if any is missing, and says which. Debian 12
# or 13.
set -euo pipefail

packages=(build-essential cmake ninja-build pkg-config gzip ca-certificates libdnnl-dev libhwy-dev libsentencepiece-dev
          nlohmann-json3-dev libtomlplusplus-dev libcli11-dev libcpp-httplib-dev libfmt-dev libutf8proc-dev zlib1g-dev)
# Programs that need not come from Debian's packages: the page is built by Node, and tested in a browser.
commands=(node:nodejs npm:npm)
[ "${1:-}" = "--test" ] && packages+=(libgtest-dev) && commands+=(curl:curl chromium:chromium)

missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
for pair in "${commands[@]}"; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "Installing with apt: ${missing[*]}" >&2
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo, or install these packages yourself: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
