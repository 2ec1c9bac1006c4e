#!/usr/bin/env bash
# The layer check must refuse an include that points up, and pass one that points down.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/src/tensor"
check=$(dirname "$0")/../scripts/check_layers.sh

echo '#include "glassformer/base/error.h"' > "$folder/src/tensor/good.cc"
"$check" "$folder"
echo '#include "glassformer/nn/module.h"' > "$folder/src/tensor/bad.cc"
if "$check" "$folder" 2>"$folder/said"; then echo "an upward include passed" >&2; exit 1; fi
grep -q 'tensor may not include nn' "$folder/said"
