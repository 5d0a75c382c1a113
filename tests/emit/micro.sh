#!/bin/sh
# Libraries in C of published models: their arenas, and their outputs against those stored of TensorFlow Lite Micro, here
# and, where there is a cross compiler with an emulator, on a Cortex-M4. Exit status 77 where there are no models.
# usage: micro.sh PROGRAM MODELS CC
set -eu
program=$1 models=$2 compiler=$3 here=$(cd "$(dirname "$0")" && pwd)
[ -d "$models" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
  echo "$*" >&2
  failed=1
}
# model, largest arena, largest tables of layers on a 32-bit machine
while read -r model arena tables; do
  [ -f "$models/$model.tflite" ] || continue
  cp "$models/$model.tflite" "$work/net.tflite"
  cat "$models/$model".out.* >"$work/wanted"
  "$program" rewrite "$work/net.tflite" --emit-c "$work/c" --verify 0 --time-limit 60 >/dev/null 2>"$work/notes" || {
    fail "$model: $(cat "$work/notes")"
    continue
  }
  needs=$(sed -n 's/^#define NET_ARENA_BYTES //p' "$work/c/net.h")
  [ "$needs" -le "$arena" ] || fail "$model: an arena of $needs bytes, not $arena"
  "$compiler" -std=c11 -O2 -Wall -Wextra -Wno-maybe-uninitialized -Werror -I "$work/c" -o "$work/run" "$here/micro_main.c" \
    "$work/c/net.c" -lm && "$work/run" >"$work/out" 2>"$work/stack" || fail "$model: does not compile or run"
  cmp "$work/out" "$work/wanted" || fail "$model: other outputs"
  # The same with CMSIS-NN, here plain loops, and with the weights of the model's file.
  "$program" rewrite "$work/net.tflite" --emit-c "$work/called" --kernels cmsis-nn --constants model --verify 0 --time-limit 5 \
    >/dev/null 2>"$work/notes" || fail "$model: $(cat "$work/notes")"
  "$compiler" -std=c11 -O2 -Wall -Wextra -Wno-maybe-uninitialized -Werror -I "$work/called" -I "$here/cmsis" -o "$work/run" \
    "$here/micro_main.c" "$work/called/net.c" "$work/called/net_model.c" "$here/cmsis/reference.c" -lm &&
    "$work/run" >"$work/out" 2>/dev/null || fail "$model: does not compile or run with CMSIS-NN"
  cmp "$work/out" "$work/wanted" || fail "$model: other outputs with CMSIS-NN"
  command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || continue
  arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -std=c11 -Wall -Wextra -Werror -c -o "$work/net.o" "$work/c/net.c"
  size=$(arm-none-eabi-nm -S -t d "$work/net.o" | awk '$4 ~ /^(parts|kernels|code)(\.|$)/ {n += $2} END {print n + 0}')
  [ "$size" -le "$tables" ] || fail "$model: tables of $size bytes, not $tables"
  arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -Os -std=c11 --specs=rdimon.specs -T "$here/cortex_m4.ld" -I "$work/c" -o "$work/arm" \
    "$here/micro_main.c" "$work/net.o" -lm || fail "$model: does not link for a Cortex-M4"
  timeout 300 qemu-system-arm -M mps2-an386 -cpu cortex-m4 -nographic -monitor none -serial none -semihosting \
    -kernel "$work/arm" >"$work/out" 2>"$work/stack" </dev/null || fail "$model: does not run on a Cortex-M4"
  cmp "$work/out" "$work/wanted" || fail "$model: other outputs on a Cortex-M4"
  echo "$model: arena $needs, tables $size, stack and instructions $(cat "$work/stack")"
done <<END
person_detect 12288 12000
mlperf_kws_int8 3902 8000
mlperf_resnet8_int8 9568 8000
mlperf_vww_int8 28032 12000
mlperf_strww_int8 3712 8000
mlperf_ad01_int8 768 1000
micro_speech 2136 3000
hello_world_int8 64 1000
mcunet_vww 77040 30000
mcunet_detection 246240 30000
END
exit $failed
