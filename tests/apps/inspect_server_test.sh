#!/usr/bin/env bash
# inspect_server_test.sh PROGRAM: the inspector's server and its reports, as curl sees them; the page itself has tests of its
# own. Nothing but this machine is asked.
set -uo pipefail
program=$1
folder=$(mktemp -d)
servers=()
trap 'for s in "${servers[@]}"; do kill -KILL "$s" 2> /dev/null; done; rm -rf "$folder"' EXIT
failed=0
cd "$folder"

fail() { echo "FAILED: $*" >&2; failed=1; }
wait_for() { for _ in $(seq 600); do "$@" 2> /dev/null && return 0; sleep 0.1; done; fail "waited in vain: $*"; return 1; }
# serve NAME OPTIONS…: a server whose address is then in $url, its process in $server.
serve() {
  local name=$1; shift
  "$program" inspect --port 0 "$@" > "$name.out" 2> "$name.err" &
  server=$!
  servers+=("$server")
  wait_for test -s "$name.out" || { cat "$name.err" >&2; exit 1; }
  url=$(head -n 1 "$name.out")
}
# get PATH OPTIONS…: status in $status, headers and body in files.
get() {
  local path=$1; shift
  rm -f body
  status=$(curl -s -m 60 -D headers -o body -w '%{http_code}' "$@" "$url$path")
  touch body  # which curl does not make where there is none
  sed -i 's/\r$//' headers
}
expect() { [ "$status" = "$1" ] || { fail "status $status instead of $1: $2"; head -c 300 body >&2; }; }
header() { grep -qi -- "^$1: .*$2" headers || { fail "no header $1: $2"; cat headers >&2; }; }
says() { grep -q -- "$1" body || { fail "the answer does not say $1"; head -c 300 body >&2; }; }

printf 'a b c\tx y z\nb a\ty x\na a b\tx x y\nc b\tz y\n%.0s' $(seq 20) > pairs.tsv
recipe=(--set data.pairs=pairs.tsv --set data.valid_pairs=pairs.tsv --set data.vocab_model=word --set model.d_model=16
        --set model.heads=2 --set model.layers=1 --set train.batch_sentences=16 --set train.lr=0.01 --set train.warmup_steps=10
        --set train.validate_every=50 --set train.checkpoint_every=20 --set train.log_every=10 --doctor off)

# --- training with a page is the same training, and tells a listener its end
"$program" train --out plain "${recipe[@]}" --set train.steps=100 > /dev/null 2>&1 || fail "train"
"$program" train --out shown "${recipe[@]}" --set train.steps=100 --inspect=0 > /dev/null 2> shown.err || fail "train --inspect"
grep -q 'see the run at http://127.0.0.1:' shown.err || { fail "train --inspect names no address"; cat shown.err >&2; }
measured() { sed 's/"tokens_per_second":[0-9.e+-]*//' "$1/metrics.jsonl"; }
cmp -s <(measured plain) <(measured shown) || fail "a page changes the metrics"
cmp -s plain/model.safetensors shown/model.safetensors || fail "a page changes the model"
"$program" train --out followed "${recipe[@]}" --set train.steps=1500 --inspect=0 > /dev/null 2> followed.err &
trained=$!
servers+=("$trained")
wait_for grep -q 'see the run at' followed.err
curl -s -N -m 100 "$(sed -n 's/^see the run at //p' followed.err)api/v1/run/events" > events || fail "the events of a training are cut off"
wait $trained || fail "a training with a listener"
tail -n 1 followed/metrics.jsonl | cmp -s - <(grep '^data: {"step' events | tail -n 1 | cut -c7-) || fail "a training's last line is not told"
grep -q '^event: end' events || fail "a training's end is not told"
"$program" train --out other "${recipe[@]}" --set train.steps=1 --inspect=x > /dev/null 2> err
[ $? -eq 2 ] && grep -q 'a port is a number' err || fail "a port that is none"

# --- the server
model=plain/model.safetensors
serve first --model $model --run plain --source 'b a'
get ''
expect 200 /
header Content-Type text/html
header Content-Security-Policy "default-src 'none'; script-src 'self'"
header X-Content-Type-Options nosniff
header Referrer-Policy no-referrer
has_page=1
grep -q 'no page here' body && has_page=0
if [ $has_page -eq 1 ]; then
  for file in index.html app.js app.css; do
    get $file -H 'Accept-Encoding: gzip'
    expect 200 $file
    header Content-Encoding gzip
    gzip -dc < body > packed || fail "$file is not compressed as it says"
    get $file
    cmp -s packed body || fail "$file differs with and without compression"
    tag=$(sed -n 's/^ETag: //ip' headers)
    get $file -H "If-None-Match: $tag"
    expect 304 "$file, unchanged"
    [ -s body ] && fail "a body where nothing changed"
    get $file -H 'If-None-Match: "other"'
    expect 200 "$file, changed"
  done
  get app.js -I
  expect 200 "HEAD of app.js"
