"""Checks the pass memsched-reorder on graphs that make.py makes, and on others where they are.

usage: check.py PLUGIN PROGRAM [DIRECTORY with known.json and the files that it names]

* Known values: peaks before and after, to the byte; the program memsched finds the same from the graph that the pass writes,
  and verifies its own certificate of the bound.
* Execution by mlir-runner-22 before and after, with buffers poisoned: the same output, and a heap whose peak is the pass's
  prediction, to the byte.
* Random graphs, without calls and with: where the order of buffers is chosen last, no peak is above that of MLIR's own
  pipeline with its liveness pass; where they are handed to functions without a body, with borrows=func.call.
* The pass a second time changes nothing.
* 1,000 to 100,000 operations: the time of the pass, printed.

With MEMSCHED_MLIR_PROGRAMS from 1,000 on also what takes minutes: inception_v3, and the pass on 100,000 operations on buffers.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import make

PLUGIN, PROGRAM = map(os.path.abspath, sys.argv[1:3])
KNOWN = sys.argv[3] if len(sys.argv) > 3 else None
LIBRARIES = "/usr/lib/llvm-22/lib/"
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=true}"
BUFFERS = BUFFERIZE + ",buffer-deallocation-pipeline"
LIVENESS = BUFFERS + ",func.func(optimize-allocation-liveness)"
LOWER = ("convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-vector-to-llvm,"
         "convert-math-to-llvm,"
         "finalize-memref-to-llvm{use-generic-functions=true},convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
         "reconcile-unrealized-casts")
THOROUGH = int(os.environ.get("MEMSCHED_MLIR_PROGRAMS", 100)) >= 1000  # what takes minutes as well
failures = 0


def check(holds, text):
    global failures
    if not holds:
        failures += 1
        print("FAILED: " + text, file=sys.stderr)
    return holds


def run(command, text=None):
    r = subprocess.run(command, input=text, capture_output=True, text=True)
    if r.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), r.stderr[-2000:]))
    return r


def opt(pipeline, text, *flags):
    """Returns the output of mlir-opt for a text, which mlir-opt verifies itself."""
    command = ["mlir-opt-22", "--allow-unregistered-dialect", "--load-pass-plugin=" + PLUGIN, *flags,
               "--pass-pipeline=builtin.module(%s)" % pipeline]
    return run(command, text).stdout


def reorder(options=""):
    return "memsched-reorder{%s}" % options


def peaks(text, options=""):
    """{function: (given, found)}"""
    text = opt(reorder("annotate=true dry-run=true " + options), text)
    pattern = r"func\.func (?:private )?@([\w.$-]+)\(.*memsched\.peak = (\d+) : i64, memsched\.peak_before = (\d+)"
    found = re.findall(pattern, text)
    return {name: (int(before), int(after)) for name, after, before in found if not name.startswith("dealloc_helper")}


def execute(text, heap, level="-O0"):
    """Returns what main prints, and the peak of the heap in each function that it calls. Most take longer to compile than to
    run."""
    out = run(["mlir-runner-22", "-e", "main", "--entry-point-result=void", level, "--shared-libs=" + heap,
               "--shared-libs=%slibmlir_runner_utils.so,%slibmlir_c_runner_utils.so" % (LIBRARIES, LIBRARIES)],
              opt(LOWER, text)).stdout
    out = re.sub(r"base@ = 0x[0-9a-f]+", "", out)
    return re.sub(r"heap \d+\n", "", out), [int(n) for n in re.findall(r"heap (\d+)", out)]


def check_program(directory, name, text, options, given, best):
    """The program agrees on the graph that the pass writes, and verifies its proof."""
    opt(reorder("dry-run=true dump=%s/%s_ %s" % (directory, name, options)), text)
    for file in sorted(os.listdir(directory)):
        if not file.startswith(name + "_") or file.endswith("_main.json"):
            continue
        graph, proof = os.path.join(directory, file), os.path.join(directory, "proof.json")
        r = json.loads(run([PROGRAM, "schedule", graph, "--format", "json", "--certificate", proof]).stdout)
        got = (r["given_peak"], r["peak"], r["status"])
        check(got == (given, best, "optimal"), "%s: the program has %s %s %s" % (name, *got))
        run([PROGRAM, "verify", graph, "--certificate", proof])


def check_known(name, stage, text, options, given, best):
    found = peaks(text, options)
    got = [p for f, p in found.items() if f != "main" or len(found) == 1]  # ours have a main beside
    got = max(got) if got else ("nothing", "nothing")
    if check(got == (given, best), "%s, %s: %s -> %s instead of %d -> %d" % (name, stage, *got, given, best)):
        print("%-28s %-36s %12d -> %12d" % (name, stage, given, best))
    once = opt(reorder(options), text)
    check(opt(reorder(options), once) == once, "%s, %s: the pass moves something the second time" % (name, stage))


def check_execution(name, text, heap, options):
    """Prints and checks what each pipeline takes; the text has main."""
    first, rows = None, []
    pipelines = {"MLIR, deallocation": BUFFERS, "MLIR, and its liveness": LIVENESS,
                 "tensors reordered": reorder(options) + "," + BUFFERS,
                 "buffers reordered": BUFFERS + "," + reorder(),
                 "liveness, buffers reordered": LIVENESS + "," + reorder(),
                 "tensors, liveness, buffers": ",".join([reorder(options), LIVENESS, reorder()])}
    for pipeline, passes in pipelines.items():
        lowered = opt(passes, text)
        predicted = [p[0] for f, p in peaks(lowered).items() if f != "main"]
        output, heaps = execute(lowered, heap, "-O1" if name == "inception_v3" else "-O0")
        check(first in (None, output), "%s, %s: another output" % (name, pipeline))
        check(heaps == predicted, "%s, %s: the heap takes %s, predicted were %s" % (name, pipeline, heaps, predicted))
        check("nan" not in output or name == "random", "%s: prints no numbers" % name)
        first = output
        rows.append((pipeline, heaps))
    return rows


def main():
    with tempfile.TemporaryDirectory() as directory:
        heap = os.path.join(directory, "heap.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap.c")
        run(["cc", "-O1", "-shared", "-fPIC", "-o", heap, source])
        fold = "fold-constants=true"

        print("\nknown values: peak of the given order, and proven optimum, bytes")
        function, body, given, best = make.branches([64, 256, 128, 32])
        branches = make.module([function], [body])
        check_known("branches", "tensors", branches, "", given, best)
        check_program(directory, "branches", branches, "", given, best)
        function, body = make.fire_network()
        fire = make.module([function], [body])
        check_known("fire network", "tensors", fire, fold, 32768, 32768)
        check_program(directory, "fire", fire, fold, 32768, 32768)
        check_known("fire network", "buffers", opt(BUFFERS, fire), "", *FIRE_BUFFERS)
        check_known("fire network", "buffers, MLIR's liveness", opt(LIVENESS, fire), "", *FIRE_LIVENESS)
        function, body = make.mobilenet_v2()
        mobilenet = make.module([function], [body])
        check_known("mobilenet_v2", "tensors", mobilenet, fold, 222720, 222720)
        check_program(directory, "mobilenet", mobilenet, fold, 222720, 222720)
        check_known("mobilenet_v2", "buffers", opt(BUFFERS, mobilenet), "", 7430004, MOBILENET)
        function, body = make.attention()
        attention = make.module([function], [body])
        check_known("attention", "tensors", attention, "", 180224, 40960)
        networks = {"branches": branches, "fire network": fire, "mobilenet_v2": mobilenet, "attention": attention}
        if KNOWN:
            check_reference()
            networks["squeezenet1_0"] = make.public(KNOWN, "squeezenet1_0")
            if THOROUGH:
                networks["inception_v3"] = make.public(KNOWN, "inception_v3")

        print("\nexecution: peak of the heap as measured, bytes; outputs are the same and predictions exact")
        for name, text in networks.items():
            for pipeline, heaps in check_execution(name, text, heap, fold):
                print("%-28s %-28s %12d" % (name, pipeline, heaps[0]))

        print("\na function with a call")
        function, body = make.one_call()
        rows = check_execution("one call", make.module([function], [body]), heap, "")
        for pipeline, heaps in rows:
            print("%-28s %-28s %12d" % ("one call", pipeline, heaps[0]))
        check([heaps[0] for _, heaps in rows] == ONE_CALL, "one call: not the known values %s" % ONE_CALL)

        count = 30
        print("\n%d random functions: mean peak of the heap relative to MLIR with its liveness pass" % count)
        functions = [make.random_function(seed) for seed in range(count)]
        text = make.module([f for f, _ in functions], [b for _, b in functions])
        rows = dict(check_execution("random", text, heap, fold))
        theirs = rows["MLIR, and its liveness"]
        for pipeline, heaps in rows.items():
            ratios = [a / b for a, b in zip(heaps, theirs)]
            print("%-28s mean %.3f, worst %.3f" % (pipeline, sum(ratios) / count, max(ratios)))
            if pipeline in ("buffers reordered", "liveness, buffers reordered"):
                check(max(ratios) <= 1, "random, %s: a peak above MLIR's own" % pipeline)

        check_calls("with calls", [make.random_function(seed, calls=True) for seed in range(100, 130)], heap,
                    {"MLIR, deallocation": BUFFERS, "buffers reordered": BUFFERS + "," + reorder(),
                     "liveness, buffers reordered": LIVENESS + "," + reorder(),
                     "tensors, buffers": ",".join([reorder(), BUFFERS, reorder()]),
                     "tensors, liveness, buffers": ",".join([reorder(), LIVENESS, reorder()])},
                    ["buffers reordered", "liveness, buffers reordered"])
        told = reorder("borrows=func.call")
        check_calls("that hand buffers to functions without a body",
                    [make.random_function(seed, prints=True) for seed in range(200, 230)], heap,
                    {"buffers reordered": BUFFERS + "," + reorder(),
                     "liveness, buffers reordered": LIVENESS + "," + reorder(),
                     "borrows=func.call": BUFFERS + "," + told, "liveness, borrows=func.call": LIVENESS + "," + told},
                    ["liveness, buffers reordered", "borrows=func.call", "liveness, borrows=func.call"])

        check_many()
        for operations in 1000, 10000, 100000:
            check_time(operations)


def check_many():
    """The buffers to be timed are those that MLIR makes of the tensors to be timed."""
    function, body = make.many_operations(1000)
    found, expected = peaks(make.many_buffers(1000))["many"], peaks(opt(BUFFERS, make.module([function], [body])))["many"]
    check(found == expected, "many_buffers: %s instead of %s" % (found, expected))


def check_time(operations):
    function, body = make.many_operations(operations)
    many = make.module([function], [body])
    runs = 3 if operations < 100000 else 1
    print("\ntime of the pass on %d operations, ms (best of %d)" % (len(body.splitlines()) - 3, runs))
    stages = {"tensors": many, "buffers": make.many_buffers(operations)}
    for stage, text in stages.items():
        for what, options in ("adapter, given order", "scheduler=file"), ("whole pass", ""):
            if (stage, options) == ("buffers", "") and operations == 100000:  # takes a minute and more without a limit
                what, options = "whole pass, 1,000 states", "state-limit=1000"
            best = min(pass_seconds(text, options) for _ in range(runs))
            print("%-28s %-28s %12.1f" % (stage, what, 1000 * best))


def check_calls(kind, functions, heap, pipelines, never_above):
    """Functions with calls: in some pipelines the heap is never above that of MLIR's liveness pass alone."""
    print("\n%d random functions %s: the same" % (len(functions), kind))
    text = make.module([f for f, _ in functions], [make.callees()] + [b for _, b in functions])
    first, theirs = execute(opt(LIVENESS, text), heap)
    for pipeline, passes in pipelines.items():
        output, heaps = execute(opt(passes, text), heap)
        check(output == first, "random %s, %s: another output" % (kind, pipeline))
        ratios = [a / b for a, b in zip(heaps, theirs)]
        print("%-28s mean %.3f, worst %.3f" % (pipeline, sum(ratios) / len(ratios), max(ratios)))
        if pipeline in never_above:
            check(max(ratios) <= 1, "random %s, %s: a peak above MLIR's own" % (kind, pipeline))


