#!/bin/sh
# `memsched rewrite`: what it prints, writes and refuses.
# usage: rewrite.sh PROGRAM DATA_DIR; DATA_DIR/tflite and DATA_DIR/onnx hold models
set -u
[ $# -eq 2 ] || { echo "usage: rewrite.sh PROGRAM DATA_DIR" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
data=$(cd "$2" && pwd) || exit 2
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1
failed=0
fail() {
  echo "FAILED: $*"
  failed=$((failed + 1))
}
# runs STATUS ARGUMENTS...: leaves out and err
runs() {
  want=$1
  shift
  "$program" "$@" >out 2>err
  got=$?
  [ $got -eq "$want" ] || fail "status $got, not $want: $* ($(cat err))"
}
says() { grep -qF -e "$1" out || fail "does not say '$1': $(cat out)"; }
number() { sed -n "s/.*\"$1\":\([0-9][0-9]*\).*/\1/p" "$2"; }

chain=builtin:mcunet-v2-chain
runs 0 rewrite $chain --stream-input --budget 64K --state-limit 20000 --svg memory.svg --front-svg front.svg --front front.csv -o parts.json
says "given        96,000 bytes"
says "fits"
says "verified     by provenance, over a finite field, and to the bit"
says "11,578,496 multiply-accumulates"
for file in memory.svg front.svg; do
  grep -q "</svg>" $file || fail "$file is no picture"
done
head -n 1 front.csv | grep -qx "peak,lower_bound,macs,operators" || fail "no front: $(cat front.csv)"
[ "$(wc -l <front.csv)" -gt 2 ] || fail "a front of one point"

# What is written as a graph has the peak that was promised, in the order in which it stands.
runs 0 rewrite $chain --stream-input --budget 64K --state-limit 20000 --format json
cp out result.json
runs 0 schedule parts.json --scheduler file --format json
[ "$(number peak out)" = "$(sed 's/.*"peak_before"/"peak_before"/; s/.*"peak_before":[0-9]*,"peak":\([0-9]*\).*/\1/' result.json)" ] ||
  fail "the graph written has another peak: $(cat out) $(cat result.json)"
for key in '"version":1' '"verified":true' '"runtime":"parts"' '"macs_before":11578496' '"macs":11578496' '"steps":[{' '"front":[{'; do
  grep -qF "$key" result.json || fail "no $key in $(cat result.json)"
done

# A budget that is missed.
runs 3 rewrite builtin:swiftnet-cell-a-conv --budget 1000 --state-limit 300 --verify 0
says "does not fit"
says "verified     no"

# Bad input.
refuses() {
  text=$1
  shift
  runs 1 rewrite "$@"
  [ ! -s out ] || fail "writes to standard output: $*"
  [ "$(wc -l <err)" -eq 1 ] || fail "not one line of error: $*"
  grep -qF -e "$text" err || fail "does not say '$text': $(cat err)"
}
refuses "missing.tflite" missing.tflite
refuses "no network of this name" builtin:nasnet-cifar
refuses "the name must end in" "$data"
printf 'no model' >bad.tflite
refuses "bad.tflite: " bad.tflite
printf 'no model' >bad.onnx
refuses "bad.onnx: " bad.onnx
refuses "/no/such/directory" $chain --state-limit 300 --blocks 2 -o /no/such/directory/x.json
runs 2 rewrite $chain --budget much

# Every model of the corpus is rewritten or refused with a reason.
for model in "$data"/tflite/*.tflite "$data"/onnx/*.onnx; do
  "$program" rewrite "$model" --state-limit 300 --time-limit 2 >out 2>err
  case $? in
    0) grep -q "^verified     by" out || fail "not verified: $model" ;;
    1) [ "$(wc -l <err)" -eq 1 ] || fail "not one line of error: $model" ;;
    *) fail "status of $model: $(cat err)" ;;
  esac
done
[ $failed -eq 0 ] || exit 1
echo "all is well"
