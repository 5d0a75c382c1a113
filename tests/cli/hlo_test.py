#!/usr/bin/env python3
"""What examples/exporters/hlo.py makes of HLO texts written by hand after XLA's printer, and what it refuses.

usage: hlo_test.py PROGRAM SOURCES
"""
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

program, sources = sys.argv[1], Path(sys.argv[2])
exporter = sources / "examples/exporters/hlo.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(exporter.parent))
import hlo

FUSED = "%body (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n  ROOT %r = f32[8]{0} tanh(f32[8]{0} %p)\n}\n\n"
UPDATE = ("%update (p: f32[8], q: f32[1], i: s32[]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n  %q = f32[1]{0} parameter(1)\n"
          "  %i = s32[] parameter(2)\n  %d = f32[8]{0} dynamic-update-slice(%p, %q, %i)\n  ROOT %b = f32[8]{0} bitcast(%d)\n}\n\n")
failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED: " + what)


def module(*lines, header="HloModule m", before=FUSED):
    return "%s\n\n%sENTRY %%main (x: f32[8]) -> f32[8] {\n%s\n}\n" % (header, before, "\n".join("  " + line for line in lines))


def run(text):
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as f:
        f.write(text)
        f.flush()
        return subprocess.run([sys.executable, str(exporter), f.name], capture_output=True, text=True)


X = "%x = f32[8]{0} parameter(0)"
ROOT = "ROOT %r = f32[8]{0} negate(%x)"


def sized(what, lines, expected, **more):
    """`expected`: the bytes of some nodes by name."""
    try:
        found = {n["name"]: n for n in hlo.nodes(module(*lines, **more))}
    except hlo.Unreadable as e:
        return check("%s: refused: %s" % (what, e), False)
    for name, size in expected.items():
        check("%s: %s has %s bytes, not %s" % (what, name, found[name]["bytes"], size), found[name]["bytes"] == size)
    return found


def refused(what, words, *lines, **more):
    r = run(module(*lines, **more))
    check("%s: status %d: %s" % (what, r.returncode, r.stderr), r.returncode == 1 and r.stdout == "")
    check("%s: one line: %s" % (what, r.stderr), r.stderr.count("\n") == 1 and "Traceback" not in r.stderr)
    for word in words:
        check("%s: names %s: %s" % (what, word, r.stderr), word in r.stderr)


# What is sized, by hand.
kinds = {"pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "s64": 8, "u64": 8, "f16": 2, "bf16": 2, "f32": 4,
         "f64": 8, "c64": 8, "c128": 16, "f8e5m2": 1, "f8e4m3": 1, "f8e4m3fn": 1, "f8e4m3b11fnuz": 1, "f8e5m2fnuz": 1,
         "f8e4m3fnuz": 1, "f8e3m4": 1, "f8e8m0fnu": 1}
for kind, width in kinds.items():
    sized(kind, [X, "%%y = %s[3,5]{1,0} custom-call(%%x)" % kind, ROOT], {"y": [15 * width]})
sized("scalars, tokens and empty arrays", [X, "%s = f32[] constant(0)", "%t = token[] after-all()", "%e = f32[0,7]{1,0} custom-call(%x)", ROOT],
      {"s": [0], "t": [0], "e": [0]})
found = sized("a tuple of seven, as XLA prints it",
              [X, "%t = (f32[8]{0}, f32[1]{0}, f32[2]{0}, f32[3]{0}, f32[4]{0}, /*index=5*/f32[5]{0}, pred[]) custom-call(f32[8]{0} %x)",
               "%g = f32[5]{0} get-tuple-element((f32[8]{0}, f32[1]{0}, f32[2]{0}, f32[3]{0}, f32[4]{0}, /*index=5*/f32[5]{0}, pred[]) %t), index=5",
               ROOT], {"t": [32, 4, 8, 12, 16, 20, 1], "g": [20]})
check("the element is a view", found["g"]["view_of"] == "t" and found["g"]["element"] == 5)
found = sized("a fusion", [X, "%f = f32[8]{0} fusion(f32[8]{0} %x), kind=kLoop, calls=%body, metadata={op_name=\"jit(f)/tanh {(\"}", ROOT], {"f": [32]})
sized("a reduction", [X, "%z = f32[] constant(0)", "%s = f32[] reduce(%x, %z), dimensions={0}, to_apply=%body", ROOT], {"s": [4]})
found = sized("an update", [X, "%i = s32[] constant(1)", "%u = f32[1]{0} custom-call(%x)",
                            "%d = f32[8]{0} dynamic-update-slice(%x, %u, %i)", ROOT], {"d": [32]})
check("takes the place of its operand", found["d"]["overwrites"] == "x")
for code in ("opt-barrier", "domain", "bitcast"):
    found = sized(code, [X, "%%b = f32[8]{0} %s(%%x)" % code, ROOT], {"b": [32]})
    check(code + " names its operand", found["b"].get("view_of") == ["x"])
found = sized("a dependency", [X, "%t = token[] after-all(%x)", "%a = f32[8]{0} add-dependency(%x, %t)", ROOT], {})
check("names its first operand", found["a"]["view_of"] == ["x"])
sized("a constant of several lines", [X, "%c = f32[2,2]{1,0} constant({\n    {1, 2},\n    {3, 4}\n  })", ROOT], {"c": [0]})
found = sized("control", [X, "%y = f32[8]{0} negate(%x)", "ROOT %r = f32[8]{0} negate(%x), control-predecessors={%y}"], {})
check("a control predecessor", found["r"]["after"] == ["y"])

