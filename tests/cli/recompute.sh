#!/bin/sh
# `memsched recompute`: budgets as bytes and shares, curves, exit statuses, and proofs for the second checker.
# usage: recompute.sh MEMSCHED
set -eu
memsched=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/step.json" <<'EOF'
{"name": "step",
 "ops": [{"name": "f1", "inputs": [0], "outputs": [1], "cost": 5}, {"name": "f2", "inputs": [1], "outputs": [2], "cost": 7},
         {"name": "f3", "inputs": [2], "outputs": [3], "cost": 9}, {"name": "b3", "inputs": [3, 2], "outputs": [4], "cost": 9},
         {"name": "b2", "inputs": [4, 1], "outputs": [5], "cost": 7}, {"name": "b1", "inputs": [5, 0], "outputs": [6], "cost": 5}],
 "tensors": [{"bytes": 1}, {"bytes": 10}, {"bytes": 8}, {"bytes": 6}, {"bytes": 4}, {"bytes": 2}, {"bytes": 1}],
 "graph_inputs": [0], "graph_outputs": [6]}
EOF
fail() {
  echo "recompute.sh: $*" >&2
  exit 1
}
status() {
  set +e
  "$@" >"$dir/out" 2>"$dir/err"
  got=$?
  set -e
}
status "$memsched" recompute "$dir/step.json" --budget 100% --format json
[ "$got" -eq 0 ] || fail "all of the peak is met by the order: $got"
grep -q '"extra_cost":0,' "$dir/out" || fail "an order within the budget costs nothing"
status "$memsched" recompute "$dir/step.json" --budget 19 --format json --certificate "$dir/proof.json"
[ "$got" -eq 0 ] || fail "19 bytes do: $got"
grep -q '"extra_cost":5,.*"status":"optimal"' "$dir/out" || fail "f1 runs again, at cost 5: $(cat "$dir/out")"
cp "$dir/out" "$dir/result.json"
verifies() { # verifies TEXT ARGUMENTS...
  text=$1
  shift
  status "$memsched" verify "$dir/step.json" "$@"
  [ "$got" -eq 0 ] && grep -q -e "$text" "$dir/out" || fail "verify $*: no '$text': $(cat "$dir/out" "$dir/err")"
}
refuses() { # refuses REASON ARGUMENTS...
  text=$1
  shift
  status "$memsched" verify "$dir/step.json" "$@"
  [ "$got" -eq 1 ] && grep -q -e "$text" "$dir/err" || fail "verify $*: not refused for '$text': $(cat "$dir/out" "$dir/err")"
}
verifies 'an extra cost of 5, as it says. Its bound is a claim' "$dir/result.json"
verifies 'costs less than 5 more, in any order: it is optimal' --certificate "$dir/proof.json"
refuses 'has no certificate' --certificate "$dir/result.json"
sed 's/"extra_cost":5/"extra_cost":4/' "$dir/proof.json" >"$dir/other.json"
refuses 'extra_cost: says 4' "$dir/other.json"
sed 's/"peak":[0-9]*/"peak":1/' "$dir/proof.json" >"$dir/other.json"
refuses 'peak: says 1,' "$dir/other.json"
sed 's/"executions":\[/"executions":[5,/' "$dir/proof.json" >"$dir/other.json"
refuses 'executions: ' "$dir/other.json"
sed 's/"certificate":{"bound":5/"certificate":{"bound":6/' "$dir/proof.json" >"$dir/other.json"
refuses 'certificate: ' --certificate "$dir/other.json"
sed 's/"rows":\[/"rows":[-2,/' "$dir/proof.json" >"$dir/other.json"
refuses 'certificate: rows\[0\]: must be an index' --certificate "$dir/other.json"
by() { # by POLICY STATUS PATTERN
  status "$memsched" recompute "$dir/step.json" --budget 19 --policy "$1" --format json
  [ "$got" -eq "$2" ] && grep -q "$3" "$dir/out" || fail "--policy $1: $got, not '$3': $(cat "$dir/out" "$dir/err")"
}
by automatic 0 '"found_by":"exact","bound_by":"[a-z]*","status":"optimal"'
by exact 0 '"found_by":"exact",.*"status":"optimal"'
by repair 0 '"found_by":"repair","bound_by":"","status":"feasible"'
by improve 0 '"extra_cost":5,.*"bound_by":"","status":"feasible"'
by bounds 3 '"found_by":"given","bound_by":"[a-z]*","status":"unknown"'
status "$memsched" recompute "$dir/step.json" --budget 19 --policy ilp
if [ "$got" -ne 2 ]; then  # it is built with Cbc
  by ilp 0 '"extra_cost":5,.*"status":"optimal"'
