#!/bin/sh
# Graphs of other compilers through the program: nodes by name in, an order of names out. The exporters run where they can:
# that of HLO text needs Python, that of torch.fx PyTorch.
# usage: nodes.sh PROGRAM SOURCES
set -u
[ $# -eq 2 ] || { echo "usage: nodes.sh PROGRAM SOURCES" >&2; exit 2; }
sources=$(cd "$2" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"

# orders GRAPH PEAK NAMES: the order that the program finds
orders() {
  exits 0 schedule "$1" --format json -o result.json
  check "order of $1: $(cat result.json)" grep -qF "\"names\":[$3]" result.json
  check "peak $2 of $1" grep -qF "\"peak\":$2," result.json
}

cat >net.json <<'TEXT'
{"name": "net", "nodes": [
  {"name": "x", "kind": "input", "bytes": 10},
  {"name": "wide", "inputs": ["x"], "bytes": 200},
  {"name": "widest", "inputs": ["x"], "bytes": 400},
  {"name": "n1", "inputs": ["wide"], "bytes": 4},
  {"name": "n2", "inputs": ["widest"], "bytes": 8},
  {"name": "sum", "inputs": ["n1", "n2"], "bytes": 4},
  {"name": "out", "kind": "output", "inputs": ["sum"]}]}
TEXT
orders net.json 414 '"wide","n1","widest","n2","sum"'
exits 0 schedule net.json
check "the text names operators" grep -q '^widest' out
exits 0 verify net.json result.json

echo '{"nodes": [{"name": "y", "inputs": ["rely"], "bytes": 1}]}' >bad.json
refuses bad.json "nodes[0] 'y'.inputs: there is no node 'rely'" schedule bad.json

if python3 -c '' 2>/dev/null; then
  python3 "$sources/examples/exporters/hlo" "$sources/tests/cli/nodes/small.hlo" >hlo.json
  orders hlo.json 4480 '"wide.2","narrow.2","wide.1","fusion","narrow.1","item","last","result"'
else
  echo "skipped: hlo, for lack of python3"
fi

for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch.fx' 2>/dev/null || continue
  fx="$sources/examples/exporters/fx.py"
  check "fx.py writes a graph" "$python" "$fx" fx.json
  exits 0 schedule fx.json --format json -o fx_result.json
  "$python" "$fx" fx.json fx_result.json | tee told
  check "the reordered module computes the same" grep -q "same output: True" told
  break
done

report
