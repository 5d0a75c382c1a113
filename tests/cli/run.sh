#!/bin/sh
# Checks the program's contract: exit statuses, what goes where, and the fields of a result.
# usage: run.sh PROGRAM DATA_DIR; DATA_DIR/onnx and DATA_DIR/tflite hold models
set -u
[ $# -eq 2 ] || { echo "usage: run.sh PROGRAM DATA_DIR" >&2; exit 2; }
data=$(cd "$2" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"

# graph FILE OPS TENSORS INPUTS OUTPUTS
graph() {
  printf '{"name": "g", "ops": [%s], "tensors": [%s], "graph_inputs": [%s], "graph_outputs": [%s]}\n' \
    "$2" "$3" "$4" "$5" >"$1"
}

b4='{"bytes": 4}'

# Graphs that are none.
graph cycle.json '{"name": "left", "inputs": [0, 2], "outputs": [1]}, {"name": "right", "inputs": [1], "outputs": [2]}' \
  "$b4, $b4, $b4" 0 2
graph twice.json '{"name": "one", "inputs": [0], "outputs": [1]}, {"name": "two", "inputs": [0], "outputs": [1]}' "$b4, $b4" 0 1
graph range.json '{"name": "a", "inputs": [7], "outputs": [1]}' "$b4, $b4" 0 1
graph after.json '{"name": "a", "inputs": [0], "outputs": [1], "after": [5]}' "$b4, $b4" 0 1
graph output_range.json '{"name": "a", "inputs": [0], "outputs": [1]}' "$b4, $b4" 0 9
graph orphan.json '{"name": "a", "inputs": [0, 2], "outputs": [1]}' "$b4, $b4, {\"name\": \"lost\", \"bytes\": 4}" 0 1
graph written_input.json '{"name": "a", "inputs": [], "outputs": [0]}' '{"name": "x", "bytes": 4}' 0 0
graph itself.json '{"name": "snake", "inputs": [0], "outputs": [0]}' "$b4" '' 0
graph negative.json '{"name": "a", "inputs": [0], "outputs": [1]}' '{"bytes": -4}, {"bytes": 4}' 0 1
graph fraction.json '{"name": "a", "inputs": [0], "outputs": [1]}' '{"bytes": 4}, {"bytes": 4.5}' 0 1
graph huge.json '{"name": "a", "inputs": [0], "outputs": [1]}' '{"bytes": 4}, {"bytes": 18446744073709551616}' 0 1
graph sum.json '{"name": "a", "inputs": [0], "outputs": [1]}' '{"bytes": 18446744073709551615}, {"bytes": 18446744073709551615}' 0 1
graph workspace.json '{"name": "a", "inputs": [0], "outputs": [1], "workspace": -1}' "$b4, $b4" 0 1
graph place.json '{"name": "a", "inputs": [0], "outputs": [1], "inplace": 1}' "$b4, $b4" 0 1
graph misspelt.json '{"worskpace": 1000, "name": "a", "inputs": [0], "outputs": [1]}' "$b4, $b4" 0 1
graph misspelt_tensor.json '{"name": "a", "inputs": [0], "outputs": [1]}' '{"name": "x", "bytes": 4, "aliasof": -1}, {"bytes": 4}' 0 1
graph notes.json '{"name": "a", "inputs": [0], "outputs": [1], "x-y": [], "cost": 2, "pure": true}' \
  '{"bytes": 4, "shape": [4], "type": "int8", "producer": "b"}, {"bytes": 4}' 0 1
graph update_range.json '{"name": "a", "inputs": [0], "outputs": [1], "updates": [1]}' "$b4, $b4" 0 1
graph firing.json '{"name": "a", "inputs": [0], "outputs": [1], "firing": "abc"}' "$b4, $b4" 0 1
refuses cycle.json 'cycle left right' schedule cycle.json
refuses twice.json 'one two' schedule twice.json
refuses range.json 'ops[0].inputs[0] 7' schedule range.json
refuses after.json 'ops[0].after[0] 5' schedule after.json
refuses output_range.json 'graph_outputs[0] 9' schedule output_range.json
refuses orphan.json 'lost' schedule orphan.json
refuses written_input.json "x a" schedule written_input.json
refuses itself.json 'snake' schedule itself.json
refuses negative.json 'tensors[0].bytes -4' schedule negative.json
refuses fraction.json 'tensors[1].bytes fraction' schedule fraction.json
refuses huge.json 'tensors[1].bytes large' schedule huge.json
refuses sum.json 'sum 2^61' schedule sum.json
refuses workspace.json 'ops[0].workspace' schedule workspace.json
refuses place.json 'ops[0].inplace' schedule place.json
refuses firing.json 'ops[0].firing' schedule firing.json
for command in schedule inspect compare plan report; do
  output=
  [ $command != report ] || output='-o page.html'
  refuses misspelt.json "ops[0] 'a' worskpace mean workspace" $command misspelt.json $output
done
refuses misspelt_tensor.json "tensors[0] 'x' aliasof mean alias_of" schedule misspelt_tensor.json
refuses update_range.json 'ops[0].updates[0] 1' schedule update_range.json
succeeds schedule notes.json
for command in compare inspect sample; do refuses cycle.json cycle $command cycle.json; done
refuses cycle.json cycle verify cycle.json twice.json
refuses cycle.json cycle compare builtin:swiftnet-cell-a cycle.json

# Files that are none.
mkdir folder.json folder.onnx folder.tflite
for kind in json onnx tflite; do
  : >empty.$kind
  awk 'BEGIN { srand(1); for (i = 0; i < 4000; ++i) printf "%c", 1 + int(rand() * 255) }' >random.$kind
  refuses folder.$kind directory schedule folder.$kind
  refuses empty.$kind empty schedule empty.$kind
  refuses missing.$kind 'No such file' schedule missing.$kind
  refuses random.$kind '' schedule random.$kind
done
printf '{"ops": [], "tens' >cut.json
refuses cut.json 'line 1 column' schedule cut.json
printf '[1, 2]' >list.json
refuses list.json object schedule list.json
printf '{"ops": []}' >lacks.json
refuses lacks.json tensors schedule lacks.json
head -c 300 "$data/onnx/convolution.onnx" >cut.onnx
head -c 100 "$data/tflite/add.tflite" >cut.tflite
refuses cut.onnx '' schedule cut.onnx
refuses cut.tflite '' schedule cut.tflite
cp cycle.json cycle.txt
refuses cycle.txt '.json .onnx .tflite' schedule cycle.txt
refuses builtin:nothing 'nothing' schedule builtin:nothing
succeeds schedule "$data/onnx/convolution.onnx"
succeeds schedule "$data/tflite/add.tflite"

# Requests that cannot be met.
cell=builtin:swiftnet-cell-a
refuses builtin:hrnet-w32 'exhaustive 24' schedule builtin:hrnet-w32 --scheduler exhaustive
refuses "--shape x=1,,3" NAME= schedule "$data/onnx/convolution.onnx" --shape x=1,,3
refuses "--shape x" NAME= schedule "$data/onnx/convolution.onnx" --shape x
refuses "--shape x=2" second schedule "$data/onnx/convolution.onnx" --shape x=1 --shape x=2
refuses "$cell" '--shape .onnx' schedule "$cell" --shape x=1
refuses cycle.json '--shape .onnx' schedule cycle.json --shape x=1
refuses /nonexistent/x.json 'No such file' schedule "$cell" -o /nonexistent/x.json
refuses /nonexistent/x.svg 'No such file' schedule "$cell" --svg /nonexistent/x.svg
refuses /nonexistent/x.json 'No such file' schedule "$cell" --svg half.svg --output /nonexistent/x.json
check "of several outputs all are written or none" fails ls half.svg half.svg.unfinished
check "nothing was written" fails test -e /nonexistent
mkdir taken
refuses taken '' schedule "$cell" -o taken
refuses taken '' schedule "$cell" --certificate taken
check "no unfinished file is left" fails test -e taken.unfinished
if [ -w /dev/full ]; then
  "$program" schedule "$cell" >/dev/full 2>err
  check "a full standard output: exit status 1" is $? 1
  check "a full standard output: one line" one_line err
fi

# Wrong usage, and help.
misused
misused nothing
misused schedule
misused schedule "$cell" more
misused schedule "$cell" --nothing
misused schedule "$cell" --scheduler nothing
misused schedule "$cell" --format xml
misused schedule "$cell" --budget -1
misused schedule "$cell" --budget 18446744073709551616
misused schedule "$cell" --budget many
misused schedule "$cell" --state-limit -1
misused sample "$cell" --seed -1
misused schedule "$cell" --time-limit -1
misused schedule "$cell" --time-limit never
succeeds schedule "$cell" --time-limit none --format json
check "without a limit: finished" is "$(word stopped)" finished
for command in schedule reorder inspect plan traffic sample; do
  succeeds $command --help
  check "$command ends by itself, and its help says when" sh -c "tr -s ' \\n' ' ' <out | grep -q 'time-limit [^]]*\[30'"
done
misused schedule "$cell" --firing xyz
misused schedule "$cell" --threads 0
misused verify "$cell"
misused verify "$cell" --certificate
misused sample "$cell" --count 0
misused compare
for command in '' schedule compare inspect sample verify networks; do succeeds $command --help; done

# Graphs at the edge of what is legal.
graph nothing.json '' '' '' ''
succeeds schedule nothing.json --format json
check "no operators: an empty order" grep -qF '"order":[]' out
check "no operators: peak 0" is "$(number peak)" 0
check "no operators: optimal" is "$(word status)" optimal
cp out nothing_result.json
succeeds verify nothing.json nothing_result.json
for command in inspect compare schedule; do succeeds $command nothing.json; done
graph passed.json '' '{"bytes": 8}, {"bytes": 16}, {"bytes": 32}' '0, 1, 2' '0, 2'
succeeds schedule passed.json --format json
check "no operators: inputs that are outputs stay" is "$(number peak)" 40

# A graph whose file order is not the best: 10 + 90 first, or 10 + 1.
#   big: x -> 90 -> shrink -> 1;  also: x -> 90 -> shrink -> 1;  join
graph wide.json '{"name": "big", "inputs": [0], "outputs": [1]}, {"name": "also", "inputs": [0], "outputs": [2]},
  {"name": "shrink", "inputs": [1], "outputs": [3]}, {"name": "shrink also", "inputs": [2], "outputs": [4]},
  {"name": "join", "inputs": [3, 4], "outputs": [5]}' \
  '{"bytes": 10}, {"bytes": 90}, {"bytes": 90}, {"bytes": 1}, {"bytes": 1}, {"bytes": 2}' 0 5
succeeds schedule wide.json --scheduler file --format json
check "the file's order" grep -qF '"order":[0,1,2,3,4]' out
check "the file's peak" is "$(number peak)" 190
check "below the bound: feasible" is "$(word status)" feasible
succeeds schedule wide.json --format json
check "one line" one_line out
check "the optimum" is "$(number peak)" 101
check "its bound" is "$(number lower_bound)" 101
check "its status" is "$(word status)" optimal
check "why it stopped" is "$(word stopped)" finished
check "the graph's name" is "$(word graph)" g
check "the scheduler's name" is "$(word scheduler)" automatic
check "the firing rule" is "$(word firing)" pbc
for field in '"order":[' '"seconds":' '"statistics":{'; do check "has $field" grep -qF "$field" out; done
cp out best.json
succeeds verify wide.json best.json
succeeds schedule wide.json --scheduler optimal --format json
check "an alias of a scheduler stands for its name" is "$(word scheduler)" automatic
run schedule wide.json --scheduler optimul
check "a scheduler that is none: wrong usage" status_is 2
run schedule wide.json --format json -o written.json
check "with -o, exit status 0" status_is 0
check "with -o, nothing on standard output" fails test -s out
check "with -o, no unfinished file" fails test -e written.json.unfinished
succeeds verify wide.json written.json
succeeds schedule wide.json --firing cbp --format json
check "cbp frees before it makes: peak" is "$(number peak)" 100
check "cbp: the firing rule" is "$(word firing)" cbp
cp out cbp.json
succeeds verify wide.json cbp.json

# Budgets.
succeeds schedule wide.json --budget 101 --format json
check "a budget that is met is the answer" at_most "$(number peak)" 101
run schedule wide.json --budget 100 --format json
check "a budget below the optimum: exit status 3" status_is 3
check "a budget below the optimum: infeasible" is "$(word status)" infeasible
check "a budget below the optimum: nothing on standard error" fails test -s err
check "a budget below the optimum: the bound is above it" at_most 101 "$(number lower_bound)"
cp out over.json
succeeds verify wide.json over.json
run schedule wide.json --budget 100
check "a budget below the optimum, as text: exit status 3" status_is 3
check "a budget below the optimum, as text: says so" grep -q 'not met; no order can meet it' out
run schedule wide.json --scheduler file --budget 150 --format json
check "a budget that only another order meets: exit status 3" status_is 3
check "a budget that only another order meets: feasible" is "$(word status)" feasible

# Limits: still an order, and no worse than the file's.
for graph in wide.json "$cell" builtin:randwire builtin:hrnet-w18-small-v1; do
  run schedule "$graph" --scheduler file --format json
  file_peak=$(number peak)
  for limit in '--time-limit 0' '--state-limit 1'; do
    for scheduler in automatic serenity hmcos fradet; do
      succeeds schedule "$graph" --scheduler $scheduler $limit --format json
      check "$scheduler $limit: no worse than the file's order of $graph" at_most "$(number peak)" "$file_peak"
      check "$scheduler $limit: a bound below the peak for $graph" at_most "$(number lower_bound)" "$(number peak)"
      cp out limited.json
      succeeds verify "$graph" limited.json
    done
  done
done

# Results that lie.
mutated() { # mutated REASON SED_COMMAND
  sed "$2" best.json >mutated.json
  check "$2 changes the result" fails cmp -s best.json mutated.json
  refuses mutated.json "$1" verify wide.json mutated.json
}
mutated 'order' 's/"order":\[[^]]*\]/"order":[4,3,2,1,0]/'
mutated 'order' 's/"order":\[[^]]*\]/"order":[0,2,1,3]/'
mutated 'order' 's/"order":\[[^]]*\]/"order":[0,0,1,2,3]/'
mutated 'order' 's/"order":\[[^]]*\]/"order":[0,2,1,3,99]/'
mutated 'order[0]' 's/"order":\[[^]]*\]/"order":[-1,2,1,3,4]/'
mutated 'order' 's/"order":\[[^]]*\],//'
mutated 'peak 190' 's/"order":\[[^]]*\]/"order":[0,1,2,3,4]/'
mutated 'peak 100' 's/"peak":101/"peak":100/'
mutated 'peak' 's/"peak":101/"peak":"101"/'
mutated 'lower_bound 102' 's/"lower_bound":101/"lower_bound":102/'
mutated 'optimal' 's/"lower_bound":101/"lower_bound":90/'
mutated 'firing' 's/"firing":"pbc"/"firing":"abc"/'
mutated '' 's/"order".*//'
refuses missing.json 'No such file' verify wide.json missing.json
refuses empty.json empty verify wide.json empty.json

# Certificates.
for graph in wide.json nothing.json "$cell" builtin:nasnet-imagenet builtin:randwire builtin:randwire-stack builtin:satellite \
  builtin:series_parallel:100; do
  run schedule "$graph" --certificate certificate.json
  check "with --certificate, exit status 0: $graph" status_is 0
  check "with --certificate, the result all the same: $graph" grep -q '^lower bound' out
  check "with --certificate, no unfinished file: $graph" fails test -e certificate.json.unfinished
  succeeds verify "$graph" --certificate certificate.json
  check "the certificate proves the optimum: $graph" grep -q 'it is optimal' out
  succeeds verify "$graph" certificate.json
  check "without --certificate, the bound is not checked: $graph" grep -q 'Its bound is a claim' out
done
run schedule builtin:layered --time-limit 0 --certificate certificate.json
succeeds verify builtin:layered --certificate certificate.json
check "a certificate of a bound below the peak" fails grep -q 'it is optimal' out
succeeds schedule wide.json --firing cbp --certificate cbp_certificate.json
succeeds verify wide.json cbp.json --certificate cbp_certificate.json
succeeds schedule builtin:randwire --certificate good.cbor
succeeds verify builtin:randwire --certificate good.cbor
check "a certificate in CBOR proves the optimum" grep -q 'it is optimal' out
run schedule builtin:randwire-stack --certificate small.json --certificate-limit 12000
check "where a certificate would be too large there is a smaller one, which says so" grep -q 'within --certificate-limit' err
check "and that one is within the limit" test "$(wc -c <small.json)" -le 12000
succeeds verify builtin:randwire-stack --certificate small.json
check "and that one proves less" fails grep -q 'it is optimal' out
refuses none.json 'without a proof' schedule builtin:randwire-stack --certificate none.json --certificate-limit 90
check "no file where not even the result is within the limit" fails test -e none.json
succeeds schedule builtin:nasnet-imagenet --certificate good.json
refuses good.json 'order' verify wide.json --certificate good.json
refuses good.json '' verify builtin:amoebanet-imagenet --certificate good.json
refuses best.json 'no certificate' verify wide.json --certificate best.json
refuses missing.json 'No such file' verify wide.json --certificate missing.json
refuses empty.json empty verify wide.json --certificate empty.json
succeeds schedule builtin:randwire --certificate family.json
forged() { # forged REASON SED_COMMAND [FILE GRAPH]
  sed "$2" "${3:-good.json}" >forged.json
  check "$2 changes the certificate" fails cmp -s "${3:-good.json}" forged.json
  refuses forged.json "$1" verify "${4:-builtin:nasnet-imagenet}" --certificate forged.json
}
forged 'certificate fingerprint' 's/"bound":/"bound":1/'
forged 'certificate fingerprint' 's/"level":/"level":1/'
forged 'certificate fingerprint' 's/"after":\([0-9]*\)/"before":\1/'
forged 'certificate fingerprint' 's/"steps":\[{[^}]*},/"steps":[/'
forged 'certificate fingerprint' 's/"fingerprint":"."*/"fingerprint":"x/'
forged 'certificate bound' 's/"bound":/"bound":-/'
forged 'certificate bound' 's/"bound":/"bound":99999999999999999999/'
forged 'certificate steps' 's/"steps":/"stops":/'
forged 'steps[0].v' 's/"v":/"v":4294967295/'
forged 'steps[0].level' 's/"level":/"level":0.5/'
forged 'steps[0] before after' 's/"after":\([0-9]*\)/"after":\1,"before":\1/'
forged '"v" given twice' 's/"v":/"v":1,"v":/'
forged 'flow[0]' 's/"flow":\[\[/"flow":[[],[/'
forged 'steps[0].reductions[0][0] rule' 's/"reductions":\[\[/"reductions":[["c3",1,2],[/'
forged 'certificate fingerprint' 's/"sets":\[\[0,/"sets":[[1,/' family.json builtin:randwire
forged 'family.sets[0]' 's/"sets":\[\[/"sets":[[],[/' family.json builtin:randwire
forged 'no certificate' 's/"certificate":/"other":/'
forged 'certificate object' 's/"certificate":/"certificate":1,"other":/'
forged 'JSON' 's/.$//'

# The other commands.
succeeds networks
check "networks lists" grep -q '^builtin:swiftnet-cell-a' out
succeeds inspect "$cell"
check "inspect counts" grep -q '^operators  *21$' out
succeeds inspect "$cell" --hierarchy hierarchy.dot
check "inspect draws" grep -q graph hierarchy.dot
succeeds inspect builtin:windowed:600:8:1
check "inspect names the stretch that forces the peak" grep -q '^  The [0-9]* operators [0-9]* to [0-9]* of the best order' out
succeeds inspect builtin:windowed:600:8:1 --format json
check "inspect writes the stretch" grep -q '"forced_by":{"bound":[0-9]*,"first":[0-9]*,"last":[0-9]*,"operators":\[' out
succeeds compare "$cell" wide.json
for scheduler in file kahn rpo greedy exhaustive serenity hmcos fradet automatic; do
  check "compare has two rows of $scheduler" is "$(grep -c "^$scheduler " out)" 2
done
succeeds sample "$cell" --count 7
check "sample: a line each and a head" is "$(wc -l <out | tr -d ' ')" 8
cp out samples.csv
succeeds sample "$cell" --count 7
check "sample: the same seed, the same orders" cmp -s out samples.csv
succeeds sample "$cell" --count 7 --svg sample.svg
check "sample draws" grep -q '<svg' sample.svg
check "and describes it" grep -q '<desc>Which share of 7 random orders' sample.svg
succeeds schedule "$cell" --svg memory.svg
check "schedule draws" grep -q '<svg' memory.svg
check "steps count from 1" grep -q '>1</text>' memory.svg
check "not from 0" fails grep -q '>0</text>' memory.svg

# Arenas and traffic.
run plan "$cell" --format json --output plan.json --svg arena.svg
check "plan draws" grep -q '<svg' arena.svg
check "by the 21 steps of the order" grep -q '>20</text>' arena.svg
check "not by moments, which are twice as many" fails grep -q '>40</text>' arena.svg
cp plan.json out
check "the arena is the peak" is "$(number arena) $(number lower_bound) $(word status) $(word bound_of)" "250880 250880 optimal order"
succeeds verify "$cell" plan.json
check "verify says what it checked" grep -q 'no arena is smaller' out
damaged() { # damaged WHAT SED: a plan that is changed so is refused for that reason
  sed "$2" plan.json >damaged.json
  refuses damaged.json "$1" verify "$cell" damaged.json
}
damaged 'meet in time' 's/"offset":[1-9][0-9]*/"offset":0/'
damaged 'which it needs' 's/"order":\[[0-9]*,/"order":[20,/'
damaged 'arena' 's/"arena":250880/"arena":250881/'
damaged 'above the arena' 's/"lower_bound":250880/"lower_bound":250881/'
damaged 'aligned' 's/"alignment":1/"alignment":4096/'
damaged 'twice' 's/"tensors":\[1\],"lower":[0-9]*,"upper":[0-9]*,"size":[0-9]*/"tensors":[2]/'
damaged 'size: is' 's/"size":25088/"size":25089/'
damaged 'lower: is' 's/"tensors":\[1\]/"tensors":[2]/'
damaged 'peak: is' 's/"peak":250880/"peak":250879/'
succeeds plan "$cell" --joint --format json
check "joint plans say so" is "$(number arena) $(word status) $(word bound_of)" "250880 optimal joint"
run schedule "$cell" --format json --output order.json
succeeds plan "$cell" --order order.json --planner birth --format json
check "by birth" is "$(number arena) $(number lower_bound)" "326144 250880"
run plan "$cell" --capacity 200000 --format json
check "a capacity that is not met" status_is 3
check "is infeasible" is "$(word status)" infeasible
echo '[0,1]' >short.json
refuses short.json 'the order lacks' plan "$cell" --order short.json
refuses order.json 'takes no order' plan "$cell" --joint --order order.json
run plan "$cell" --format csv --output cell.csv
succeeds plan cell.csv
check "a plan read again stays where it is" grep -q '^arena  *250,880' out
printf 'id,lower,upper,size\na,0,4,2\nb,1,7,3\nc,4,8,2\nd,7,9,1\ne,7,10,1\nf,7,11,1\ng,8,9,1\nh,8,10,1\ni,9,11,2\nj,10,11,2\n' >gap.csv
succeeds plan gap.csv --format json
check "a conflict where the load does not suffice" grep -q '"lower_bound":6.*"conflict":\[[0-9]' out
run plan gap.csv --certificate gap.json --output /dev/null
says 'no arena for these buffers is below 6 bytes: it is optimal' verify gap.csv --certificate gap.json
sed 's/"certificate":{"arena":6/"certificate":{"arena":7/' gap.json >more.json
refuses more.json 'certificate: steps' verify gap.csv --certificate more.json
refuses gap.json 'must be a list of operator indices' verify "$cell" --certificate gap.json
run plan "$cell" --joint --certificate joint.cbor --output /dev/null
says 'no arena of any order is below 250,880 bytes: it is optimal' verify "$cell" --certificate joint.cbor
refuses joint.cbor 'peak: is 5 bytes' verify gap.csv --certificate joint.cbor
printf 'id,lower,upper,size\na,0,4,x\n' >wrong.csv
refuses wrong.csv 'line 2: size' plan wrong.csv
refuses none.csv 'No such file' plan none.csv
succeeds traffic "$cell" --capacity 131072 --order order.json --format json
check "traffic to the byte" is "$(number traffic)" 891392
succeeds traffic "$cell" --capacity 262144 --model resident
succeeds traffic builtin:swiftnet-cell-b --capacity 116188 --format json
check "no order moves less" is "$(number lower_bound_of_all)" "$(number traffic)"
refuses "$cell" 'on the chip' traffic "$cell" --capacity 131072 --model resident

report
