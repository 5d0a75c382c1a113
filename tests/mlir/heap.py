"""Measures the heap of functions in a file of MLIR under several pipelines, as check.py does for its own networks.

usage: heap.py PLUGIN FILE...

A file has a function `kernel`, and `main` that calls it once, as the examples of buddy-mlir have. Operations of tosa become
linalg. Prints the peak of the heap inside the kernel, in bytes, and fails where it is not the pass's prediction, where a
pipeline changes the output, or where the pass alone takes more than MLIR's liveness pass alone.
"""
import os
import re
import subprocess
import sys
import tempfile

import check

TOSA = "func.func(%s,convert-elementwise-to-linalg)" % ",".join(
    "tosa-to-" + to for to in ("linalg-named", "linalg", "tensor", "arith"))


def measured(text):
    call = re.compile(r"\n(\s*)((?:%\S+ = )?(?:func\.)?call @kernel\(.*)")
    text, count = call.subn(r"\n\1func.call @heap_begin() : () -> ()\n\1\2\n\1func.call @heap_end() : () -> ()", text)
    check.check(count == 1, "main does not call kernel once")
    return "func.func private @heap_begin()\nfunc.func private @heap_end()\n" + text


def main():
    pass_, told = check.reorder(), check.reorder("borrows=func.call")
    pipelines = {"MLIR, deallocation": check.BUFFERS, "MLIR, and its liveness": check.LIVENESS,
                 "buffers reordered": check.BUFFERS + "," + pass_,
                 "borrows=func.call": check.BUFFERS + "," + told,
                 "liveness, buffers reordered": check.LIVENESS + "," + pass_,
                 "tensors, liveness, buffers": ",".join([pass_, check.LIVENESS, pass_])}
    with tempfile.TemporaryDirectory() as directory:
        heap = os.path.join(directory, "heap.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap.c")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", heap, source], check=True)
        for path in sys.argv[2:]:
            name, text = os.path.basename(path), check.opt(TOSA, measured(open(path).read()))
            first, taken = None, {}
            for pipeline, passes in pipelines.items():
                buffers = check.opt(passes, text)
                output, heaps = check.execute(buffers, heap)
                output = re.sub(r"^[\d.e+-]+\n", "", output, flags=re.M)  # times of day
                predicted = check.peaks(buffers)["kernel"][0]
                check.check(heaps == [predicted], "%s, %s: %s, predicted %d" % (name, pipeline, heaps, predicted))
                check.check(first in (None, output), "%s, %s: another output" % (name, pipeline))
                first, taken[pipeline] = output, predicted
                print("%-28s %-28s %12d" % (name, pipeline, predicted), flush=True)
            check.check(taken["buffers reordered"] <= taken["MLIR, and its liveness"], "%s: above MLIR's own" % name)


if __name__ == "__main__":
    main()
    sys.exit(1 if check.failures else 0)
