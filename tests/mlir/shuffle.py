"""Runs random programs (programs.py) before and after their operations are put into orders that the adapter's graph allows.

usage: shuffle.py PLUGIN [--programs N] [--orders N] [--first SEED] [--networks DIRECTORY]

The plugin is memsched-shuffle. Every order must verify and print what the program printed; the last of the orders reverses
preferences, the others are random. A program counts only if its output at -O0 and -O1 is the same before anything moves.
Fails as well where a feature that programs.FEATURES names never occurred, unless few programs were asked for.
With --networks the same holds of networks in that directory, on tensors and on deallocated buffers: squeezenet1_0, and from
1,000 programs on inception_v3, which takes minutes.
MEMSCHED_MLIR_PROGRAMS and MEMSCHED_MLIR_ORDERS set the defaults of the options.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile

import make
import programs

BUFFERS = "one-shot-bufferize{bufferize-function-boundaries=true},buffer-deallocation-pipeline"
LIBRARIES = "/usr/lib/llvm-22/lib/"
LOWER = ("one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map "
         "allow-return-allocs-from-loops=true},"
         "async-to-async-runtime,async-runtime-ref-counting,async-runtime-ref-counting-opt,convert-async-to-llvm,"
         "convert-linalg-to-loops,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-math-to-llvm,"
         "finalize-memref-to-llvm{use-generic-functions=true},convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,"
         "reconcile-unrealized-casts")
BATCH = 25


def lower(plugin, shuffle, text):
    """Lowered to LLVM's dialect, or None, with a message, where mlir-opt refuses."""
    passes = ",".join(filter(None, [shuffle, LOWER]))
    r = subprocess.run(["mlir-opt-22", "--load-pass-plugin=" + plugin, "--pass-pipeline=builtin.module(%s)" % passes],
                       input=text, capture_output=True, text=True)
    return (r.stdout, "") if r.returncode == 0 else (None, r.stderr[-1500:])


def execute(level, heap, text):
    """The buffers that main prints, as text, or how the program ended."""
    r = subprocess.run(["mlir-runner-22", "-e", "main", "--entry-point-result=void", level, "--shared-libs=" + heap,
                        "--shared-libs=" + ",".join(LIBRARIES + "libmlir_%s.so" % name for name in
                                                    ("runner_utils", "c_runner_utils", "async_runtime"))],
                       input=text, capture_output=True, text=True)
    return re.findall(r"data =\s*\n(\[[^\n]*)", r.stdout) if r.returncode == 0 else "ended with status %d" % r.returncode


def outputs(plugin, heap, batch, shuffle, level, aliased):
    """Returns what each program of a batch prints; each runs alone where the batch as a whole fails."""
    lowered, error = lower(plugin, shuffle, programs.module(batch, aliased))
    printed = execute(level, heap, lowered) if lowered else error
    if len(printed) == 3 * len(batch) and not isinstance(printed, str):
        return [tuple(printed[3 * i:3 * i + 3]) for i in range(len(batch))]
    if len(batch) == 1:
        return [printed]
    return [outputs(plugin, heap, [one], shuffle, level, aliased)[0] for one in batch]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("plugin")
    parser.add_argument("--programs", type=int, default=int(os.environ.get("MEMSCHED_MLIR_PROGRAMS", 100)))
    parser.add_argument("--orders", type=int, default=int(os.environ.get("MEMSCHED_MLIR_ORDERS", 5)))
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--networks")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        heap = os.path.join(directory, "heap.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap.c")
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", heap, source], check=True)
        plugin = os.path.abspath(asked.plugin)
        wrong = check(asked, plugin, heap)
        for name in ["squeezenet1_0"] + ["inception_v3"] * (asked.programs >= 1000) if asked.networks else []:
            wrong |= check_network(asked, plugin, heap, name)
        return wrong


def shuffles_of(asked):
    return ["memsched-shuffle{seed=%d}" % (i + 1) for i in range(asked.orders - 1)] + ["memsched-shuffle{reverse=true}"]


def check_network(asked, plugin, heap, name):
    text, different = make.public(asked.networks, name), []
    level_of_code = "-O1" if name == "inception_v3" else "-O0"
    given = execute(level_of_code, heap, lower(plugin, "", text)[0])
    for level in "", BUFFERS + ",":
        for shuffle in shuffles_of(asked):
            lowered, error = lower(plugin, level + shuffle, text)
            if not lowered or execute(level_of_code, heap, lowered) != given:
                different.append((level + shuffle, error))
    print("%s in %d orders of tensors and %d of buffers: %d print something else" % (
        name, asked.orders, asked.orders, len(different)))
    for shuffle, error in different:
        print("FAILED: %s under %s %s" % (name, shuffle, error), file=sys.stderr)
    return bool(different) or len(given) != 1


def check(asked, plugin, heap):
    shuffles = shuffles_of(asked)
    counts, undefined, wrong = collections.Counter(), [], []
    for first in range(asked.first, asked.first + asked.programs, BATCH):
        seeds = range(first, min(first + BATCH, asked.first + asked.programs))
        batch = [programs.program(seed, counts) for seed in seeds]
        aliased = {"p%d" % seed for seed in seeds if seed % 4 == 0}
        counts["arguments_alias"] += len(aliased)
        given = outputs(plugin, heap, batch, "", "-O0", aliased)
        again = outputs(plugin, heap, batch, "", "-O1", aliased)
        undefined += [(name, a) for (name, _), a, b in zip(batch, given, again) if a != b or isinstance(a, str)]
        skip = {name for name, _ in undefined}
        if skip:  # programs share globals
            batch = [one for one in batch if one[0] not in skip]
            given = outputs(plugin, heap, batch, "", "-O0", aliased)
        for shuffle in shuffles:
            got = outputs(plugin, heap, batch, shuffle, "-O0", aliased)
            wrong += [(name, shuffle, output, found) for (name, _), output, found in zip(batch, given, got) if output != found]
    ran = asked.programs - len(undefined)
    print("\n%d random programs in %d orders each that their graphs allow: %d print something else" % (
        ran, asked.orders, len({name for name, *_ in wrong})))
    print("features: " + ", ".join("%s %d" % (name.replace("_", " "), counts[name]) for name in programs.FEATURES))
    for name, output in undefined:
        print("left out, not defined: %s: %s" % (name, output), file=sys.stderr)
    for name, shuffle, output, found in wrong[:20]:
        print("FAILED: %s under %s (--first %s --programs 1)\n  before: %s\n  after:  %s" % (
            name, shuffle, name[1:], output, found), file=sys.stderr)
    missing = [name for name in programs.FEATURES if asked.programs >= 100 and not counts[name]]
    if missing:
        print("FAILED: never occurred: " + ", ".join(missing), file=sys.stderr)
    if len(undefined) * 50 > asked.programs:
        print("FAILED: more than 2% of the programs are not defined", file=sys.stderr)
    return bool(wrong or missing or len(undefined) * 50 > asked.programs)


if __name__ == "__main__":
    sys.exit(main())
