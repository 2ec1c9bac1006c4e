#!/usr/bin/env bash
# Runs scripts/test.sh and scripts/demo.sh of the last commit on a Debian where nothing is installed yet.
#   scripts/check_debian.sh bookworm|trixie [FOLDER]
# The system is made in FOLDER (default build/debian-RELEASE) by debootstrap, from MIRROR. Needs root and debootstrap; a
# folder that is there already is made anew.
set -euo pipefail
cd "$(dirname "$0")/.."

release=${1:?usage: scripts/check_debian.sh bookworm|trixie [FOLDER]}
root=$(realpath -m "${2:-build/debian-$release}")
mirror=${MIRROR:-http://deb.debian.org/debian}

leave() {
  for place in dev/pts dev proc; do mountpoint -q "$root/$place" && umount "$root/$place"; done
  true
}
trap leave EXIT
leave
rm -rf "$root"
debootstrap --variant=minbase "$release" "$root" "$mirror" >/dev/null
mount --bind /dev "$root/dev"
mount -t devpts devpts "$root/dev/pts"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/host-certificates.crt"  # npm may have to trust what this machine trusts
echo "deb $mirror $release main" > "$root/etc/apt/sources.list"

mkdir -p "$root/glassformer"
git archive HEAD | tar -x -C "$root/glassformer"
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
  NPM_CONFIG_CAFILE=/etc/host-certificates.crt "$@"; }
inside bash -c 'cd /glassformer && scripts/test.sh'
inside bash -c "cd /glassformer && MINUTES=${MINUTES:-3} scripts/demo.sh"
inside bash -c 'cd /glassformer && build/glassformer --version'
echo "Debian $release: both scripts ran."
