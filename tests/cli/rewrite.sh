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
check "a front: $(cat front.csv)" is "$(head -n 1 front.csv)" "peak,lower_bound,macs,operators"
check "a front of several points" test "$(wc -l <front.csv)" -gt 2

# What is written as a graph has the peak that was promised, in the order in which it stands.
exits 0 rewrite $chain --stream-input --budget 64K --state-limit 20000 --format json
cp out result.json
exits 0 schedule parts.json --scheduler file --format json
promised=$(sed 's/.*"peak_before"/"peak_before"/; s/.*"peak_before":[0-9]*,"peak":\([0-9]*\).*/\1/' result.json)
check "the graph written has the peak $promised" is "$(number peak)" "$promised"
for key in '"version":1' '"verified":true' '"runtime":"parts"' '"macs_before":11578496' '"macs":11578496' '"steps":[{' '"front":[{'; do
  check "$key in $(cat result.json)" grep -qF "$key" result.json
done

# A budget that is missed.
exits 3 rewrite builtin:swiftnet-cell-a-conv --budget 1000 --state-limit 300 --verify 0
says "does not fit"
says "verified     no"

# Bad input.
refuses missing.tflite 'No such file' rewrite missing.tflite
refuses builtin:nasnet-cifar 'no network of this name' rewrite builtin:nasnet-cifar
refuses "$data" 'the name must end in' rewrite "$data"
printf 'no model' >bad.tflite
refuses bad.tflite '' rewrite bad.tflite
printf 'no model' >bad.onnx
refuses bad.onnx '' rewrite bad.onnx
refuses /no/such/directory/x.json '' rewrite $chain --state-limit 300 --blocks 2 -o /no/such/directory/x.json
misused rewrite $chain --budget much

# Every model of the corpus is rewritten or refused with a reason.
for model in "$data"/tflite/*.tflite "$data"/onnx/*.onnx; do
  run rewrite "$model" --state-limit 300 --time-limit 2
  if [ "$status" -eq 1 ]; then check "one line of error: $model" one_line err
  else check "verified: $model ($(cat err))" grep -q "^verified     by" out
  fi
done

report
