#!/usr/bin/env bash
# program_test.sh PROGRAM: the program end to end, on good and bad files: output, messages, exit codes.
set -uo pipefail
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

fail() { echo "FAILED: $*" >&2; failed=1; }

# expect STATUS PATTERN COMMAND…: the exit status, and what standard error must say.
expect() {
  local status=$1 pattern=$2; shift 2
  "$@" > "$folder/out" 2> "$folder/err" < /dev/null
  local got=$?
  [ "$got" -eq "$status" ] || { fail "status $got instead of $status: $*"; cat "$folder/err" >&2; }
  [ -z "$pattern" ] || grep -q -- "$pattern" "$folder/err" || { fail "no '$pattern' in the message of: $*"; cat "$folder/err" >&2; }
  if grep -q -i 'terminate called\|core dumped' "$folder/err"; then fail "a crash: $*"; fi
}

cd "$folder"
printf 'a b c\tx y z\nb a\ty x\na a b\tx x y\nc b\tz y\n%.0s' $(seq 20) > pairs.tsv
cut -f1 pairs.tsv > source.txt
cut -f2 pairs.tsv > target.txt
small=(--set data.vocab_model=word --set model.d_model=16 --set model.heads=2 --set model.layers=1
       --set train.batch_sentences=16 --set train.lr=0.01 --set train.warmup_steps=10 --set train.validate_every=50
       --set train.checkpoint_every=20)
data=(--set data.pairs=pairs.tsv --set data.valid_pairs=pairs.tsv)

# --- training and using
expect 0 'leak check' "$program" train --out run "${data[@]}" "${small[@]}" --set train.steps=600
model=run/model.safetensors
[ "$(cat out)" = "$model" ] || fail "train does not print the model's path"
[ "$(grep -c '"valid_bleu"' run/metrics.jsonl)" -ge 2 ] || fail "metrics.jsonl has no validations"
head -c 7 run/metrics.jsonl | grep -q '{"step"' || fail '"step" is not first in metrics.jsonl'
[ "$(printf 'b a\n\nc b' | "$program" translate --model $model)" = $'y x\n\nz y' ] || fail "translation, a blank line kept blank"
[ "$(printf 'a b\n' | "$program" translate --model $model --beam 4 --nbest 2 | grep -c 'log p')" = 2 ] || fail "nbest"
printf 'b a\r\nc b\r\n' | "$program" translate --model $model --json | grep -q '"translation":"y x"' || fail "json and CRLF"
(printf 'b a\n'; sleep 1; printf 'c b\n') | "$program" translate --model $model | head -n 1 | grep -q 'y x' || fail "filter"
expect 0 '' "$program" info --model $model
grep -q 'encoder.layers.0.self_attn.query' out || fail "info has no table by module"
expect 0 '' "$program" evaluate --model $model --source source.txt --target target.txt --tokenize none
grep -q 'BLEU = ' out || fail "evaluate prints no BLEU"
printf 'one two three four five\nsix seven eight nine ten\n' > long.txt  # BLEU needs n-grams of four
expect 0 '' "$program" score long.txt long.txt --json
grep -q '"bleu":100.0' out && grep -q '"chrf":100.0' out && grep -q 'version:2' out || { fail "score of itself"; cat out; }
"$program" translate --model $model < <(yes 'a b' | head -n 5000) 2> err | head -n 1 > /dev/null
[ "${PIPESTATUS[0]}" -eq 0 ] || fail "a broken pipe is not a quiet end"

[ "$(printf 'a b\n\nb a\n' | "$program" translate --model $model --beam 3 --nbest 2 | cut -d' ' -f1 | uniq | tr '\n' ' ')" = "1 2 3 " ] ||
  fail "n-best has no entry for a blank line"
