#!/usr/bin/env bash
# Feeds changed files to everything that reads one, for SECONDS_EACH seconds a reader (default 600), and fails if any
# crashes, runs out of bounds, or allocates much more than its input holds. Needs Debian's clang and libomp-dev.
# Arguments choose readers: scripts/fuzz.sh model_file recipe tokenizer text
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz
build=build/fuzz
seeds=$build/seeds
mkdir -p "$seeds"/{model_file,recipe,tokenizer,text}

# Small valid files, to start from.
printf 'a b\tb a\nc d e\te d c\nb a\ta b\n汤 姆\t姆 汤\n' > "$seeds/text/pairs.tsv"
printf 'time,value\n1,0.5\n2,-3e2\n3,7\n4,8\n5,9\n6,1\n7,2\n8,3\n9,4\n' > "$seeds/text/numbers.csv"
gzip -nkf "$seeds/text/pairs.tsv"
cp recipes/*.toml "$seeds/recipe/"
"$build/fuzz/make_seeds" "$seeds"

[ $# -gt 0 ] || set -- model_file recipe tokenizer text
for reader in "$@"; do
  echo "== $reader"
  mkdir -p "$build/corpus/$reader"
  "$build/fuzz/${reader}_fuzz" -max_total_time="${SECONDS_EACH:-600}" -timeout=20 -rss_limit_mb=2048 -max_len=65536 \
    -malloc_limit_mb=256 -print_final_stats=1 -verbosity=0 -artifact_prefix="$build/${reader}-" \
    "$build/corpus/$reader" "$seeds/$reader"
done
echo "All readers held."