def pass_seconds(text, options):
    """Returns the seconds of the pass by mlir-opt's own clock, without mlir-opt's verification after it."""
    r = run(["mlir-opt-22", "--load-pass-plugin=" + PLUGIN, "--mlir-timing", "--verify-each=false", "--mlir-disable-threading",
             "--pass-pipeline=builtin.module(%s)" % reorder(options)], text)
    return float(re.search(r"([\d.]+) \([^)]*\)\s+.*reorder_pass", r.stderr)[1])


def check_reference():
    """Graphs of other projects with known values, as known.json describes them."""
    stages = {"tensors": None, "without pure=func": None, "buffers": BUFFERIZE, "buffers_after_dealloc": BUFFERS,
              "buffers_after_dealloc_and_liveness": LIVENESS}
    known = json.load(open(os.path.join(KNOWN, "known.json")))
    for name, row in known.items():
        for stage, passes in stages.items():
            if name == "_" or stage not in row:
                continue
            options = row["options"].replace("func,", "") if stage.startswith("without") else row["options"]
            text = open(os.path.join(KNOWN, name)).read()
            text = opt(passes, text) if passes else text
            check_known(name, stage, text, options, row[stage]["given"], row[stage]["optimal"])


# The classifier's transposed weights, features and logits: while it runs, no order has less.
MOBILENET = 4 * (1280 * 1000 + 1280 + 1000)
ONE_CALL = [4096, 3072, 4096, 2048, 2048, 2048]  # in the order of the pipelines; each buffer has 1,024 bytes
FIRE_BUFFERS, FIRE_LIVENESS = (256048, 32768), (32768, 32768)  # as the heap measures them, below

if __name__ == "__main__":
    main()
    sys.exit(1 if failures else 0)