printf 'b a\n' | "$program" translate --model $model --nbest 1 | grep -q 'log p' || fail "--nbest 1 shows no score"
head -c 3000000 /dev/zero | tr '\0' a > endless.txt
expect 0 'were longer than 1000 tokens' "$program" translate endless.txt --model $model
printf 'fine\nbad \303( bad\n' > invalid.txt
expect 0 '' "$program" score invalid.txt invalid.txt --replace-invalid --tokenize none
expect 1 'cannot' "$program" evaluate --model $model --source source.txt --target target.txt --hypotheses none/there
printf '\n\n' > blank.txt
expect 2 'no pair has text' "$program" evaluate --model $model --source blank.txt --target blank.txt

# --- attention explained
expect 0 '' "$program" explain "cat sat mat" --mask causal --svg map.svg
grep -q '3. Softmax' out && grep -q 'cat   1.000  masked  masked    1.000' out || { fail "explain"; cat out; }
grep -q '</svg>' map.svg || fail "no picture of attention"
expect 0 '' "$program" explain "b a" --model $model --attention decoder --layer 0 --head 1 --step 3
grep -q 'decoder.layers.0.self_attn, head 1 of 2' out || { fail "explain of a model"; cat out; }
"$program" explain "b a" "y x" --model $model --json | grep -q '"path": "decoder.layers.0.cross_attn"' || fail "explain --json"
expect 2 'no command "tranlate"; there are train, translate' "$program" tranlate --model $model
expect 2 'no head 7' "$program" explain "a b" --head 7
expect 2 'excludes' "$program" explain "a b" --model $model --mask causal

# --- diagnosis
for i in $(seq 300); do printf 'a%d b%d c\tx%d y%d z\n' $((i % 17)) $((i / 17)) $((i % 17)) $((i / 17)); done > distinct.tsv
awk 'NR % 6 != 0' distinct.tsv > good.tsv; awk 'NR % 6 == 0' distinct.tsv > held.tsv
sound=(--set data.pairs=good.tsv --set data.valid_pairs=held.tsv "${small[@]}" --set data.min_frequency=1 --set train.lr=0.002
       --set train.warmup_steps=200)
expect 0 'by heart' "$program" doctor --set train.steps=100 "${sound[@]}"
grep -q "an update takes about .*; the run's 100 about" err || { fail "doctor says no time"; cat err; }
grep -q 'no finding' out || { fail "doctor of a sound recipe"; cat out; }
expect 3 '' "$program" doctor --set train.steps=100 "${sound[@]}" --set model.attention_scale=none --json --skip-learning
grep -q '"check": "score scale"' out && [ "$(grep -c '"check"' out)" = 1 ] || { fail "doctor without the scale"; cat out; }
expect 3 '' "$program" doctor --set train.steps=100 "${sound[@]}" --set train.lr=0.5 --skip-learning
grep -q '^learning rate (fault' out || { fail "doctor of a rate that is too high"; cat out; }
expect 3 '' "$program" doctor --set train.steps=100 "${data[@]}" "${small[@]}" --skip-learning
grep -q '^split leak' out && grep -q 'may explain as well: duplicates' out || { fail "doctor of the data"; cat out; }
head -n 70 target.txt > short.txt
expect 3 '' "$program" doctor --set train.steps=100 --set data.source=source.txt --set data.target=short.txt "${small[@]}"
grep -q '^unequal lines' out || { fail "doctor of unequal files"; cat out; }
expect 0 '' "$program" doctor --set train.steps=100 --set model.task=forecast
"$program" doctor --model $model --source source.txt --target target.txt > out; status=$?  # other sets, other last digits
[ $status -eq 0 ] || [ $status -eq 3 ] || fail "doctor of a model"
expect 2 'cannot be opened; name the folder of a run' "$program" doctor --run "$folder"
"$program" doctor --run run > out; status=$?
[ $status -eq 0 ] || [ $status -eq 3 ] || fail "doctor of a run"
sed 's/"loss":[0-9.]*/"loss":9/' run/metrics.jsonl > flat; mkdir flat_run; cp flat flat_run/metrics.jsonl
expect 3 '' "$program" doctor --run flat_run
grep -q '^no progress' out || { fail "doctor of a run that stands still"; cat out; }
expect 2 'name one of' "$program" doctor
expect 2 'name one of' "$program" doctor --model $model --run run

