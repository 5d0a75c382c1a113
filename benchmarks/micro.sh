#!/bin/sh
# Small models on a microcontroller: the arena of TensorFlow Lite Micro, that of the library in C, flash, extra
# multiply-accumulates, and instructions on a Cortex-M4 (emulated, -O2) and time here beside the same layers as plain loops. A
# row of Markdown for each model; then what each step of docs/microcontrollers.md costs. `./dev bench micro` runs it.
# Models: *.tflite in the folder that MEMSCHED_MODELS names, else ../shared/models; arguments after PROGRAM choose some.
# Instructions need arm-none-eabi-gcc with newlib and qemu-system-arm (Debian: gcc-arm-none-eabi, libnewlib-arm-none-eabi,
# qemu-system-arm); without, that column is empty. TIME: seconds for each search, 30.
# usage: micro.sh PROGRAM [MODEL...]
set -eu
[ $# -ge 1 ] || { echo "usage: micro.sh PROGRAM [MODEL...]" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") root=$(cd "$(dirname "$0")/.." && pwd)
shift
models=${MEMSCHED_MODELS:-$root/../shared/models} tests=$root/tests/emit
[ -d "$models" ] || { echo "micro.sh: no folder of models; set MEMSCHED_MODELS" >&2; exit 1; }
[ $# -gt 0 ] || set -- person_detect mlperf_kws_int8 mlperf_vww_int8 mlperf_resnet8_int8 mlperf_ad01_int8 mlperf_strww_int8
limit="--time-limit ${TIME:-30} --verify 0 --format json"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number() { # number FIELD FILE: the first one
  tr ',{}' '\n\n\n' <"$2" | sed -n "s/^\"$1\":\([0-9]*\)$/\1/p" | head -n 1
}
least_total() { # of the choices with these words in FILE
  tr '{' '\n' <"$3" | grep "\"network\":\"$1\",\"offsets\":$2" | sed 's/.*"total":\([0-9]*\).*/\1/' | sort -n | head -n 1
}
grouped() { echo "$1" | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta'; }
emulated() { command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; }
# instructions FOLDER [SOURCE]: of one run of the library there
instructions() {
  folder=$1
  shift
  arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O2 -std=c11 --specs=rdimon.specs -T "$tests/cortex_m4.ld" -I "$folder" \
    -I "$tests/cmsis" -o "$work/arm" "$tests/micro_main.c" "$folder/net.c" "$@" -lm
  timeout 600 qemu-system-arm -M mps2-an386 -cpu cortex-m4 -icount shift=0 -nographic -monitor none -serial none \
    -semihosting -kernel "$work/arm" >"$work/out" 2>"$work/counts" </dev/null
  cmp -s "$work/out" "$work/wanted" || { echo "micro.sh: $name: other outputs" >&2; exit 1; }
  cut -d ' ' -f 2 "$work/counts"
}
# nanoseconds FOLDER [SOURCE]: of processor time that the library there takes here, the best of 20 runs
nanoseconds() {
  folder=$1
  shift
  cc -O2 -std=c11 -I "$folder" -I "$tests/cmsis" -o "$work/here" "$tests/micro_main.c" "$folder/net.c" "$@" -lm
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    "$work/here" 2>&1 >"$work/out" | cut -d ' ' -f 2
  done | sort -n | head -n 1
  cmp -s "$work/out" "$work/wanted" || { echo "micro.sh: $name: other outputs" >&2; exit 1; }
}
# timed COMMAND...: seconds go to $took
timed() {
  start=$(date +%s%N) status=0
  "$@" || status=$?
  took=$(echo "$start $(date +%s%N)" | awk '{ printf "%.1f", ($2 - $1) / 1e9 }')
  return "$status"
}
run_step() { "$program" "$@" 2>"$work/notes"; }
# step NAME RAM FLASH MACS: a row of the table of steps
step() { echo "| $name | $1 | $(grouped "$2") | $(grouped "$3") | $4 | $took |" >>"$work/steps"; }
bytes_of() { wc -c <"$1"; }
# extra_macs FILE: of a result of `rewrite`
extra_macs() {
  echo "$(number macs "$1") $(number macs_before "$1")" | awk '{ printf "%.1f %%", 100 * ($1 - $2) / $2 }'
}
quotient() { echo "$1 $2" | awk '{ printf "%.2f", $1 / $2 }'; }

echo "| model | TFLM arena: given | with offsets | rewritten, 5 % MACs | C: arena | flash | functions | extra MACs | instructions | of plain loops | ms here | of plain loops |"
echo "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
for name in "$@"; do
  model=$models/$name.tflite
  [ -f "$model" ] || { echo "micro.sh: no $model" >&2; exit 1; }
  cp "$model" "$work/net.tflite"
  cat "$models/$name".out.* >"$work/wanted"
  timed run_step report "$work/net.tflite" -o "$work/page.html" >/dev/null || { cat "$work/notes" >&2; exit 1; }
  step report "$(sed -n 's/.*"given_peak":\([0-9]*\).*/\1/p' "$work/page.html" | head -n 1)" "$(bytes_of "$work/net.tflite")" "0.0 %"
  timed run_step reorder "$work/net.tflite" -o "$work/placed.tflite" --offsets >/dev/null || { cat "$work/notes" >&2; exit 1; }
  placed=$took
  # shellcheck disable=SC2086
  timed run_step rewrite "$work/net.tflite" -o "$work/o.tflite" --objective tflm-total --max-extra-macs 5% $limit >"$work/total" ||
    [ $? -eq 3 ] || { cat "$work/notes" >&2; exit 1; }
  written=$took
  # shellcheck disable=SC2086
  timed run_step rewrite "$work/net.tflite" --emit-c "$work/c" $limit >"$work/library" || { cat "$work/notes" >&2; exit 1; }
  emitted=$took
  # shellcheck disable=SC2086
  "$program" rewrite "$work/net.tflite" --emit-c "$work/plain" --kernels cmsis-nn --budget 1G $limit >/dev/null 2>&1
  plain=$(nanoseconds "$work/plain" "$tests/cmsis/reference.c") here=$(nanoseconds "$work/c")
  here="$(echo "$here" | awk '{ printf "%.2f", $1 / 1e6 }') | $(quotient "$here" "$plain")"
  functions='' ratio='' count=''
  if emulated; then
    plain=$(instructions "$work/plain" "$tests/cmsis/reference.c") count=$(instructions "$work/c")
    ratio=$(quotient "$count" "$plain") count=$(grouped "$count")
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -std=c11 -ffunction-sections -c -o "$work/net.o" "$work/c/net.c"
    functions=$(grouped "$(arm-none-eabi-size -A "$work/net.o" | awk '/^\.text/ { n += $2 } END { print n }')")
  fi
  given=$(least_total given '[a-z]*' "$work/total") offsets=$(least_total reordered true "$work/total")
  arena=$(number arena "$work/library")
  flash=$(($(number tables "$work/library") + $(number weights "$work/library")))
  extra=$(extra_macs "$work/library")
  [ -f "$work/o.tflite" ] || cp "$work/placed.tflite" "$work/o.tflite" # no file is better
  total=$(number tflm_total "$work/total")
  took=$placed && step "offsets" "${offsets:-$given}" "$(bytes_of "$work/placed.tflite")" "0.0 %"
  took=$written && step "rewrite" "$total" "$(bytes_of "$work/o.tflite")" "$(extra_macs "$work/total")"
  took=$emitted && step "C" "$arena" "$flash" "$extra"
  rm -f "$work/o.tflite"
  echo "| $name | $(grouped "$given") | $(grouped "${offsets:-$given}") | $(grouped "$total") |" \
    "$(grouped "$arena") | $(grouped "$flash") | $functions | $extra | $count | $ratio | $here |"
done
echo
echo "| model | step | RAM | flash | extra MACs | s |"
echo "| --- | --- | ---: | ---: | ---: | ---: |"
cat "$work/steps"
