#!/usr/bin/env python3
"""Checks that the C++ in README.md and docs/*.md compiles, and that the commands that they give run.

usage: documents.py code ROOT COMPILER [INCLUDE...]   one unit of all C++ in tables and fences, compiled (not linked)
       documents.py commands ROOT PROGRAM             each command, in a directory with the files that FILES makes

Tables and fences are read from the documents. Code that does not compile and a command that does not run are failures,
unless listed below with a reason; an entry below that no document uses is a failure, too.
"""
import json, os, re, shlex, subprocess, sys, tempfile
from pathlib import Path

# Files and sections of which nothing is C++ or a command that can run here.
SKIPPED = {
    "docs/models.md": "files and packages of others",
    "docs/rewrites.md": "files and packages of others",
    "docs/compilers.md#MLIR": "needs MLIR; tests/mlir compiles and runs it",
    "docs/compilers.md#Other compilers, by a file": "Python; tests/cli/nodes.sh runs it",
    "docs/compilers.md#Flags as LLVM has them": "needs LLVM",
    "docs/batch.md#On several machines": "needs GNU parallel, Slurm, Spark",
}
# Words in tables that are no C++.
WORDS = {
    "(24 g h (10 n r j s t u)) v": "a looped schedule as text",
    "mlir_block_graph": "needs MLIR", "reorder(block)": "needs MLIR", "<memsched/adapters/mlir.hpp>": "needs MLIR",
    "memsched-reorder": "a pass of MLIR",
    ".onnx": "an ending",
    "loops": "a word for sdf::loops, which `sdf::schedule` returns",
}
# Code that stands for a text which leaves something out.
CODE = {
    "tensor_per_edge": "bgl::tensor_per_edge(boost_graph, edge_sizes)",
    "schedule(bgl::tensor_per_vertex(g, sizes))": "schedule(bgl::tensor_per_vertex(boost_graph, sizes))",
    "graph_traits<your_ir>": "sizeof(graph_traits<problem>)",
    "sdf::schedule(g, automatic)": "sdf::schedule(graph, automatic)",
    ".time_limit": "schedule(g, {.time_limit = 2s})",
    "read_sdf3": "read_sdf3(std::string())",
    "fit(network, scheduler, ...)": "using memsched::fit",
    "with_sizes(g, f)": "with_sizes(g, [](tensor_id) { return 8; })",
    "channel::tokens": "&sdf::channel::tokens",
    "channel::size": "&sdf::channel::size",
    "form::single": "sdf::form::single",
    "form::flat": "sdf::form::flat",
    "peak": "&sdf::schedule_result::peak",
    "separate": "&sdf::schedule_result::separate",
    "fills": "&sdf::schedule_result::fills",
    "recompute(graph, options)": "recompute(g, options{})",
    "optimal": "verdict::optimal", "feasible": "verdict::feasible",
    "infeasible": "verdict::infeasible", "unknown": "verdict::unknown",
    "workspace_of(result, in, out)": "workspace_of(schedule(g), 1, 2)",
}
HOOKS = "cost pure after workspace firing overwrites updates live_out tensors alias_of scope operator_name tensor_name".split()
REQUIRED = "ops inputs outputs size".split()
# How each fence stands in a unit: before it, after it. `None`: a unit of its own.
FENCES = {
    "README.md 1": None,
    "docs/embedding.md 1": ("", ""),
    "docs/embedding.md 2": ("""template <class T>
std::vector<const T*> handles_of(const std::vector<std::unique_ptr<T>>&);""", ""),
    "docs/embedding.md 3": ("""int report(const std::string&);
void reorder(const function&, const std::vector<const instruction*>&);
int fence_3(const function& f) {""", "return 0; }"),
    "docs/dataflow.md 1": ("void dataflow() {", "}"),
    "docs/recompute.md 1": ("""void run(memsched::op_id);
void rerun(const memsched::problem& graph, const std::vector<memsched::op_id>& order) {
using namespace memsched::literals;""", "}"),
    "docs/recompute.md 3": ("void rerun_by_programs(const memsched::problem& graph, memsched::options o) {", "}"),
    "docs/recompute.md 2": ("void rerun_by_policies(const memsched::problem& graph, memsched::options o) {", "}"),
    "docs/proofs.md 1": ("void proofs(const memsched::problem& problem) {", "}"),
}
PREAMBLE = """
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>
#include <boost/graph/adjacency_list.hpp>
#include <memsched/memsched.hpp>
#include <memsched/adapters/bgl.hpp>
#include <memsched/formats/sdf3.hpp>
#include <memsched/graph/builder.hpp>
#include <memsched/rewrite/fit.hpp>
#include <memsched/sdf/schedule.hpp>
"""
CONTEXT = """
using namespace memsched;
using namespace memsched::literals;
using namespace std::chrono_literals;
using boost_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
struct context {
  const problem& g;
  std::vector<op_id> order;
  const boost_type& boost_graph;
  const int* sizes;
  boost::static_property_map<int, boost::graph_traits<boost_type>::edge_descriptor> edge_sizes;
  const sdf::graph& graph;
"""

