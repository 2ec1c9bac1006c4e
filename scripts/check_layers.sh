#!/usr/bin/env bash
# Refuses an include that points up: from a layer to one above it, from the library to the program, or from a public
# header to a private one. Usage: check_layers.sh [ROOT]
set -euo pipefail
root=${1:-$(dirname "$0")/..}

# What each layer may include, beside itself (CONTRIBUTING.md has the picture).
declare -A below=(
  [base]=""
  [kernels]="base"
  [tensor]="base kernels"
  [autograd]="base kernels tensor"
  [nn]="base kernels tensor autograd"
  [models]="base tensor autograd nn"
  [data]="base tensor"
  [decode]="base tensor autograd nn models data"
  [train]="base kernels tensor autograd nn models data decode"
  [inspect]="base tensor autograd nn models data decode train"
)

project_include='[<"](glassformer/)?([a-z_]+)/'
status=0
refuse() {
  echo "$1" >&2
  status=1
}

# check FILES LAYER ALLOWED: each project include of the folder or file must lead into LAYER or one of ALLOWED.
check() {
  local file line text used
  while IFS=: read -r file line text; do
    [[ $text =~ $project_include ]] && used=${BASH_REMATCH[2]}
    [[ " $2 $3 " == *" $used "* ]] || refuse "$file:$line: $2 may not include $used"
  done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("(glassformer/)?[a-z_]+/|<glassformer/)' "$1" || true)
}

for folder in "$root"/include/glassformer/*/ "$root"/src/*/; do
  [ -d "$folder" ] || continue
  layer=$(basename "$folder")
  if [ -z "${below[$layer]+known}" ]; then
    refuse "$folder: no such layer; add it to scripts/check_layers.sh"
    continue
  fi
  check "$folder" "$layer" "${below[$layer]}"
done

# Another file's private header in a public one would not be there once installed.
while IFS=: read -r file line text; do
  refuse "$file:$line: a public header may include glassformer/… only"
done < <(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$root/include" 2>/dev/null | grep -v '"glassformer/' || true)

# The program uses all layers, but their public headers only.
for folder in apps examples; do
  [ -d "$root/$folder" ] || continue
  while IFS=: read -r file line text; do
    refuse "$file:$line: $folder may not include private headers"
  done < <(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"($(IFS='|'; echo "${!below[*]}"))/" "$root/$folder" || true)
done
exit $status