fi
get api/v1/meta
expect 200 meta
header Content-Type application/json
header Cache-Control no-store
says '"report":false'
get api/v1/traces/1
says '"source":"b a"'
get api/v1/traces -d '{"source": "a b", "target": "x y"}'
expect 200 "POST traces"
says '"id":"2"'
get api/v1/traces/2/attention/cross/0/1/weights
expect 200 weights
[ "$(head -c 4 body)" = GFM1 ] || fail "no matrix file"
get api/v1/traces/2/attention/decoder/overview?size=2
[ "$(head -c 4 body)" = GFM1 ] || fail "no matrix file of an overview"
get 'api/v1/traces/2/tensor/logits?slice=0,0,%3A'
says '"values"'

# --- what it refuses
get api/v1/nothing; expect 404 "an unknown question"; says '"error"'
get nothing.html; expect 404 "an unknown file"; says '"error"'
get ..%2f..%2fetc/passwd; expect 404 "a path upwards"
get api/v1/traces -d '{"source": 5}'; expect 400 "a source that is no text"; says '"error"'
get api/v1/meta -X DELETE; expect 405 DELETE; header Allow 'GET, HEAD, POST'
get '' -d x; expect 405 "POST of a page"; header Allow 'GET, HEAD'
port=${url##*:}; port=${port%/}
for host in "evil.example:$port" evil.example "127.0.0.1:1" 127.0.0.1 "127.0.0.1.evil.example:$port" "192.0.2.1:$port"; do
  get api/v1/meta -H "Host: $host"; expect 403 "Host $host"; says 'this server is 127.0.0.1'
done
for host in "localhost:$port" "LOCALHOST:$port" "[::1]:$port"; do
  get api/v1/meta -H "Host: $host"; expect 200 "Host $host"
done
for origin in http://evil.example null "https://127.0.0.1:$port"; do
  get api/v1/traces -d '{"source": "a"}' -H "Origin: $origin"; expect 403 "Origin $origin"; says 'own page'
done
get api/v1/traces -d '{"source": "a"}' -H "Origin: ${url%/}"; expect 200 "its own Origin"
for range in 0-3 100000-100100 0-99999999 100000- -99999999 0-1,3-4; do  # of an answer there is all or nothing
  get api/v1/traces/1; cp body whole; get api/v1/traces/1 -H "Range: bytes=$range"; expect 200 "a range, $range"
  cmp -s whole body || fail "the answer to a range, $range, is not all of it"
done
get api/v1/traces -d '{"source": "a"}' -H 'Transfer-Encoding: chunked'; expect 411 "a body of unknown length"; says Content-Length
head -c 1100000 /dev/zero | tr '\0' ' ' > large
for type in application/json application/x-www-form-urlencoded; do
  get api/v1/traces --data-binary @large -H "Content-Type: $type"; expect 413 "a body of over 1 MB"; says '"error"'
done
"$program" inspect --model $model --port "$port" > out 2> err
[ $? -eq 1 ] && grep -q 'name another port' err || { fail "a port in use"; cat err >&2; }
cp -r plain taken
"$program" train --resume --out taken --set train.steps=101 --inspect="$port" > /dev/null 2> err || fail "a port in use ends a training"
grep -q 'warning: training goes on without its page' err || { fail "no warning of a port in use"; cat err >&2; }

# --- events of a run that goes on, and of one that has ended
curl -s -N -m 60 "${url}api/v1/run/events" > events
[ "$(grep -c '^event: end' events)" = 1 ] || fail "no end of a run that has ended"
grep -q '^event: metrics' events && fail "old lines are told again"
mkdir live; cp plain/recipe.toml plain/metrics.jsonl live; echo unfinished > live/run.state
kill -INT "$server"; wait "$server"; got=$?; [ $got -eq 0 ] || fail "SIGINT ends with $got"
serve second --run live
rm events
curl -s -N -m 60 "${url}api/v1/run/events" > events &
listener=$!
wait_for grep -q retry events
printf '{"step":101,"lo' >> live/metrics.jsonl
rm -f late; curl -s -N -m 60 "${url}api/v1/run/events" > late &  # begins where the line does
late=$!
wait_for grep -q retry late
printf 'ss":1.5}\n{"step":102,"loss":1.25}\n' >> live/metrics.jsonl
wait_for grep -q '102' events
echo finished > live/run.state
wait $listener || fail "the stream does not end with the run"
wait $late; cmp -s events late || fail "a listener that comes within a line"
cat > wanted <<'END'
data: {"step":101,"loss":1.5}
data: {"step":102,"loss":1.25}
data: {}
END
grep '^data' events | cmp -s - wanted || { fail "events"; cat events >&2; }
[ "$(grep '^event' events | tr '\n' ' ')" = 'event: metrics event: metrics event: end ' ] || { fail "names of events"; cat events >&2; }
last=$(sed -n 's/^id: //p' events | head -n 1)
curl -s -N -m 60 -H "Last-Event-ID: $last" "${url}api/v1/run/events" > again
[ "$(grep '^data' again | head -n 1)" = 'data: {"step":102,"loss":1.25}' ] || fail "a listener that comes back misses a line"
get api/v1/run/series?names=loss; expect 200 series; says '"loss"'
echo unfinished > live/run.state
rm events
curl -s -N -m 60 "${url}api/v1/run/events" > events &
listener=$!
wait_for grep -q retry events
for _ in $(seq 12); do  # pages that were closed again
  curl -s -N "${url}api/v1/run/events" > closed & closed=$!
  wait_for grep -q . closed; grep -q retry closed || fail "a listener is refused for those that have gone"
  kill $closed; wait $closed 2> /dev/null; rm closed
  sleep 0.3
done
kill -TERM "$server"; wait "$server"; got=$?; [ $got -eq 0 ] || fail "SIGTERM ends with $got"
wait $listener || fail "a listener is cut off where the server ends"

# --- bad usage
"$program" inspect > out 2> err; [ $? -eq 2 ] && grep -q 'name the model' err || fail "inspect of nothing"
"$program" inspect --source a --run plain > out 2> err; [ $? -eq 2 ] && grep -q 'name the model' err || fail "no model to read a sentence"
"$program" inspect --model $model --host 192.0.2.1 --port 0 > out 2> err; [ $? -eq 1 ] && grep -q 'address of this machine' err || fail "another machine's address"
timeout 60 "$program" inspect --model $model --host "" --port 0 > out 2> err; [ $? -eq 2 ] && grep -q 'host is empty' err || fail "an empty address"
"$program" inspect --model $model --report r.html > out 2> err; [ $? -eq 2 ] && grep -q 'at least one' err || fail "a report of nothing"

# --- a report
if [ $has_page -eq 1 ]; then
  "$program" inspect --model $model --run plain --source 'b a' --source 'a a b' --report r.html 2> err || { fail "report"; cat err >&2; }
  grep -q 'r.html: 2 sentences' err || fail "a report says nothing of itself"
  sed -n 's/.*<script type="application\/json" id="answers">\(.*\)<\/script>$/\1/p' r.html > answers
  for key in meta model run/series traces/1 traces/2/beam traces/2/attention/encoder/0/1/scores traces/1/attention/cross/overview?size=48 \
    traces/1/tensor/decoder.layers.0.cross_attn.query_heads?as=f32 traces/1/tensor/source_input?as=f32; do
    grep -qF "\"$key\":{\"type\":" answers || fail "no answer to $key in the report"
  done
  # A zlib stream without its two bytes of header is what follows a gzip header; its trailer differs, which gzip bemoans.
  { printf '\037\213\010\0\0\0\0\0\0\003'; sed 's/.*"deflate":"\([^"]*\)".*/\1/' answers | base64 -d | tail -c +3; } |
    gzip -dc > bodies 2> /dev/null
  grep -aq '"report":true' bodies && grep -aq '"left_out":\[\]' bodies || fail "the report's meta"
  grep -aq '"source":"a a b"' bodies || fail "the report's second trace"
  grep -o 'https\?://[^ "'"'"'`)<]*' r.html | grep -v '^http://www\.w3\.org/' > elsewhere && { fail "a report names what is elsewhere"; cat elsewhere >&2; }
  grep -q '<script[^>]* src=\|<link[^>]*stylesheet' r.html && fail "a report needs other files"
  "$program" inspect --model $model --source 'b a' --report none/r.html > out 2> err
  [ $? -eq 1 ] && grep -q 'cannot create' err || fail "a report into a folder that is not there"
else
  "$program" inspect --model $model --source 'b a' --report r.html > out 2> err
  [ $? -eq 2 ] && grep -q 'without the inspector' err || fail "a report without a page"
  [ -e r.html ] && fail "a report without a page leaves a file"
fi

[ $failed -eq 0 ] && echo "all checks of the inspector's server passed"
exit $failed
