#!/bin/sh
# Checks `memsched batch`: one line out for one in, in order, whatever a line holds; any number of jobs; going on after an end.
# usage: batch.sh PROGRAM LINES, of the stream that memory must not grow with: 1,000 or more
set -u
[ $# -eq 2 ] || { echo "usage: batch.sh PROGRAM LINES" >&2; exit 2; }
lines=$2
. "$(dirname "$0")/checks.sh"

untimed() { sed 's/"seconds":[^,]*,//' "$1"; }
same() { untimed "$1" >left && untimed "$2" >right && cmp -s left right; }

# 300 graphs, and lines that are none.
i=0
while [ $i -lt 100 ]; do
  echo "{\"graph\": \"builtin:layered:8:4:$i\", \"id\": $i}"
  echo "\"builtin:swiftnet-cell-a\""
  echo "{\"graph\": {\"ops\": [{\"inputs\": [0], \"outputs\": [1]}], \"tensors\": [{\"bytes\": $i}, {\"bytes\": 1}], \"graph_inputs\": [0], \"graph_outputs\": [1]}}"
  i=$((i + 1))
done >in
cat >>in <<'TEXT'
{bad

{"graph": "none.json", "id": [1, {"a": null}]}
{"graph": "builtin:swiftnet-cell-a", "badget": 5}
{"graph": "builtin:swiftnet-cell-a", "budget": -5}
{"graph": "builtin:swiftnet-cell-a", "budget": 200000}
{"graph": "builtin:swiftnet-cell-a", "scheduler": "none"}
{"graph": {"ops": [{"inputs": [7], "outputs": []}], "tensors": [], "graph_inputs": [], "graph_outputs": []}}
{"graph": "builtin:swiftnet-cell-a", "firing": "cbp", "state_limit": 10, "explain": true}
TEXT
printf '{"graph": "builtin:swiftnet-cell-a"}' >>in  # without the end of a line

exits 0 batch in
check "a summary on standard error: $(cat err)" is "$(cat err)" 'memsched: 310 lines: 303 answered, 7 errors'
cp out one
check "a line out for a line in" is "$(wc -l <one)" 310
check "in the order of the lines" is "$(sed -n 's/^{"line":\([0-9]*\),.*/\1/p' one | sort -nc 2>&1; sed -n '310s/^{"line":\([0-9]*\),.*/\1/p' one)" 310
check "ids come back" grep -q '^{"line":4,"id":1,' one
check "graphs within the line" grep -q '^{"line":300,.*"peak":100,' one
check "seven lines are refused" is "$(grep -c '"error":' one)" 7
check "no JSON" grep -qx '{"line":301,"version":1,"error":"is no JSON"}' one
check "an empty line" grep -q '^{"line":302,.*"error":' one
check "no file, with an id of any kind" grep -q '^{"line":303,"id":\[1,{"a":null}\],.*"none.json: No such file' one
check "an unknown key" grep -q '^{"line":304,.*unknown key .*badget.*did you mean .*budget' one
check "a wrong type" grep -q '^{"line":305,.*budget: has the wrong type' one
check "a budget that is not met is an answer" grep -q '^{"line":306,.*"status":"infeasible"' one
check "an unknown scheduler" grep -q '^{"line":307,.*scheduler: there is no ' one
check "a graph with a fault" grep -q '^{"line":308,.*"error":"graph: ops\[0\]' one
check "options of a line" grep -q '^{"line":309,.*"firing":"cbp".*"live_at_peak"' one
"$program" batch - <in >piped 2>err
check "standard input" same one piped
for jobs in 2 7; do
  "$program" batch in --jobs $jobs --output many
  check "$jobs jobs answer the same" same one many
done

# Paths as they are, the first thing that anybody pipes in.
mkdir graphs
graph='{"ops": [{"inputs": [0], "outputs": [1]}], "tensors": [{"bytes": 4}, {"bytes": 6}], "graph_inputs": [0], "graph_outputs": [1]}'
for name in a "b c" "[d" '{e' '"f'; do echo "$graph" >"graphs/$name.json"; done
ls graphs/*.json | "$program" batch >out 2>err
check "a path a line: $(cat out)" is "$(grep -c '"peak":10' out)" 5
check "and their number" is "$(cat err)" 'memsched: 5 lines: 5 answered, 0 errors'
printf 'graphs/a.json\r\n  \n-\nnone.json\n {"graph": "graphs/b c.json"}\n{"graph": "a", "graph": "b"}\n7\n"graphs/a.json"' |
  "$program" batch >out 2>err
check "with the end of a line of others" grep -q '^{"line":1,.*"peak":10' out
check "a blank line" grep -q '^{"line":2,.*"error":"is empty"' out
check "standard input" grep -q '^{"line":3,.*standard input is taken' out
check "a path of no file" grep -q '^{"line":4,.*none.json: No such file' out
check "JSON after blanks" grep -q '^{"line":5,.*"peak":10' out
check "a key given twice" grep -q '^{"line":6,.*\\"graph\\" is given twice' out
check "a number is a path, too" grep -q '^{"line":7,.*7: the name must end in' out
check "a string" grep -q '^{"line":8,.*"peak":10' out
check "how many were errors" is "$(cat err)" 'memsched: 8 lines: 3 answered, 5 errors'
echo graphs/a.json | "$program" batch >out 2>err
check "one line" is "$(cat err)" 'memsched: 1 line: 1 answered, 0 errors'

# Going on.
head -c 20000 one >part
exits 0 batch in --output part --resume
check "going on after the last whole line" same one part
exits 0 batch in --output part --resume
check "nothing is left to do" same one part
refuses --resume 'needs --output' batch in --resume
refuses none 'No such file' batch none
if [ -w /dev/full ]; then
  "$program" batch in >/dev/full 2>err
  check "a full output: exit status 1" is $? 1
fi

# An end from outside: what runs is finished, what was answered is whole, and the rest can be done later.
yes '{"graph": "builtin:layered:8:4:1"}' | head -100000 >long
timeout --preserve-status -s TERM 0.5 "$program" batch long --output ended
check "interrupted: exit status 130" is $? 130
check "interrupted: whole lines" is "$(tail -c 1 ended | wc -l)" 1
check "interrupted: no error" is "$(grep -c '"error"' ended)" 0

# Streaming: answers come while the input is open; and memory does not grow with the number of lines. AddressSanitizer would
# keep up to 256 MiB of freed memory to find later uses of it: here it keeps none.
mkfifo pipe
: >stream  # before anybody counts its lines
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=0:thread_local_quarantine_size_kb=0 \
  "$program" batch - <pipe >stream &
child=$!
exec 3>pipe
answered() { # answered N: waits for N answers, as long as more of them come within half a minute
  tries=0 before=0
  while [ "$(wc -l <stream)" -lt "$1" ] && [ $tries -lt 300 ]; do
    sleep 0.1
    tries=$((tries + 1)) now=$(wc -l <stream)
    [ "$now" -eq "$before" ] || tries=0
    before=$now
  done
  [ "$(wc -l <stream)" -eq "$1" ]
}
most_memory() { sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' /proc/$child/status; }
echo '"builtin:swiftnet-cell-a"' >&3
check "an answer while more may come" answered 1
if [ -r /proc/$child/status ]; then
  head -499 long >&3
  check "500 answers" answered 500
  small=$(most_memory)
  head -$((lines - 500)) long >&3
  check "$lines answers" answered "$lines"
  large=$(most_memory)
  # Steady at 500 lines: 440 bytes for each line after are less than its answer.
  check "memory: $small KiB after 500 lines, $large after $lines" at_most "$large" $((small + (lines - 500) * 440 / 1024))
fi
exec 3>&-
wait

# A failure of a line is one of the whole where asked for; sizes are those of the command line; notes can be left out.
printf '%s\n' builtin:swiftnet-cell-a none.json >two
exits 0 batch two
check "a summary: $(cat err)" grep -qx 'memsched: 2 lines: 1 answered, 1 error' err
exits 1 batch two --fail
exits 0 batch two --quiet
check "no summary" fails test -s err
echo '{"graph": "builtin:swiftnet-cell-a", "budget": "245K"}' >sized
exits 0 batch sized --fail
check "a budget as a size" grep -q '"budget":250880' out
echo '{"graph": "builtin:swiftnet-cell-a", "budget": "lots"}' >sized
exits 1 batch sized --fail
check "no size: $(cat out)" grep -q 'budget: .*is no size' out
echo '{"graph": "builtin:swiftnet-cell-a", "time_limit": "x"}' >sized
exits 0 batch sized
check "says which type is right" grep -q 'time_limit: has the wrong type; it is a number' out
echo '{"graph": "builtin:swiftnet-cell-a", "scheduler": "fradt"}' >sized
exits 0 batch sized
check "says which scheduler was meant" grep -q "did you mean 'fradet'" out

report