used = set()


def known(table, key):
    if key in table:
        used.add(key)
        return True
    return False


def documents(root):
    """(document, section, line number, line, inside a fence) of each line that is not skipped."""
    for path in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        name = str(path.relative_to(root))
        section, fence = "", None
        if known(SKIPPED, name):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith("```"):
                fence = None if fence is not None else line[3:]
                if fence is not None and not known(SKIPPED, f"{name}#{section}"):
                    yield name, section, number, line, "open"
                continue
            if fence is None and line.startswith("## "):
                section = line[3:]
            if not known(SKIPPED, f"{name}#{section}"):
                yield name, section, number, line, fence


def spans(text):
    return [s.replace("\\|", "|").strip() for s in re.findall(r"`([^`]+)`", text)]


def table_spans(root):
    """(place, heading of the column, text) of what stands in backquotes in tables."""
    header = None
    for name, _, number, line, fence in documents(root):
        if fence is not None or not line.startswith("|"):
            header = None
            continue
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if header is None:
            header = cells
        for heading, cell in zip(header, cells):
            for text in spans(cell):
                yield f"{name}:{number}", heading, text


def fences(root):
    count, found = {}, {}
    key = None
    for name, _, _, line, fence in documents(root):
        if fence == "open":
            key = None
            if line == "```cpp":
                count[name] = count.get(name, 0) + 1
                key = f"{name} {count[name]}"
                found[key] = []
        elif fence is not None and key:
            found[key].append(line)
    return found


def passes(root):
    text = (root / "docs/guide.md").read_text()
    return spans(re.search(r"Passes work with any of them:.*?\n\n", text, re.S)[0])


def names_of_program(heading):
    return heading in ("name", "network", "graph")


def code(root, compiler, includes):
    headers, body = [], []

    def add(place, statement):
        body.append(f'#line 1 "{place}"\n  void cell_{len(body)}() const {{ {statement}; }}'.replace("`", ""))

    for place, heading, text in table_spans(root):
        if known(WORDS, text) or names_of_program(heading) or re.match(r"memsched |--", text):
            continue
        hook = re.match(r"(\w+)(\(g, (op|tensor)\)|\(g\))?$", text)
        if re.fullmatch(r"<memsched/.*>", text):
            headers.append(f"#include {text}")
        elif known(CODE, text):
            add(place, CODE[text] if CODE[text].startswith("using ") else f"(void)({CODE[text]})")
        elif hook and hook[1] in HOOKS:
            add(place, f"static_assert(hooks<problem>.{hook[1]} || true)")
        elif hook and hook[1] in REQUIRED:
            add(place, f"(void)&problem::{hook[1]}")
        elif text.startswith("{."):
            add(place, f"(void)schedule(g, {text})")
        elif heading == "in C++":
            if includes or "cbc" not in text:
                add(place, f"(void)schedule(g, {text})")
        elif re.fullmatch(r"[\w:]+", text) and not text.startswith("firing::"):
            add(place, f"using memsched::{text}")
        else:
            add(place, f"(void)({text})")
    for name in passes(root):
        add("docs/guide.md, passes", f"(void)schedule(g, {name}{{}} | automatic)")
    units, text = [], []
    for key, lines in fences(root).items():
        if not known(FENCES, key):
            sys.exit(f"{key}: no entry in FENCES says how this fence is compiled")
        if FENCES[key] is None:
            units.append("\n".join(lines))
            continue
        if not includes and any("memsched/ilp/" in line for line in lines):
            continue  # Eigen and Cbc are not there
        before, behind = FENCES[key]
        headers += [line for line in lines if line.startswith("#include")]
        lines = [line if not line.startswith("#include") else "" for line in lines]
        text += [before, f'#line 1 "{key}"', *lines, behind]
    if includes:
        headers.append("#include <memsched/ilp/ilp.hpp>\n#include <memsched/ilp/solvers/cbc.hpp>")
    units.append(PREAMBLE + "\n".join(sorted(set(headers))) + "\n" + "\n".join(text) + CONTEXT + "\n".join(body) + "\n};\n")
    failed = False
    for unit in units:
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as f:
            f.write(unit)
            f.flush()
            done = subprocess.run([compiler, "-std=c++20", "-w", "-fsyntax-only", "-DMEMSCHED_SEPARATE_COMPILATION",
                                   "-I", str(root / "include"), *(f"-isystem{i}" for i in includes), f.name])
            failed |= done.returncode != 0
    print(f"{len(body)} cells, {len(units)} units")
    for key in [*CODE, *WORDS, *FENCES, *SKIPPED]:
        if key not in used:
            print(f"documents.py has an entry for '{key}', which no document says")
            failed = True
    return failed


