#!/usr/bin/env bash
# The layer check must refuse what points up and pass what points down.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
check=$(dirname "$0")/../scripts/check_layers.sh
mkdir -p "$folder"/{src/tensor,src/kernels,include/glassformer/tensor,apps}

# refused FILE INCLUDE MESSAGE: the check fails with the message while FILE holds the include.
refused() {
  echo "#include $2" > "$folder/$1"
  if "$check" "$folder" 2> "$folder/said"; then echo "passed: $1 with $2" >&2; exit 1; fi
  grep -qF "$3" "$folder/said" || { echo "another message than '$3':" >&2; cat "$folder/said" >&2; exit 1; }
  rm "$folder/$1"
}

echo '#include "glassformer/base/error.h"' > "$folder/src/tensor/down.cc"
echo '#include "kernels/copy.h"' > "$folder/src/tensor/private.cc"
echo '#include "glassformer/nn/module.h"' > "$folder/apps/main.cc"
echo '#include "commands.h"' > "$folder/apps/command.cc"
"$check" "$folder"

refused src/tensor/up.cc '"glassformer/nn/module.h"' 'tensor may not include nn'
refused src/tensor/up.cc '<glassformer/nn/module.h>' 'tensor may not include nn'
refused src/kernels/up.h '"tensor/tensor_impl.h"' 'kernels may not include tensor'
refused include/glassformer/tensor/up.h '"glassformer/autograd/ops.h"' 'tensor may not include autograd'
refused include/glassformer/tensor/private.h '"tensor/tensor_impl.h"' 'a public header may include glassformer/'
refused apps/private.cc '"kernels/gemm.h"' 'apps may not include private headers'
mkdir "$folder/src/shortcut"
if "$check" "$folder" 2>/dev/null; then echo "an unknown layer passed" >&2; exit 1; fi