# What is refused, by name.
refused("a nested tuple", ["n:", "nested"], X, "%n = ((f32[100]{0}, f32[50]{0}), f32[7]{0}) custom-call(%x)", ROOT)
for code in ("while", "conditional", "call"):
    refused(code, ["w:", code], X, "%%w = f32[8]{0} %s(%%x), to_apply=%%body" % code, ROOT)
for code in ("async-start", "async-update", "async-done", "copy-start", "copy-done", "all-gather-start", "all-reduce-done", "send", "send-done", "recv"):
    refused(code, ["a:", "asynchronous"], X, "%%a = f32[8]{0} %s(%%x)" % code, ROOT)
refused("a custom call that aliases", ["c:", "output_to_operand_aliasing"], X,
        "%c = f32[8]{0} custom-call(%x), custom_call_target=\"t\", output_to_operand_aliasing={{}: (0, {})}", ROOT)
refused("a fusion that aliases", ["f:", "output_to_operand_aliasing"], X,
        "%f = f32[8]{0} fusion(%x), kind=kLoop, calls=%body, output_to_operand_aliasing={{}: (0, {})}", ROOT)
refused("a fusion that updates", ["f:", "dynamic-update-slice"], X, "%f = f32[8]{0} fusion(%x, %x, %x), kind=kLoop, calls=%update", ROOT, before=FUSED + UPDATE)
refused("a fusion without its body", ["f:", "gone"], X, "%f = f32[8]{0} fusion(%x), kind=kLoop, calls=%gone", ROOT)
refused("a custom call with computations", ["c:", "computations"], X, "%c = f32[8]{0} custom-call(%x), called_computations={%body}", ROOT)
refused("one without percent signs", ["c:", "computations"], X, "c = f32[8]{0} custom-call(x), called_computations={body}", ROOT)
refused("one that applies a computation", ["c:", "computations"], X, "%c = f32[8]{0} custom-call(%x), to_apply=%body", ROOT)
sized("a custom call without any", [X, "%c = f32[8]{0} custom-call(%x), called_computations={}", ROOT], {"c": [32]})
refused("an aliased result", ["input_output_alias"], X, ROOT, header="HloModule m, input_output_alias={ {0}: (0, {}, must-alias) }")
refused("a bounded dimension", ["d:", "<=8"], X, "%d = f32[<=8]{0} custom-call(%x)", ROOT)
refused("an unbounded dimension", ["d:", "?"], X, "%d = f32[?,8]{1,0} custom-call(%x)", ROOT)
for kind in ("s4", "u4", "s2", "u2", "s1", "f4e2m1fn", "opaque", "f80", "s3"):
    refused(kind, ["k:", kind], X, "%%k = %s[8]{0} custom-call(%%x)" % kind, ROOT)
for layout in ("{0:T(256)}", "{0:S(1)}", "{0:T(8,128)S(3)}", "{0:E(4)}"):
    refused("layout " + layout, ["l:", layout], X, "%%l = f32[8]%s custom-call(%%x)" % layout, ROOT)
refused("an element that is not there", ["g:", "element"], X, "%g = f32[8]{0} get-tuple-element(%x), index=1", ROOT)
refused("an operand that is not there", ["r:", "gone"], X, "ROOT %r = f32[8]{0} negate(%gone)")
refused("a predecessor that is not there", ["r:", "gone"], X, "ROOT %r = f32[8]{0} negate(%x), control-predecessors={%gone}")
refused("a name twice", ["x:", "twice"], X, X, ROOT)
refused("no root", ["ROOT"], X)
refused("no instruction", ["no instruction"], X, "?", ROOT)
for text, word in (("", "ENTRY"), ("HloModule m\n", "ENTRY"), (module(X, ROOT)[:-3], "ends within")):
    r = run(text)
    check("%r: %s" % (text[:20], r.stderr), r.returncode == 1 and word in r.stderr and r.stderr.count("\n") == 1)
for arguments in ([], ["/nowhere.hlo"]):
    r = subprocess.run([sys.executable, str(exporter), *arguments], capture_output=True, text=True)
    check("arguments %s" % arguments, r.returncode == 1 and r.stderr.count("\n") == 1 and "Traceback" not in r.stderr)

# Whatever a text holds, the answer is a graph or one line.
whole = (sources / "tests/cli/nodes/small.hlo").read_text()
draw, accepted, rejected = random.Random(1), 0, 0
for _ in range(4000):
    text = list(whole)
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(text))
        how = draw.randrange(4)
        if how == 0:
            del text[at:at + draw.randint(1, 40)]
        elif how == 1:
            text[at:at] = draw.choice(["(", ")", "{", "}", "[", "]", ",", "%", "=", "\n", "\"", "ROOT ", "ENTRY ", "f32[", " "])
        elif how == 2:
            begin = draw.randrange(len(text))
            text[at:at] = text[begin:begin + draw.randint(1, 60)]
        else:
            text[at] = chr(draw.randrange(32, 127))
        text = text or ["x"]
    try:
        hlo.nodes("".join(text))
        accepted += 1
    except hlo.Unreadable:
        rejected += 1
check("%d texts accepted, %d refused" % (accepted, rejected), accepted > 100 and rejected > 1000)

# The program reads what is written.
with tempfile.TemporaryDirectory() as directory:
    graph = Path(directory, "hlo.json")
    graph.write_text(run(module(X, "%y = f32[16]{0} custom-call(%x)", "ROOT %r = f32[8]{0} negate(%y)")).stdout)
    r = subprocess.run([program, "schedule", str(graph), "--format", "json"], capture_output=True, text=True)
    check("the program: " + r.stderr, r.returncode == 0 and json.loads(r.stdout)["peak"] == 96)

print("%d failures" % failures)
sys.exit(failures != 0)