expect 0 'warning: doctor: score scale' "$program" train --out unscaled "${data[@]}" "${small[@]}" --set train.steps=2 \
  --set model.attention_scale=none
expect 0 '' "$program" train --out unwatched "${data[@]}" "${small[@]}" --set train.steps=2 --doctor off \
  --set model.attention_scale=none
grep -q 'doctor' err && fail "--doctor off does not switch it off"
cmp -s unscaled/model.safetensors unwatched/model.safetensors || fail "looking changes the run"

# --- seeing inside: tensors listed, dumped and compared; pictures
pair=(--model $model --source "b a" --target "y x")
expect 0 '' "$program" inspect "${pair[@]}" --list --gradients
grep -q '^decoder.layers.0.cross_attn.scores  *float32  *\[1,2,3,3\]' out || { fail "inspect --list"; cat out; }
grep -q '^logits.grad ' out && grep -q '^encoder.layers.0.self_attn.query.weight.grad ' out || fail "no gradients listed"
grep -q 'fused attention never forms it' out || fail "no word on why scores have no gradient"
expect 0 '' "$program" inspect "${pair[@]}" --list --operations --json
grep -q '"path": "decoder.norm.layer_norm"' out || fail "inspect --operations --json"
expect 0 'tensors written to scores.safetensors' "$program" inspect "${pair[@]}" --dump 'decoder.*.scores' logits --out scores.safetensors
expect 0 '' "$program" verify scores.safetensors scores.safetensors
[ "$(cat out)" = "3 of 3 tensors agree within rtol 0.0001 and atol 1e-05" ] || { fail "verify of itself"; cat out; }
expect 0 '' "$program" inspect --model $model --source "a b" --target "y x" --dump 'decoder.*.scores' logits --out other.safetensors
expect 3 '' "$program" verify scores.safetensors other.safetensors
head -n 1 out | grep -q '^decoder.layers.0.cross_attn.scores .*: row \[[0-9],[0-9],[0-9]\], cell [0-9] is .*, in the reference ' || { fail "verify names no cell"; cat out; }
expect 3 '' "$program" verify scores.safetensors other.safetensors --json
grep -q '"agrees": false' out || fail "verify --json"
expect 0 '' "$program" verify scores.safetensors other.safetensors --atol 1000
expect 0 '' "$program" inspect "${pair[@]}" --dump logits --out logits.safetensors
expect 3 '' "$program" verify logits.safetensors scores.safetensors
grep -q 'missing, in the reference only (2)' out || fail "verify says nothing of missing tensors"
expect 0 '' "$program" verify scores.safetensors logits.safetensors
grep -q 'extra, in the trace only, not compared (2)' out || fail "verify says nothing of extra tensors"
expect 2 'pairs.tsv: not a safetensors file' "$program" verify scores.safetensors pairs.tsv
expect 2 'none.safetensors' "$program" verify none.safetensors scores.safetensors
expect 2 'nothing is tapped at "encoder.*.scorse"' "$program" inspect "${pair[@]}" --dump 'encoder.*.scorse' --out none.safetensors
expect 2 'name it with --out' "$program" inspect "${pair[@]}" --dump logits
expect 2 'say what to show' "$program" inspect "${pair[@]}" --json
expect 2 'no layer 4' "$program" inspect "${pair[@]}" --layer 4 --svg none.svg
expect 2 'name the model' "$program" inspect --list --source a
expect 1 'cannot create' "$program" inspect "${pair[@]}" --svg none/there.svg
expect 0 '' "$program" inspect --model $model --pairs pairs.tsv --list
grep -q '^80 pairs' out && grep -q '^logits .* 80$' out || { fail "running statistics"; head -n 5 out; }
for what in '--stack cross --layer 0 --head 1' '--stack decoder --layer -1' '--stack encoder' --positions --masks; do
  expect 0 '' "$program" inspect "${pair[@]}" $what --svg picture.svg --png picture.png
  grep -q '</svg>' picture.svg || fail "no picture of $what"
  [ "$(head -c 4 picture.png | tail -c 3)" = PNG ] || fail "no dots of $what"
