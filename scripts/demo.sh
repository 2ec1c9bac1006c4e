#!/usr/bin/env bash
# Trains a Transformer on real English-Chinese sentences for some minutes, then translates sentences it never saw
# and writes a report, one HTML file, of how the model does it.
# MINUTES sets the training time (default 3).
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${MINUTES:-3}
data=data/tatoeba-en-zh
run=runs/demo
program=build/glassformer

scripts/setup.sh
if [ ! -f build/build.ninja ]; then
  cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release -DGLASSFORMER_BUILD_TESTS=OFF -DGLASSFORMER_BUILD_EXAMPLES=OFF >/dev/null
fi
cmake --build build

rm -rf "$run"  # of an earlier demo
echo "Training for $minutes minutes on $(gzip -dc $data/train.tsv.gz | wc -l) sentence pairs from Tatoeba (CC BY 2.0 FR)." >&2
model=$("$program" train recipes/demo.toml --set train.minutes="$minutes" --out "$run")

echo
echo "A dozen held-out sentences:"
gzip -dc $data/test.tsv.gz | sed -n 1,12p > "$run/dozen.tsv"
cut -f1 "$run/dozen.tsv" | "$program" translate --model "$model" --beam 4 > "$run/dozen.zh"
paste "$run/dozen.tsv" "$run/dozen.zh" |
  awk -F'\t' '{ printf "  %s\n    model      %s\n    reference  %s\n", $1, $4, $2 }'

echo
echo "On all held-out sentences:"
"$program" evaluate --model "$model" --pairs $data/test.tsv.gz --tokenize zh --beam 4

echo
echo "How it does it:"
sentences=()
while IFS= read -r line; do sentences+=(--source "$line"); done < <(head -n 6 "$run/dozen.tsv" | cut -f1)
sentences+=(--source "The cat that the dog chased ran away.")  # the page opens with the last
if "$program" inspect --model "$model" --run "$run" "${sentences[@]}" --report "$run/report.html" 2> "$run/report.log"; then
  echo "  $run/report.html shows every layer, head and number at work on seven sentences; open it in a browser."
else
  echo "  no report: $(cat "$run/report.log")"
fi
rm -f "$run/report.log"

cat <<END

The model is $model. Try:
  $program inspect --model $model --run $run --source "Where is the station?"
  echo "Where is the station?" | $program translate --model $model --beam 4 --nbest 4
  $program explain "Where is the station?" --model $model
  $program info --model $model
  $program train --help
END
