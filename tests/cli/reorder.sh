#!/bin/sh
# Checks `memsched reorder` from file to file: what it writes, what it says, and what it refuses.
# usage: reorder.sh PROGRAM CORPUS      (CORPUS: folders onnx and tflite with models)
set -u
[ $# -eq 2 ] || { echo "usage: reorder.sh PROGRAM CORPUS" >&2; exit 2; }
corpus=$(cd "$2" && pwd)
. "$(dirname "$0")/checks.sh"
cp "$corpus/tflite/branches.tflite" "$corpus/onnx/others.onnx" "$corpus/onnx/convolution.onnx" .
peak_of() { # peak_of ARGUMENTS...: of `schedule`
  run schedule "$@" --format json
  number peak
}
same_length() { [ "$(wc -c <"$1")" -eq "$(wc -c <"$2")" ]; }

# Eight branches, breadth first: the published heads of TensorFlow Lite Micro.
run reorder branches.tflite -o out.tflite
check "branches: written" status_is 0
check "branches: the peak" grep -qx 'peak  *1,081,344 -> 221,184 bytes: optimal' out
check "branches: the length stays" same_length branches.tflite out.tflite
check "branches: the promised peak" is "$(peak_of out.tflite --scheduler file)" 221184
run reorder out.tflite -o again.tflite
check "reordered again, nothing moves" cmp out.tflite again.tflite
run reorder branches.tflite -o out.tflite --offsets
check "branches with offsets" grep -q '^head  *1,179,648 -> 344,064 bytes' out
run reorder branches.tflite -o out.tflite --offsets inplace --control-edges
check "branches with offsets in place" grep -q '^head  *1,179,648 -> 221,184 bytes' out
run reorder out.tflite -o plain.tflite --scheduler file
check "the old order keeps its plan" cmp out.tflite plain.tflite
run reorder branches.tflite -o out.tflite --keep-inputs
check "inputs to the end" grep -qx 'peak  *1,089,536 -> 229,376 bytes: optimal' out
run schedule branches.tflite --format json -o result.json
run reorder branches.tflite -o out.tflite --order result.json
check "the order of a result" is "$(peak_of out.tflite --scheduler file)" 221184
run reorder branches.tflite -o out.tflite --budget 200K
check "over the budget: exit status 3" status_is 3

# The judge beside a schedule.
run schedule branches.tflite --arena tflm
check "--arena tflm: with offsets" grep -q 'with offsets in the file 344,064' out
check "--arena tflm: the file's order" grep -q "in the file's order 1,179,648" out
run schedule branches.tflite --arena tflm --format json
check "--arena tflm: in the JSON" grep -q '"arena":{"runtime":"tflm","head":[0-9]*,"planned":344064,"lower_bound":344064,"file_head":1179648' out
refuses convolution.onnx '--arena tflm .tflite' schedule convolution.onnx --arena tflm

# As JSON.
run reorder branches.tflite -o out.tflite --format json
check "json: peaks and heads" grep -q '"given_peak":[0-9]*,"peak":221184,"lower_bound":221184,"status":"optimal","moved":[0-9]*,"given_head":1179648,"head":352256' out
run reorder branches.tflite -o out.tflite --format json --offsets
check "json: heads with offsets" grep -q '"head":344064,"head_without_offsets":352256,"head_bound":344064' out

# ONNX.
run reorder others.onnx -o out.onnx
check "onnx: kept where ONNX Runtime would take more" grep -q 'ONNX Runtime orders operators anew.*the order of the file was kept' err
check "onnx: kept, the same bytes" cmp others.onnx out.onnx
check "onnx: kept, its own peak" grep -q '^peak  *2,672 -> 2,672 bytes' out
run schedule others.onnx --format json -o result.json
run reorder others.onnx -o out.onnx --order result.json
check "onnx: an order that is given is written" fails cmp others.onnx out.onnx
run reorder others.onnx -o out.onnx --force
check "onnx: written" status_is 0
check "onnx: the length stays" same_length others.onnx out.onnx
check "onnx: less" grep -q '^peak  *2,672 -> 2,524 bytes' out
check "onnx: what ONNX Runtime makes of it" grep -q 'ONNX Runtime orders operators anew.*which is worse' err
check "onnx: the promised peak" is "$(peak_of out.onnx --scheduler file)" 2524
run reorder out.onnx -o again.onnx --force
check "onnx: reordered again, nothing moves" cmp out.onnx again.onnx
run reorder convolution.onnx -o out.onnx
check "onnx: nothing better, the same bytes" cmp convolution.onnx out.onnx

# Refused, and nothing is left behind.
refuses branches.tflite 'input itself' reorder branches.tflite -o branches.tflite
ln -s branches.tflite link.tflite
refuses link.tflite 'input itself' reorder branches.tflite -o link.tflite
refuses others.onnx '--offsets .tflite' reorder others.onnx -o out.onnx --offsets
refuses others.onnx '--control-edges .tflite' reorder others.onnx -o out.onnx --control-edges
refuses graph.json '.onnx .tflite' reorder graph.json -o out.onnx
ln -s /dev/zero zero.tflite
refuses zero.tflite 'device' reorder zero.tflite -o none.tflite
mkfifo pipe.onnx
head -c 300 branches.tflite >pipe.onnx & # read to its end, as a file would be
refuses pipe.onnx '' reorder pipe.onnx -o none.onnx
mkdir folder.onnx
refuses folder.onnx 'directory' reorder folder.onnx -o none.onnx
head -c 300 branches.tflite >cut.tflite
refuses cut.tflite '' reorder cut.tflite -o none.tflite
check "nothing written" fails test -e none.tflite
check "nothing unfinished" is "$(ls | grep -c unfinished)" 0
misused reorder branches.tflite

# A value that an input always has.
refuses "--value x" NAME= schedule convolution.onnx --value x
refuses "--value x=a" NAME= schedule convolution.onnx --value x=a
refuses "--value x=2" second schedule convolution.onnx --value x=1 --value x=2
refuses convolution.onnx 'no graph input' schedule convolution.onnx --value nobody=1
refuses convolution.onnx 'does not fit' schedule convolution.onnx --value x=1
refuses branches.tflite '--value .onnx' schedule branches.tflite --value x=1
report
