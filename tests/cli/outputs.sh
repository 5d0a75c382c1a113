#!/bin/sh
# Checks what the program writes where: names that promise another format, standard output as a file, all outputs or none.
# usage: outputs.sh PROGRAM DATA_DIR; DATA_DIR/tflite and DATA_DIR/onnx hold models
set -u
[ $# -eq 2 ] || { echo "usage: outputs.sh PROGRAM DATA_DIR" >&2; exit 2; }
data=$(cd "$2" && pwd) || exit 2
. "$(dirname "$0")/checks.sh"
cell=builtin:swiftnet-cell-a
cp "$data/tflite/branches.tflite" m.tflite
cp "$data/onnx/convolution.onnx" m.onnx
printf '%s\n' '<sdf3 type="sdf"><applicationGraph name="g"><sdf name="g" type="G">' \
  '<actor name="a" type="A"><port type="out" name="p" rate="1"/></actor>' \
  '<actor name="b" type="B"><port type="in" name="q" rate="1"/></actor>' \
  '<channel name="c" srcActor="a" srcPort="p" dstActor="b" dstPort="q"/></sdf></applicationGraph></sdf3>' >g.xml

# A name that ends as another format does is refused before any work: before the graph, which there is not, is looked for.
misnamed() { # misnamed NAME REASON ARGUMENTS...
  name=$1 reason=$2
  shift 2
  refuses "$name" "$reason" "$@"
  check "$name is not written" fails test -e "$name"
}
misnamed o.onnx '.onnx TensorFlow' reorder m.tflite -o o.onnx
misnamed o.tflite '.tflite ONNX' reorder m.onnx -o o.tflite
misnamed o.json '.json TensorFlow' reorder m.tflite -o o.json
misnamed out.pdf '.pdf HTML .html' report none.json -o out.pdf
misnamed out.md.PDF '.pdf HTML' report none.json -o out.md.PDF
misnamed x.png '.png --svg SVG' schedule none.json --svg x.png
misnamed x.svg '.svg -o text' schedule none.json -o x.svg
misnamed x.csv '.csv JSON' schedule none.json --format json -o x.csv
misnamed x.json '.json text' schedule none.json --format text -o x.json
misnamed x.xml '.xml text' schedule none.json -o x.xml
misnamed x.svg '.svg --certificate JSON' schedule none.json --certificate x.svg
misnamed x.cbor '.cbor --certificate JSON' schedule g.xml --certificate x.cbor
misnamed x.json '.json --emit-c C' schedule g.xml --emit-c x.json
misnamed x.svg '.svg text' plan none.json -o x.svg
misnamed x.json '.json CSV' plan none.json --format csv -o x.json
misnamed x.html '.html SVG' plan none.json --svg x.html
misnamed x.json '.json CSV' sample none.json -o x.json
misnamed x.pdf '.pdf SVG' sample none.json --svg x.pdf
misnamed x.svg '.svg Graphviz' inspect none.json --hierarchy x.svg
misnamed x.csv '.csv JSON' batch none -o x.csv
misnamed x.svg '.svg JSON' rewrite none.tflite -o x.svg
misnamed x.svg '.svg CSV' rewrite none.tflite --front x.svg
misnamed x.csv '.csv SVG' rewrite none.tflite --front-svg x.csv
for name in plain result.txt result.out result.2024; do exits 0 schedule "$cell" -o $name; done

# Where --format does not say, the name does.
exits 0 schedule "$cell" -o r.json
check "a name in .json selects JSON" grep -q '^{"version":1' r.json
exits 0 schedule "$cell" -o r.JSON
check "in capitals, too" cmp -s -n 200 r.json r.JSON
exits 0 plan "$cell" -o p.json
check "of a plan, too" grep -q '"offset"' p.json
exits 0 plan "$cell" -o p.csv
check "and CSV" grep -q '^id,lower' p.csv
succeeds verify "$cell" r.json

# The findings of verify as JSON: a line for each file.
exits 0 schedule "$cell" --certificate c.json
exits 0 verify "$cell" r.json --certificate c.json --format json
check "verify: a line for each file" is "$(wc -l <out)" 2
check "verify: a result" grep -qx '{"version":1,"result":"r.json","valid":true,"kind":"order","graph":"[^"]*","peak":250880,"optimal":false}' out
check "verify: a proof" grep -qx '{"version":1,"result":"c.json",.*"peak":250880,"proven_bound":250880,"optimal":true}' out
exits 0 verify "$cell" p.json --format json
check "verify: a plan" grep -q '"kind":"plan",.*"arena":250880' out
exits 0 schedule g.xml -o s.json
exits 0 verify g.xml s.json --format json
check "verify: dataflow" grep -q '"kind":"schedule","graph":"g","peak":1,' out
sed 's/"peak":/"peak":1/' r.json >damaged.json
exits 1 verify "$cell" damaged.json --format json
check "verify: what is wrong" grep -qx '{"version":1,"result":"damaged.json","valid":false,"fault":".*peak: says .*"}' out
check "verify: said on standard error, too" grep -q 'peak: says' err
sed 's/"firing":"pbc"/"firing":"abc"/' p.json >damaged.json
check "there is a firing rule" fails cmp -s p.json damaged.json
refuses damaged.json 'firing: must be' verify "$cell" damaged.json

# - is standard output.
succeeds schedule "$cell" -o -
check "schedule -o -" grep -q '^peak  *250,880' out
succeeds plan "$cell" --format json -o -
check "plan -o -" is "$(number arena)" 250880
succeeds sample "$cell" --count 3 -o -
check "sample -o -" is "$(wc -l <out)" 4
exits 0 report "$cell" -o - --time-limit 1
check "report -o -: the page alone" is "$(head -1 out)$(tail -1 out)" "<!doctype html></html>"
check "report -o -: what it did on standard error" grep -q 'peak 250,880' err
exits 0 reorder m.tflite -o m2.tflite
exits 0 reorder m.tflite -o -
check "reorder -o -: the model alone" cmp out m2.tflite
check "reorder -o -: what it did on standard error" grep -q '^peak ' err
exits 0 schedule "$cell" --svg - -o text
check "a drawing on standard output" grep -q '^<svg' out
exits 0 schedule "$cell" --dot - -o text
check "a graph on standard output" grep -q '^digraph' out
check "one operator is at the peak" is "$(grep -c 'shape=ellipse' out; grep -v ellipse out | grep -c fillcolor)" "$(grep -c 'shape=ellipse' out)
1"
refuses "--svg -" 'standard output taken' schedule "$cell" --svg -
refuses "--certificate -" 'taken --svg' schedule "$cell" --certificate - --svg - -o text
echo "\"$cell\"" >in.jsonl
exits 0 batch in.jsonl -o -
check "batch -o -" grep -q '"peak":250880' out
refuses --resume 'needs --output' batch in.jsonl -o - --resume
check "no file of that name" fails test -e ./-

# One name for two files, and the name of what is read.
refuses ./same 'twice --svg' schedule "$cell" -o same --svg ./same
exits 0 schedule "$cell" --format json -o order.json
cp m.tflite kept.tflite
for command in "reorder m.tflite -o m.tflite" "schedule m.tflite -o ./m.tflite" "report m.tflite -o m.tflite"; do
  run $command
  check "$command: exit status 1" status_is 1
  check "$command: the model stays" cmp m.tflite kept.tflite
done
refuses order.json 'input itself' plan "$cell" --order order.json --format json -o order.json
refuses m.tflite 'input itself' rewrite m.tflite -o m.tflite
refuses in.jsonl 'input itself' batch in.jsonl -o in.jsonl
check "the lines stay" grep -q swiftnet in.jsonl

# A command that fails leaves what was there, and nothing else.
echo precious >there.json
echo precious >there.svg
mkdir folder
ls >before
keeps() { # keeps ARGUMENTS...
  run "$@"
  check "exit status 1, not $status: $*" status_is 1
  check "files stay: $*" is "$(cat there.json there.svg)" "precious
precious"
  ls >after
  check "none is left behind: $* ($(comm -13 before after))" cmp -s before after
}
rm -f after && touch after out err && ls >before
keeps schedule none.json -o there.json --svg there.svg
keeps schedule builtin:hrnet-w32 --scheduler exhaustive -o there.json --svg new.svg
keeps schedule "$cell" --svg there.svg -o folder
keeps schedule "$cell" --svg new.svg --certificate /nonexistent/c.json -o there.json
keeps plan "$cell" -o there.json --svg folder
keeps inspect "$cell" --hierarchy folder
if [ -w /dev/full ]; then
  keeps schedule "$cell" --svg new.svg -o /dev/full
  for rest in "schedule $cell --svg there.svg" "sample $cell --count 3 --svg new.svg" "plan $cell --certificate there.json" \
    "inspect $cell --hierarchy new.dot" "reorder m.tflite -o new.tflite" "report $cell --time-limit 1 -o new.html"; do
    "$program" $rest >/dev/full 2>err
    check "a full standard output: exit status 1: $rest" is $? 1
    check "a full standard output: one line: $rest" one_line err
    ls >after
    check "a full standard output: none is left behind: $rest ($(comm -13 before after))" cmp -s before after
  done
  check "a full standard output: files stay" is "$(cat there.json there.svg)" "precious
precious"
fi

limited() { (ulimit -f 1 && "$program" "$@" 2>limited_err); }
check "a file that is too large for the system" fails limited schedule builtin:nasnet-cifar -o there.json
check "one line: $(cat limited_err)" one_line limited_err
check "leaves what was there" is "$(cat there.json)" precious
check "and nothing else" fails test -e there.json.unfinished

# A file that is replaced keeps its permissions; behind a link, the file that it names is replaced.
chmod 640 there.json
ln -s there.json link.json
exits 0 schedule "$cell" -o link.json
check "a link stays one" test -h link.json
check "the file behind it is written" grep -q '"version":1' there.json
ln -s made_later.json dangling.json
exits 0 schedule "$cell" -o dangling.json
check "nor is a link replaced that leads to no file yet" test -h dangling.json
check "the file is made" grep -q '"version":1' made_later.json
ln -s both.json other.json
refuses other.json 'twice' schedule "$cell" --format json --certificate other.json -o both.json
check "with its permissions" is "$(ls -l there.json | cut -c1-10)" "-rw-r-----"

# A budget that is not met: the model is written, and that it does not fit is said.
exits 3 reorder m.tflite -o over.tflite --budget 100K
check "the model is written" test -s over.tflite
check "and said to be too large" grep -q 'note: over.tflite: was written, but needs .* the budget of 102,400' err
exits 3 report "$cell" -o over.html --budget 200K --time-limit 1
check "a page says that the budget is not met" grep -q 'budget 204,800 not met' out

# Synchronous dataflow where no command takes it.
for command in "plan g.xml" "sample g.xml" "traffic g.xml --capacity 10"; do
  refuses g.xml 'synchronous dataflow schedule report compare inspect verify' $command
done
for command in plan sample traffic; do
  "$program" $command --help >out
  check "the help of $command does not promise it" fails grep -q 'SDF3' out
done
for command in schedule compare inspect verify; do
  "$program" $command --help >out
  check "the help of $command does" grep -q 'SDF3' out
done

# Results through pipes.
"$program" schedule "$cell" --format json 2>err | "$program" verify "$cell" - >out 2>err
check "a result on standard input: $(cat err)" grep -q 'a valid order' out
"$program" schedule "$cell" --format json 2>err | "$program" verify "$cell" /dev/stdin >out 2>err
check "by its other name: $(cat err)" grep -q 'a valid order' out
"$program" plan "$cell" --format json 2>err | "$program" verify "$cell" - >out 2>err
check "a plan on standard input: $(cat err)" grep -q 'a valid plan' out
mkfifo pipe
timeout 20 "$program" schedule "$cell" --certificate pipe >/dev/null 2>err &
timeout 20 "$program" verify "$cell" --certificate pipe >out 2>err
check "a certificate from a pipe: $(cat err)" grep -q 'it is optimal' out
wait
timeout 20 cat m.tflite >pipe &
timeout 20 "$program" report pipe --input-format tflite -o piped.html --time-limit 1 >out 2>err
check "a model from a pipe, read more than once: $(cat err)" grep -q 'lower bound' out
wait

# A key of a result that is misspelt is not taken for one that is left out.
misspelt() { # misspelt FILE SED REASON
  sed "$2" "$1" >misspelt.json
  check "$2 changes $1" fails cmp -s "$1" misspelt.json
  refuses misspelt.json "$3" verify "$cell" misspelt.json
}
misspelt r.json 's/"firing"/"firng"/' 'unknown firng firing'
misspelt r.json 's/"inplace"/"in_place"/' 'unknown in_place inplace'
misspelt r.json 's/"status"/"Status"/' 'unknown Status status'
misspelt r.json 's/"firing"/"peak":1,"firing"/' 'peak given twice'
misspelt p.json 's/"alignment"/"aligment"/' 'unknown aligment alignment'
misspelt p.json 's/"lower":/"lowr":/' 'buffers[0] unknown lowr lower'
sed 's/"version"/"note":"mine","x-orders":1,"version"/' r.json >noted.json
succeeds verify "$cell" noted.json

report
