#!/bin/sh
# `memsched rewrite`: what it prints, writes and refuses.
# usage: rewrite.sh PROGRAM DATA_DIR; DATA_DIR/tflite and DATA_DIR/onnx hold models
set -u
[ $# -eq 2 ] || { echo "usage: rewrite.sh PROGRAM DATA_DIR" >&2; exit 2; }
data=$(cd "$2" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"

chain=builtin:mcunet-v2-chain
exits 0 rewrite $chain --stream-input --budget 64K --state-limit 20000 --svg memory.svg --front-svg front.svg --front front.csv -o parts.json
says "given        96,000 bytes"
says "fits"
says "verified     by provenance, over a finite field, and to the bit"
says "11,578,496 multiply-accumulates"
for file in memory.svg front.svg; do
  check "$file is a picture" grep -q "</svg>" $file
done
check "orders of different lengths are stretched" grep -q 'stretched to one width: [0-9]' memory.svg
check "the picture has the peak of the given network" grep -q 'best order: 93.8 KiB' memory.svg
check "a front: $(cat front.csv)" is "$(head -n 1 front.csv)" "peak,lower_bound,macs,operators"
check "a front of several points" test "$(wc -l <front.csv)" -gt 2

# The graph that is written has the peak that was promised, in the order in which it stands.
exits 0 rewrite $chain --stream-input --budget 64K --state-limit 20000 --format json
cp out result.json
exits 0 schedule parts.json --scheduler file --format json
promised=$(sed 's/.*"peak_before"/"peak_before"/; s/.*"peak_before":[0-9]*,"peak":\([0-9]*\).*/\1/' result.json)
check "the graph written has the peak $promised" is "$(number peak)" "$promised"
for key in '"version":1' '"verified":true' '"runtime":"parts"' '"macs_before":11578496' '"macs":11578496' '"steps":[{' '"front":[{'; do
  check "$key in $(cat result.json)" grep -qF "$key" result.json
done

# A result is judged by its provenance, and by nothing that it says of itself.
exits 0 verify $chain result.json
says "computes what $chain does, by provenance"
says "a valid order of mcunet_v2_vww_r80, rewritten with a peak of"
spoil() { sed "s/$1/$2/" result.json >spoiled.json; check "spoiled: $1" differ result.json spoiled.json; }
differ() { ! cmp -s "$1" "$2"; }
spoil '"pad_rows":1' '"pad_rows":0'
refuses spoiled.json 'has other attributes than its origin' verify $chain spoiled.json
spoil '"origin":3,' '"origin":4,'
refuses spoiled.json 'network: does not compute what' verify $chain spoiled.json
spoil '"macs":11578496' '"macs":11578495'
refuses spoiled.json 'macs: there are 11,578,496' verify $chain spoiled.json
spoil "\"peak\":$promised" '"peak":1'
refuses spoiled.json 'peak: says 1, but the order takes' verify $chain spoiled.json
spoil '"kind":"convolution"' '"kind":"conv"'
refuses spoiled.json 'network.operators[1]: kind is unknown: conv' verify $chain spoiled.json
spoil '"runtime":"parts"' '"runtime":"whole"'
refuses spoiled.json 'runtime: is not whole: operator' verify $chain spoiled.json
refuses result.json '' verify builtin:mobilenet-v2-chain result.json

# Multiply-accumulates that may be spent, for runtimes of whole operators.
exits 0 rewrite $chain --runtime whole --max-extra-macs 2% --state-limit 1000 --format json
cp out whole.json
check "whole operators: $(head -c 300 whole.json)" grep -qF '"runtime":"whole"' whole.json
peak=$(sed 's/.*"peak_before":[0-9]*,"peak":\([0-9]*\),.*/\1/' whole.json)
check "a peak below that of any order: $peak" test "$peak" -lt 96000
exits 0 verify $chain whole.json
exits 0 rewrite $chain --runtime whole --max-extra-macs 1 --state-limit 300
refuses '--max-extra-macs' 'must be a whole number, or a share' rewrite $chain --max-extra-macs much
refuses '--max-extra-macs' 'must be a whole number, or a share' rewrite $chain --max-extra-macs -5%
refuses $chain 'nothing for whole operators' rewrite $chain --runtime whole --stream-input
misused rewrite $chain --runtime half

# `schedule` of the rewritten network, with a certificate of its bound.
exits 0 schedule $chain --rewrite --blocks 2 --state-limit 1000 --format json --certificate proof.json
cp out scheduled.json
exits 0 verify $chain scheduled.json --certificate proof.json
says "Its certificate proves"
exits 3 schedule $chain --rewrite --blocks 2 --state-limit 300 --budget 1K
misused schedule $chain --blocks 2
refuses builtin:nasnet-cifar 'no network of this name' schedule builtin:nasnet-cifar --rewrite

# A budget that is missed.
exits 3 rewrite builtin:swiftnet-cell-a-conv --budget 1000 --state-limit 300 --verify 0
says "does not fit"
says "verified     no"

# An interrupt ends the runs that verify; there is an answer by then, or the search ends with one.
timeout --preserve-status -k 60 -s INT 2 "$program" rewrite $chain --state-limit 300 --verify 100000000 --format json >out 2>err
status=$?
check "INT while it verifies: exit status 130, not $status" status_is 130
says '"verified":false'
check "INT while it verifies: says so" is "$(word verify_stopped)" cancelled
check "INT while it verifies: $(cat err)" grep -qF 'not verified: the runs of both networks were interrupted' err

# Bad input.
refuses missing.tflite 'No such file' rewrite missing.tflite
refuses builtin:nasnet-cifar 'no network of this name these do: nasnet-cifar-typed' rewrite builtin:nasnet-cifar
refuses "$data" 'the name must end in' rewrite "$data"
printf 'no model' >bad.tflite
refuses bad.tflite '' rewrite bad.tflite
printf 'no model' >bad.onnx
refuses bad.onnx '' rewrite bad.onnx
refuses /no/such/directory/x.json '' rewrite $chain --state-limit 300 --blocks 2 -o /no/such/directory/x.json
misused rewrite $chain --budget much

# Every model of the corpus is rewritten or refused with a reason.
for model in "$data"/tflite/*.tflite "$data"/onnx/*.onnx; do
  run rewrite "$model" --state-limit 300
  if [ "$status" -eq 1 ]; then check "one line of error: $model" one_line err
  else check "verified: $model ($(cat err))" grep -q "^verified     by" out
  fi
done

report