done
expect 0 '' "$program" inspect --curves run --svg curves.svg
grep -q 'validation BLEU' curves.svg || fail "no curve of BLEU"

# --- resume: stopped and gone on with equals not stopped
expect 0 '' "$program" train --out whole "${data[@]}" "${small[@]}" --set train.steps=80
expect 0 '' "$program" train --out half "${data[@]}" "${small[@]}" --set train.steps=40
expect 0 '' "$program" train --resume --out half --set train.steps=80
"$program" info --model whole/model.safetensors > a; "$program" info --model half/model.safetensors > b
cmp -s a b || fail "info differs after resume"
[ "$(printf 'a b c\n' | "$program" translate --model whole/model.safetensors --json)" = \
  "$(printf 'a b c\n' | "$program" translate --model half/model.safetensors --json)" ] || fail "resumed weights differ"

# --- kill -9 at any moment leaves a run that can go on, and ends where an undisturbed one does
"$program" train --out killed "${data[@]}" "${small[@]}" --set train.steps=400 > /dev/null 2>&1 &
for _ in $(seq 400); do [ -f killed/checkpoint.safetensors ] && break; sleep 0.01; done
kill -9 $!; wait $! 2> /dev/null
expect 0 '' "$program" train --resume --out killed
expect 0 '' "$program" train --out undisturbed "${data[@]}" "${small[@]}" --set train.steps=400
[ "$(printf 'a b c\n' | "$program" translate --model killed/model.safetensors --json)" = \
  "$(printf 'a b c\n' | "$program" translate --model undisturbed/model.safetensors --json)" ] || fail "a killed run ends elsewhere"

# --- Ctrl-C saves and says how to go on
"$program" train --out stopped "${data[@]}" "${small[@]}" --set train.steps=1000000 2> err > /dev/null &
for _ in $(seq 200); do [ -f stopped/checkpoint.safetensors ] && break; sleep 0.05; done
kill -TERM $!; wait $! || fail "SIGTERM does not end with 0"
grep -q -- '--resume --out stopped' err || fail "no word on how to go on"

# --- nobody listens to its words: training goes on and leaves its model
"$program" train --out unheard "${data[@]}" "${small[@]}" --set train.steps=60 2>&1 > /dev/null | head -n 1 > /dev/null
[ -f unheard/model.safetensors ] || fail "a closed standard error ends the training"

# --- bad usage and bad input: 2, with what to do
expect 2 'COMMAND\|subcommand' "$program"
expect 2 'm' "$program" translate --model
expect 2 'see --help' "$program" train --nonsense
[ "$(wc -l < err)" = 1 ] || fail "an error of usage takes more than a line"
expect 2 'name' "$program" train "${data[@]}" --set train.steps=1 --out ""
expect 2 'did you mean "train.lr"' "$program" train "${data[@]}" --set train.rl=1
expect 2 'not divisible' "$program" train "${data[@]}" --set model.heads=3 --set train.steps=1
expect 2 'say when to stop' "$program" train "${data[@]}"
expect 2 'name the training text' "$program" train --set train.steps=1
printf '[model]\nd_modle = 3\n' > bad.toml
expect 2 'bad.toml:2: unknown key "model.d_modle"; did you mean "model.d_model"' "$program" train bad.toml
printf '[model]\nd_model = "big"\n' > bad.toml
expect 2 'bad.toml:2: model.d_model takes a whole number' "$program" train bad.toml
printf '[model\n' > bad.toml
expect 2 'bad.toml:1' "$program" train bad.toml
head -n 79 target.txt > shorter.txt
expect 2 'source.txt has 80 lines, shorter.txt has 79' "$program" train --set data.source=source.txt --set data.target=shorter.txt "${small[@]}" --set train.steps=1
expect 2 'none.txt' "$program" train --set data.source=none.txt --set data.target=target.txt --set train.steps=1
: > empty.txt
expect 2 'empty.txt: the file is empty' "$program" score empty.txt target.txt
printf 'fine\nbad \303( bad\n' > invalid.txt
expect 2 'invalid.txt:2: not valid UTF-8' "$program" translate invalid.txt --model $model
expect 0 '' "$program" translate invalid.txt --model $model --replace-invalid
expect 2 'allows at most' "$program" train "${data[@]}" --set data.vocab_size=9000 --set train.steps=1
head -c 3000 $model > cut.safetensors
expect 2 'cut.safetensors' "$program" translate source.txt --model cut.safetensors
expect 2 'not a safetensors file' "$program" translate source.txt --model pairs.tsv
GLASSFORMER_ISA=sse9 expect 2 'GLASSFORMER_ISA=sse9: unknown' "$program" info --model $model
expect 2 'resume: model.d_model differs' "$program" train --resume --out run --set model.d_model=32
expect 1 'cannot be written' bash -c "\"$program\" info --model $model > /dev/full"

