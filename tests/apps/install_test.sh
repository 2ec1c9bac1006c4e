#!/usr/bin/env bash
# install_test.sh BUILD SOURCE PROGRAM: another project must be able to use an installed copy.
set -euo pipefail
build=$1 source=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf 'a b\tx y\nb a\ty x\na a b\tx x y\nb b\ty y\n%.0s' $(seq 20) > "$folder/pairs.tsv"
"$program" train --out "$folder/run" --set data.pairs="$folder/pairs.tsv" --set data.valid_pairs="$folder/pairs.tsv" \
  --set data.vocab_model=word --set model.d_model=16 --set model.heads=2 --set model.layers=1 --set train.steps=300 \
  --set train.batch_sentences=16 --set train.lr=0.01 --set train.warmup_steps=10 --set train.validate_every=300 2> "$folder/log" > /dev/null

# The other project is built as this one was: a library with sanitizers needs them in the program too.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
flags=(-G Ninja "-DCMAKE_CXX_COMPILER=$(cached CMAKE_CXX_COMPILER)" "-DCMAKE_CXX_FLAGS=$(cached CMAKE_CXX_FLAGS)")

cmake --install "$build" --prefix "$folder/installed" > /dev/null
cmake "${flags[@]}" -S "$source/tests/apps/consumer" -B "$folder/app" -DCMAKE_PREFIX_PATH="$folder/installed" > /dev/null
cmake --build "$folder/app" > /dev/null
test "$("$folder/app/app" "$folder/run/model.safetensors" 'b a')" = 'y x'
if "$folder/app/app" "$folder/pairs.tsv" 'a b' 2> "$folder/said"; then exit 1; fi
grep -q 'not a safetensors file' "$folder/said"

# As a subdirectory the configuration must work too; the sources are the ones just built.
cmake "${flags[@]}" -S "$source/tests/apps/consumer" -B "$folder/sub" -DGLASSFORMER_SOURCE="$source" > /dev/null
grep -q 'build app' "$folder/sub/build.ninja"
