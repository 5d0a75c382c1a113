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
check "nothing to fetch" fails grep -qE '(src|href)="[^d#]|url\(' page.html
grep '"version":1' page.html | sed 's/^.*<script type="application\/json" id="data">//' >out
for figure in '"peak":250880,' '"given_peak":351232,' '"lower_bound":250880,' '"arena":{"size":250880,' '"together_bytes":' '"live_at_peak":['; do
  check "the page has $figure" grep -qF "$figure" out
done

exits 3 report $cell -o page.html --budget 200K
exits 0 report $cell -o page.html --budget 245K
exits 0 report "$data/onnx/convolution.onnx" -o page.html
check "rewrites of a model" grep -qF '"rewrites":{"before":1280,"after":896,' page.html
exits 0 report "$data/onnx/branches.onnx" -o page.html
check "or why there are none" grep -qF '"rewrites":{"reason":' page.html
for graph in '{"ops": [], "tensors": [], "graph_inputs": [], "graph_outputs": []}' \
  '{"ops": [], "tensors": [{"bytes": 5}], "graph_inputs": [0], "graph_outputs": [0]}'; do
  echo "$graph" >nothing.json
  exits 0 report nothing.json -o page.html --offsets
done

timeout --preserve-status -s INT 1 "$program" report builtin:watts_strogatz:300 --time-limit 60 -o ended.html >out 2>err
status=$?
check "an interrupt: exit status 130, not $status" status_is 130
check "and the page of the best order so far" grep -qF '"stopped":"cancelled"' ended.html

misused report $cell
refuses none.json 'No such file' report none.json -o x.html
refuses /nonexistent/x.html 'No such file' report $cell -o /nonexistent/x.html
two=$(ls "$data"/sdf3/*.xml | head -1)
refuses "$two" 'synchronous dataflow' report "$two" -o x.html
check "no page where there is an error" fails test -e x.html
report
