#!/bin/sh
# `memsched report` without a browser: what it writes, refuses and returns. tests/report looks at pages in one.
# usage: report.sh PROGRAM DATA_DIR; DATA_DIR/onnx and DATA_DIR/sdf3 hold graphs
set -u
[ $# -eq 2 ] || { echo "usage: report.sh PROGRAM DATA_DIR" >&2; exit 2; }
data=$(cd "$2" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"
cell=builtin:swiftnet-cell-a

succeeds report $cell -o page.html --offsets
check "one line: $(cat out)" is "$(cat out)" \
  "page.html: swiftnet-cell-a, peak 250,880 bytes, lower bound 250,880, file order 351,232"
check "a page" is "$(head -1 page.html)" "<!doctype html>"
check "a whole one" is "$(tail -1 page.html)" "</html>"
check "nothing of the template is left" fails grep -q '{{[a-z]*}}' page.html
check "nothing to fetch" fails grep -qE '(src|href)="[^d#]|url\([^#]' page.html
grep '"version":1' page.html | sed 's/^.*<script type="application\/json" id="data">//' >out
for figure in '"peak":250880,' '"given_peak":351232,' '"lower_bound":250880,' '"arena":{"size":250880,' '"together_bytes":' '"live_at_peak":['; do
  check "the page has $figure" grep -qF "$figure" out
done

exits 3 report $cell -o page.html --budget 200K
exits 0 report $cell -o page.html --budget 245K
exits 0 report "$data/onnx/convolution.onnx" -o page.html
check "rewrites of a model, with the command of each" grep -qF '"what":"blocks of rows","peak":896,' page.html
check "and its hash" grep -qF "\"sha256\":\"$(sha256sum "$data/onnx/convolution.onnx" | cut -d' ' -f1)\"" page.html
exits 0 report "$data/onnx/convolution.onnx" -o page.html --budget 2K
exits 3 report "$data/onnx/convolution.onnx" -o page.html --budget 900
check "a budget is judged for each" grep -qF '"peak":896,"operators":' page.html
check "and met by one" grep -qE '"peak":896,[^}]*"fits":true' page.html
check "types and shapes of a model's tensors" grep -qE '"type":"FLOAT","shape":\[1,[0-9,]*\]' page.html
echo '{"ops": [{"inputs": [0], "outputs": [1]}], "tensors": [{"bytes": 8, "type": "int8", "shape": [2, 4]}, {"bytes": 5, "shape": [5.0]}],
  "graph_inputs": [0], "graph_outputs": [1]}' >noted.json
exits 0 report noted.json -o page.html
check "notes of a JSON graph" grep -qF '"type":"int8","shape":[2,4]' page.html
check "but what is no shape" grep -qF '"type":"","shape":null' page.html
exits 0 report "$data/onnx/branches.onnx" -o page.html
check "or why there are none" grep -qF '"reason":"No rewrite was tried: ' page.html

# An order of one's own.
"$program" schedule $cell --scheduler file --format json >file.json
exits 0 report $cell -o page.html --order file.json
check "the page of a given order" grep -qF '"name":"the order of file.json","peak":351232,' page.html
for graph in '{"ops": [], "tensors": [], "graph_inputs": [], "graph_outputs": []}' \
  '{"ops": [], "tensors": [{"bytes": 5}], "graph_inputs": [0], "graph_outputs": [0]}'; do
  echo "$graph" >nothing.json
  exits 0 report nothing.json -o page.html --offsets
done

timeout --preserve-status -s INT 1 "$program" report builtin:watts_strogatz:300 --time-limit 60 -o ended.html >out 2>err
status=$?
check "an interrupt: exit status 130, not $status" status_is 130
check "and the page of the best order so far" grep -qF '"stopped":"cancelled"' ended.html

# Continuous integration: one line, and the exit status.
exits 0 report $cell --ci --budget 245K
check "a line: $(cat out)" grep -q '^OK: swiftnet-cell-a: peak 245' out
check "one" one_line out
exits 3 report $cell --ci --budget 200K
check "a failure: $(cat out)" grep -q '^FAIL: .* > 200.* (budget, 204,800 bytes)' out
exits 0 report $cell --ci --baseline file.json
echo '{"order": [], "peak": 250879}' >less.json
exits 3 report $cell --ci --baseline less.json -o ci.html
check "growth: $(cat out)" grep -q 'baseline, 250,879 bytes' out
check "and a page" grep -qF '"peak":250880,' ci.html
echo '{"order": []}' >less.json
refuses less.json 'has no peak' report $cell --ci --baseline less.json
misused report $cell --baseline file.json -o page.html

# A trace that JSON readers take, with a slice for each operator and a pair for each tensor.
exits 0 report $cell --ci --trace trace.json
check "a trace: operators" is "$(grep -o '"ph":"X"' trace.json | wc -l)" 21
check "a trace: beginnings and ends" is "$(grep -o '"ph":"b"' trace.json | wc -l)" "$(grep -o '"ph":"e"' trace.json | wc -l)"
check "a trace: the peak" grep -qF '"args":{"bytes":250880}' trace.json

# Explanations as text, and differences.
says 'No order takes less than 250,880 bytes' explain $cell
check "with savings" grep -q 'saves, best order' out
says 'operator 0, step' explain $cell conv_0
says '"reason":{"operator":' explain $cell --format json
run explain $cell conv_O
check "no such name: $(cat err)" grep -qF "did you mean 'conv_0'?" err
"$program" schedule $cell --format json >best.json
says 'the second takes 98 KiB less' diff file.json best.json --graph $cell
check "peaks of both: $(cat out)" grep -qE '^file.json +351,232 bytes' out
says '"moved":0,"only_first":[],"only_second":[]' diff best.json best.json --graph $cell --format json
says '"peak":250880' diff best.json $cell --graph $cell --format json
refuses file.json '--graph says of which' diff file.json best.json

misused report $cell
refuses none.json 'No such file' report none.json -o x.html
refuses /nonexistent/x.html 'No such file' report $cell -o /nonexistent/x.html
check "no page where there is an error" fails test -e x.html
report