fi
status "$memsched" recompute "$dir/step.json" --budget 19 --policy exakt
[ "$got" -eq 2 ] && grep -q "did you mean 'exact'" "$dir/err" || fail "a policy misspelt: $got, $(cat "$dir/err")"
status "$memsched" recompute "$dir/step.json" --budget 19 --log
grep -q '^  *seconds  *states  *extra cost  *bound  *gap %  found by$' "$dir/err" && grep -q ' 5 .* exact$' "$dir/err" ||
  fail "--log: $(cat "$dir/err")"
status "$memsched" recompute "$dir/step.json" --budget 19 --log=json
grep -q '"extra_cost":null,"lower_bound":0,"found":"order","by":"given"}' "$dir/err" &&
  grep -q '"extra_cost":5,.*"by":"exact"}' "$dir/err" || fail "--log=json: $(cat "$dir/err")"
status "$memsched" recompute "$dir/step.json" --budget 19
grep -q '^found by     exact; bound by ' "$dir/out" || fail "the text names the policies: $(cat "$dir/out")"
status "$memsched" recompute "$dir/step.json" --budget 19 --keep-order --format json --certificate "$dir/kept.json"
verifies 'with the order of first runs kept' --certificate "$dir/kept.json"
# Tensors that leave memory: tensor 1, of 10 bytes, is written and read back, for less than a rerun of f1.
status "$memsched" recompute "$dir/step.json" --budget 19 --offload 10 --format json --certificate "$dir/moved.json"
[ "$got" -eq 0 ] && grep -q '"offload":{"read":10,"write":10},"loads":\[\[1,[0-9]*\]\],.*"extra_cost":2,.*"status":"optimal"' "$dir/out" ||
  fail "a load of tensor 1 costs 2: $(cat "$dir/out" "$dir/err")"
verifies 'costs less than 2 more, in any order: it is optimal' --certificate "$dir/moved.json"
sed 's/"read":10/"read":5/' "$dir/moved.json" >"$dir/other.json"
refuses 'extra_cost: says 2, but the executions cost 3' "$dir/other.json"
sed 's/"loads":\[\[1,/"loads":[[1,0],[1,/' "$dir/moved.json" >"$dir/other.json"
refuses 'load 0 of tensor 1 stands before it was made' "$dir/other.json"
sed 's/"loads":\[\[1,/"loads":[[1.5,/' "$dir/moved.json" >"$dir/other.json"
refuses 'loads\[0\]: must be a tensor and a place' "$dir/other.json"
status "$memsched" recompute "$dir/step.json" --budget 19 --offload 1 --no-reruns --format json --certificate "$dir/traffic.json"
[ "$got" -eq 0 ] && grep -q '"extra_cost":20,.*"status":"optimal","stopped":"finished","seconds":[^,]*,"runs_again":\[\]' "$dir/out" ||
  fail "20 bytes move where nothing runs again: $(cat "$dir/out" "$dir/err")"
verifies 'costs less than 20 more, in any order: it is optimal' --certificate "$dir/traffic.json"
status "$memsched" recompute "$dir/step.json" --budget 19 --offload 1
[ "$got" -eq 0 ] && grep -q '^moved        0 tensors leave memory' "$dir/out" || fail "the rerun is cheaper: $(cat "$dir/out")"
for wrong in 0 -1 1,2,3 fast; do
  status "$memsched" recompute "$dir/step.json" --budget 19 --offload="$wrong"
  [ "$got" -eq 2 ] && grep -q -- --offload "$dir/err" || fail "--offload $wrong is no price: $got $(cat "$dir/err")"