# Files that commands read and no command before them makes; paths are relative to the tree.
FILES = {
    "app.xml": lambda root: (root / "tests/fuzz/corpus/sdf3/sized.xml").read_text(),
    "net.json": lambda root: json_fence(root, "docs/compilers.md"),
    "graph.json": lambda root: json_fence(root, "docs/program.md"),
    "step.json": lambda root: json.dumps(training_step(20)),
    "vgg_unet_train.json": lambda root: json.dumps(training_step(20)),
    "before.json": lambda root: "[0, 1]",
    "after.json": lambda root: "[0, 1]",
    "graphs.jsonl": lambda root: '"builtin:swiftnet-cell-a"\n{"graph": "builtin:swiftnet-cell-b"}\n',
}
# Commands that cannot run here as they stand.
UNKNOWN = re.compile(r"\b(model\.(onnx|tflite)|NAME|SECONDS|COMMAND|MODEL|fx\.json|missing\.onnx)\b")


def training_step(layers):
    """A chain and its way back, which reads what the way there made."""
    there = [{"inputs": [i], "outputs": [i + 1]} for i in range(layers)]
    back = [{"inputs": [layers - 1 - i, layers + i], "outputs": [layers + 1 + i]} for i in range(layers)]
    return {"ops": there + back, "tensors": [{"bytes": 1 << 29}] * (2 * layers + 1), "graph_inputs": [0],
            "graph_outputs": [2 * layers]}


def json_fence(root, name):
    return re.search(r"```json\n(\{.*?)\n```", (root / name).read_text(), re.S)[1]


def commands_of(root):
    for name, section, number, line, fence in documents(root):
        place = f"{name}:{number}"
        if fence is not None and fence != "open":
            line = re.split(r"\s+#", line)[0]
            if re.match(r"(build/)?memsched ", line):
                yield place, line
        elif fence is None:
            for text in spans(line):
                if re.match(r"(build/)?memsched [a-z-]", text):
                    yield place, text


def commands(root, program):
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}")
    helps, ran, looked_at = {}, set(), 0

    def run(line, directory):
        return subprocess.run(["sh", "-c", line], cwd=directory, env=environment, capture_output=True, text=True,
                              timeout=300)

    def help_of(command, directory):
        if command not in helps:
            helps[command] = run(f"memsched {command} --help", directory)
        return helps[command]

    faults = []
    with tempfile.TemporaryDirectory() as work:
        for name, text in FILES.items():
            Path(work, name).write_text(text(root))
        known_networks = run("memsched networks", work).stdout
        for place, heading, text in table_spans(root):
            if heading == "name":
                done = run(f"memsched schedule builtin:swiftnet-cell-a --time-limit 1 --scheduler {text}", work)
                if done.returncode != 0 and not (text == "ilp" and "ilp" not in help_of("schedule", work).stdout):
                    faults.append(f"{place}: --scheduler {text}: {done.stderr}")
            elif names_of_program(heading) and f"builtin:{text.split(':')[0]}" not in known_networks:
                faults.append(f"{place}: there is no builtin:{text}")
        for place, line in commands_of(root):
            line = re.sub(r"\bbuild/memsched\b", "memsched", line)
            words = shlex.split(line)
            command = words[1]
            if command.startswith("--"):
                continue
            told = help_of(command, work)
            if told.returncode != 0:
                faults.append(f"{place}: there is no `memsched {command}`")
                continue
            if UNKNOWN.search(line) or len(words) == 2 and command != "networks":
                for word in words[2:]:  # a mention: its options exist
                    if word.startswith("--") and not re.search(rf"{re.escape(word)}\b", told.stdout):
                        faults.append(f"{place}: `memsched {command}` has no {word}")
                looked_at += 1
                continue
            if not any(not w.startswith("-") and ("." in w or ":" in w) for w in words[2:]) and command != "networks":
                looked_at += 1  # `memsched schedule --format json` and the like: no graph is named
                continue
            if line in ran:
                continue
            ran.add(line)
            if "--time-limit" in told.stdout and "--time-limit" not in line and "&&" not in line:
                line += " --time-limit 5"  # not the default of half a minute: that it runs is the test
            done = run(line, work)
            if done.returncode not in (0, 3):
                faults.append(f"{place}: {line}: exit status {done.returncode}: {done.stderr}")
    print(f"{len(ran)} commands ran, {looked_at} mentions checked")
    for fault in faults:
        print(fault)
    return bool(faults) or len(ran) < 10


def main():
    root = Path(sys.argv[2]).resolve()
    if sys.argv[1] == "code":
        return code(root, sys.argv[3], [i for i in sys.argv[4:] if i])
    return commands(root, Path(sys.argv[3]).resolve())


sys.exit(main())