# --- speed: that it is measured, not what it is
expect 0 '' "$program" bench --list
grep -q '^train/base ' out && grep -q '^decode/beam4/32 ' out && grep -q '^attention/causal/4096 ' out || { fail "bench --list"; cat out; }
expect 0 '' "$program" bench --list --case 'attention/*' --longest 512
[ "$(wc -l < out)" = 6 ] || { fail "bench --longest and a pattern"; cat out; }
expect 0 '' "$program" bench --case nanogpt --repeat 3 --precision f32 --json
for field in '"isa": "' '"threads": [1-9]' '"name": "nanogpt"' '"precision": "f32"' '"tokens": 768,' '"median_seconds": [0-9.e-]*[1-9]' \
  '"peak_tensor_bytes": [1-9]' '"most_resident_bytes": [1-9]'; do
  grep -q "$field" out || { fail "no $field in bench --json"; cat out; }
done
[ "$(grep -c '^        [0-9]' out)" = 3 ] || { fail "bench --repeat 3 --json has not three times"; cat out; }
expect 0 '' "$program" bench --case nanogpt --repeat 1 --profile
grep -q '  forward stack.layers.\*.self_attn' out && grep -q '  AdamW' out || { fail "bench --profile"; cat out; }
expect 0 '' "$program" bench --write-model random.safetensors
[ "$(printf 'w0001 w0002\n' | "$program" translate --model random.safetensors --max-length 2 | wc -w)" = 2 ] || fail "bench --write-model"
expect 2 'no case "fast"' "$program" bench --case fast
expect 2 'profile is of updates' "$program" bench --case start --profile

# --- forecasting
expect 0 'naive forecasts' "$program" train --out sine --set model.task=forecast --set model.d_model=32 --set model.heads=4 \
  --set model.layers=1 --set train.steps=50 --set train.validate_every=50 --set data.windows=300
expect 0 '' "$program" info --model sine/model.safetensors
expect 2 'use `glassformer forecast`' "$program" translate source.txt --model sine/model.safetensors
awk 'BEGIN { print "value"; for (i = 0; i < 40; ++i) print sin(i * 0.9) }' > sine.csv
expect 0 '' "$program" forecast sine.csv --model sine/model.safetensors --hold-out --plot sine.svg
[ "$(wc -l < out)" = 6 ] || fail "a forecast of five rows and a header"
grep -q '</svg>' sine.svg || fail "no plot"
expect 0 '' "$program" inspect --model sine/model.safetensors --csv sine.csv --list --gradients
grep -q '^prediction.grad  *float32  *\[1,5,1\]' out || { fail "inspect of a forecast"; cat out; }
expect 2 'use `glassformer forecast`' "$program" inspect --model sine/model.safetensors --source a --list

[ $failed -eq 0 ] && echo "all of the program's checks passed"
exit $failed