done
status "$memsched" recompute "$dir/step.json" --budget 19 --no-reruns
[ "$got" -eq 2 ] || fail "without reruns and moves there is nothing to do: $got"
status "$memsched" recompute "$dir/step.json" --budget 19 --offload 1 --no-reruns --ends-outside --format json --certificate "$dir/ends.json"
[ "$got" -eq 0 ] && grep -q '"offload":{"read":1,"write":1,"ends_outside":true}' "$dir/out" || fail "ends are outside: $(cat "$dir/out" "$dir/err")"
verifies 'costs less than [0-9]* more, in any order' --certificate "$dir/ends.json"
status "$memsched" traffic "$dir/step.json" --capacity 19 --model resident --format json --certificate "$dir/spills.json"
[ "$got" -eq 0 ] && grep -q '"traffic":20,.*"spills":\[{"tensor":1,"from":2,"to":4,"written":true}\]' "$dir/out" ||
  fail "tensor 1 leaves and comes back: $(cat "$dir/out" "$dir/err")"
verifies 'moves 20 bytes .* proves that this is the least for the order' --certificate "$dir/spills.json"
verifies 'Its bounds are claims' "$dir/spills.json"
sed 's/"bound":20/"bound":21/' "$dir/spills.json" >"$dir/other.json"
refuses 'certificate: case 0 does not reach the bound' --certificate "$dir/other.json"
sed 's/"capacity":19/"capacity":20/' "$dir/spills.json" >"$dir/other.json"
refuses 'certificate: case 0 does not reach the bound' --certificate "$dir/other.json"
status "$memsched" traffic "$dir/step.json" --capacity 19 --certificate "$dir/other.json"
[ "$got" -eq 2 ] && grep -q 'resident' "$dir/err" || fail "bytes that stream have no certificate: $got"
status "$memsched" traffic "$dir/step.json" --capacity 99 --model resident --certificate "$dir/other.json"
[ "$got" -eq 1 ] && grep -q 'nothing to prove' "$dir/err" || fail "nothing moves: $got"
if command -v python3 >/dev/null; then
  python3 "$(dirname "$0")/../proof/check_traffic.py" "$dir/step.json" "$dir/spills.json" | grep -q 'optimal$' || fail "spills are refused"
  sed 's/"from":2/"from":3/' "$dir/spills.json" >"$dir/other.json"
  if python3 "$(dirname "$0")/../proof/check_traffic.py" "$dir/step.json" "$dir/other.json" >/dev/null; then
    fail "another spill is accepted"
  fi
  for proof in proof kept moved traffic ends; do
    python3 "$(dirname "$0")/../proof/check_recompute.py" "$dir/step.json" "$dir/$proof.json" >/dev/null || fail "$proof is refused"
  done
  sed 's/"extra_cost":5/"extra_cost":4/' "$dir/proof.json" >"$dir/other.json"
  if python3 "$(dirname "$0")/../proof/check_recompute.py" "$dir/step.json" "$dir/other.json" >/dev/null; then
    fail "another cost is accepted"
  fi
fi
status "$memsched" recompute "$dir/step.json" --budget 17
[ "$got" -eq 3 ] || fail "17 bytes are too few for one operator: $got"
status "$memsched" recompute "$dir/step.json" --curve 5
[ "$got" -eq 0 ] && [ "$(wc -l <"$dir/out")" -ge 4 ] || fail "a curve has a line for each budget"
status "$memsched" recompute "$dir/step.json"
[ "$got" -eq 2 ] && grep -q -- --budget "$dir/err" || fail "a budget is required: $got"
status "$memsched" recompute "$dir/step.json" --budget many
[ "$got" -eq 2 ] || fail "many is no budget: $got"
sed 's/"cost": 5/"cost": -5/' "$dir/step.json" >"$dir/negative.json"
status "$memsched" recompute "$dir/negative.json" --budget 19
[ "$got" -eq 1 ] && grep -q 'ops\[0\].cost' "$dir/err" || fail "a negative cost is named: $(cat "$dir/err")"
status "$memsched" recompute "$dir/step.json" --curve 5 --svg "$dir/curve.svg" -o "$dir/curve.json"
[ "$got" -eq 0 ] || fail "a curve is drawn: $got"
grep -q '</svg>' "$dir/curve.svg" || fail "the drawing is not whole"
grep -q '"curve":\[{"budget":' "$dir/curve.json" || fail "the curve is not where -o says"
[ ! -s "$dir/out" ] || fail "standard output is empty where -o is given"
status "$memsched" recompute "$dir/step.json" --budget 19 --svg "$dir/no.svg"
[ "$got" -eq 2 ] || fail "one budget is no curve: $got"
status "$memsched" recompute "$dir/step.json" --curve 5 --certificate "$dir/no.json"
[ "$got" -eq 2 ] || fail "a curve has no certificate: $got"
