#!/usr/bin/env bash
# Refuses an include that points up: from a layer to one above it. Usage: check_layers.sh [ROOT]
set -euo pipefail
root=${1:-$(dirname "$0")/..}

# What each layer may include, beside itself.
declare -A below=(
  [base]=""
  [kernels]="base"
  [tensor]="base kernels"
  [autograd]="base kernels tensor"
  [nn]="base tensor autograd"
  [models]="base tensor autograd nn"
  [data]="base tensor"
  [decode]="base tensor autograd nn models data"
  [train]="base kernels tensor autograd nn models data decode"
)

status=0
for layer in "${!below[@]}"; do
  for folder in "$root/include/glassformer/$layer" "$root/src/$layer"; do
    [ -d "$folder" ] || continue
    while IFS=: read -r file line text; do
      used=$(sed -E 's/.*"(glassformer\/)?([a-z_]+)\/.*/\2/' <<<"$text")
      case " $layer ${below[$layer]} " in
        *" $used "*) ;;
        *) echo "$file:$line: $layer may not include $used" >&2; status=1 ;;
      esac
    done < <(grep -rnE '^#include "(glassformer/)?[a-z_]+/' "$folder" || true)
  done
done
exit $status
