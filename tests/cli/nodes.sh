#!/bin/sh
# Graphs of other compilers through the program: nodes by name in, an order of names out. The exporters run where they can:
# that of HLO text needs Python, that of torch.fx PyTorch.
# usage: nodes.sh PROGRAM SOURCES
set -u
[ $# -eq 2 ] || { echo "usage: nodes.sh PROGRAM SOURCES" >&2; exit 2; }
program=$1
sources=$2
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
failures=0
fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}
# orders GRAPH PEAK NAMES: the order that the program finds
orders() {
  "$program" schedule "$1" --format json -o "$directory/result.json" || fail "$1 is refused"
  grep -qF "\"names\":[$3]" "$directory/result.json" || fail "$1: $(cat "$directory/result.json")"
  grep -qF "\"peak\":$2," "$directory/result.json" || fail "$1: not peak $2 in $(cat "$directory/result.json")"
}

cat >"$directory/net.json" <<'TEXT'
{"name": "net", "nodes": [
  {"name": "x", "kind": "input", "bytes": 10},
  {"name": "wide", "inputs": ["x"], "bytes": 200},
  {"name": "widest", "inputs": ["x"], "bytes": 400},
  {"name": "n1", "inputs": ["wide"], "bytes": 4},
  {"name": "n2", "inputs": ["widest"], "bytes": 8},
  {"name": "sum", "inputs": ["n1", "n2"], "bytes": 4},
  {"name": "out", "kind": "output", "inputs": ["sum"]}]}
TEXT
orders "$directory/net.json" 414 '"wide","n1","widest","n2","sum"'
"$program" schedule "$directory/net.json" | grep -q '^widest' || fail "the text names no operators"
"$program" verify "$directory/net.json" "$directory/result.json" >/dev/null || fail "the result is not verified"

echo '{"nodes": [{"name": "y", "inputs": ["rely"], "bytes": 1}]}' >"$directory/bad.json"
"$program" schedule "$directory/bad.json" >"$directory/out" 2>"$directory/err"
[ $? -eq 1 ] && [ ! -s "$directory/out" ] || fail "a graph with a fault is no bad input"
grep -qF "bad.json: nodes[0] 'y'.inputs: there is no node 'rely'" "$directory/err" || fail "says $(cat "$directory/err")"

if python3 -c '' 2>/dev/null; then
  python3 "$sources/examples/exporters/hlo.py" "$sources/tests/cli/nodes/small.hlo" >"$directory/hlo.json" || fail "hlo.py"
  orders "$directory/hlo.json" 4480 '"wide.1","fusion","narrow.1","item","wide.2","narrow.2","last","result"'
else
  echo "skipped: hlo.py, for lack of python3"
fi

for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch.fx' 2>/dev/null || continue
  fx="$sources/examples/exporters/fx.py"
  "$python" "$fx" "$directory/fx.json" && "$program" schedule "$directory/fx.json" --format json -o "$directory/fx_result.json" ||
    fail "fx.py"
  "$python" "$fx" "$directory/fx.json" "$directory/fx_result.json" | tee "$directory/out"
  grep -q "same output: True" "$directory/out" || fail "the reordered module computes something else"
  break
done
exit "$failures"
