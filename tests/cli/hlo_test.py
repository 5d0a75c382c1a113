#!/usr/bin/env python3
"""Tests examples/exporters/hlo on HLO texts: sizes and peaks worked out by hand, random modules against a simulation of their
buffers, the order put back, and refusals.

usage: hlo_test.py PROGRAM SOURCES
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

program, sources = sys.argv[1], Path(sys.argv[2])
exporter = sources / "examples/exporters/hlo"
sys.dont_write_bytecode = True
sys.path.insert(0, str(exporter))
import hlo_law
from hlo_buffers import Model
from hlo_order import rewritten
from hlo_text import Unreadable, read

failures = 0
X = "%x = f32[8]{0} parameter(0)"
ROOT = "ROOT %r = f32[8]{0} negate(%x)"
FUSED = "%fused (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n  ROOT %r = f32[8]{0} tanh(f32[8]{0} %p)\n}\n\n"


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED: " + what)


def module(*lines, header="", before=""):
    return "HloModule m%s\n\n%sENTRY %%main {\n%s\n}\n" % (header, before, "\n".join("  " + line for line in lines))


def graph_of(text, name=None, **options):
    m = read(text)
    return Model(m, **options).graph(name or m.entry)


def bytes_in(graph):
    return {t["name"]: t["bytes"] for t in graph.json()["tensors"]}


def run(text, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".hlo") as f:
        f.write(text)
        f.flush()
        return subprocess.run([sys.executable, str(exporter), f.name, *arguments], capture_output=True, text=True)


def batch(graphs):
    """The answers of the program for graphs."""
    lines = "".join(json.dumps({"graph": g}) + "\n" for g in graphs)
    r = subprocess.run([program, "batch", "-", "--state-limit", "2000"], input=lines, capture_output=True, text=True)
    check("batch: " + r.stderr, r.returncode == 0)
    return [json.loads(line) for line in r.stdout.splitlines()]


# Sizes of shapes.

def sized(shape, expected, **options):
    try:
        found = bytes_in(graph_of(module(X, "%%y = %s custom-call(%%x)" % shape, ROOT), **options))["y"]
        check("%s has %s bytes, not %s" % (shape, found, expected), found == expected)
    except Unreadable as e:
        check("%s: refused: %s" % (shape, e), False)


kinds = {"pred": 1, "s1": 1, "u1": 1, "s2": 1, "u2": 1, "s4": 1, "u4": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "s32": 4, "u32": 4, "s64": 8,
         "u64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "c64": 8, "c128": 16, "f8e5m2": 1, "f8e4m3": 1, "f8e4m3fn": 1,
         "f8e4m3b11fnuz": 1, "f8e5m2fnuz": 1, "f8e4m3fnuz": 1, "f8e3m4": 1, "f8e8m0fnu": 1, "f4e2m1fn": 1}
for kind, width in kinds.items():
    sized(kind + "[3,5]{1,0}", 15 * width)
    sized(kind + "[]", width)
    sized(kind + "[0,7]", 0)
sized("token[]", 0)
sized("opaque[]", 8)
sized("s4[3,5]{1,0:E(4)}", 8)  # 60 bits
sized("u2[5]{0:E(2)}", 2)
sized("f32[<=8]{0}", 32 + 4)  # its bound, and its length in front
sized("f32[<=8,3]{1,0}", 96 + 8)
sized("bf16[3,130]{1,0:T(8,128)(2,1)}", 8 * 256 * 2)  # 3 rows become 8, 130 columns 256
sized("bf16[3,130]{0,1:T(8,128)}", 136 * 128 * 2)  # 3 is innermost: 128, and 130 becomes 136
sized("f32[5,3,130]{2,1,0:T(8,128)}", 5 * 8 * 256 * 4)
sized("f32[]{:T(128)}", 512)
sized("s4[8]{0:T(16)E(4)}", 8)
sized("f32[5]{0:L(8)}", 20)  # only tiles have a tail
sized("f32[5]{0:T(4)L(16)}", 64)
sized("f32[8]{0:S(1)}", 0)
sized("f32[8]{0:S(1)}", 32, space=1)
sized("f32[8]{0:T(8)S(5)}", 0)
sized("f32[8]{0}", 0, space=1)
sized("(f32[8]{0}, s32[])", 16)  # the table alone
sized("(f32[8]{0}, s32[])", 0, pointer=0)

# Peaks of the order of the text, worked out by hand. x has 32 bytes throughout; a table has 8 for each element.
CONDITION = ("%cond (c: (s32[], f32[100])) -> pred[] {\n  %c = (s32[], f32[100]{0}) parameter(0)\n  %ci = s32[] get-tuple-element(%c), index=0\n"
             "  %n = s32[] constant(5)\n  ROOT %lt = pred[] compare(%ci, %n), direction=LT\n}\n\n")
BODY = ("%body (b: (s32[], f32[100])) -> (s32[], f32[100]) {\n  %b = (s32[], f32[100]{0}) parameter(0)\n  %bi = s32[] get-tuple-element(%b), index=0\n"
        "  %bx = f32[100]{0} get-tuple-element(%b), index=1\n  %one = s32[] constant(1)\n  %bn = s32[] add(%bi, %one)\n"
        "  %wide = f32[1000]{0} broadcast(%bx), dimensions={}\n  %wider = f32[2000]{0} custom-call(%wide)\n  %y = f32[100]{0} custom-call(%wider)\n"
        "  ROOT %bt = (s32[], f32[100]{0}) tuple(%bn, %y)\n}\n\n")
LOOP = ["%x = f32[100]{0} parameter(0)", "%z = s32[] constant(0)", "%zc = s32[] copy(%z)", "%xc = f32[100]{0} copy(%x)",
        "%t = (s32[], f32[100]{0}) tuple(%zc, %xc)", "%w = (s32[], f32[100]{0}) while(%t), condition=%cond, body=%body",
        "ROOT %r = f32[100]{0} get-tuple-element(%w), index=1"]
UPDATE = ("%update (p: f32[8], q: f32[1], i: s32[]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n  %q = f32[1]{0} parameter(1)\n"
          "  %i = s32[] parameter(2)\n  %d = f32[8]{0} dynamic-update-slice(%p, %q, %i)\n  ROOT %b = f32[8]{0} bitcast(%d)\n}\n\n")
CACHE = [X, "%i = s32[] constant(1)", "%c = f32[8]{0} copy(%x)", "%u = f32[1]{0} custom-call(%x)"]
CALLEE = ("%callee (a: f32[8], b: f32[8]) -> (f32[8], f32[8]) {\n  %a = f32[8]{0} parameter(0)\n  %b = f32[8]{0} parameter(1)\n"
          "  %h = f32[50]{0} custom-call(%a)\n  %k = f32[8]{0} custom-call(%h)\n  ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%k, %b)\n}\n\n")
CHANGER = ("%changer (a: f32[8]) -> f32[] {\n  %a = f32[8]{0} parameter(0)\n  %o = f32[] constant(1)\n"
           "  %d = f32[8]{0} dynamic-update-slice(%a, %o)\n  ROOT %s = f32[] custom-call(%d)\n}\n\n")
BRANCHES = ("%one (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n  %h = f32[50]{0} custom-call(%a)\n  ROOT %k = f32[8]{0} custom-call(%h)\n}\n\n"
            "%two (b: f32[8]) -> f32[8] {\n  %b = f32[8]{0} parameter(0)\n  ROOT %n = f32[8]{0} negate(%b)\n}\n\n")
WRAPPED = "%wrapped (a: f32[8]) -> f32[8] {\n  %a = f32[8]{0} parameter(0)\n  %h = f32[50]{0} custom-call(%a)\n  ROOT %k = f32[8]{0} custom-call(%h)\n}\n\n"
SEVEN = "(f32[8]{0}, f32[1]{0}, f32[2]{0}, f32[3]{0}, f32[4]{0}, /*index=5*/f32[5]{0}, pred[])"
by_hand = {
    "a chain": (module(X, "%a = f32[8]{0} custom-call(%x)", "ROOT %r = f32[16]{0} custom-call(%a)"), 32 + 32 + 64),
    "a tuple of seven, as XLA prints it":  # x, 56 of the table, 93 of the elements
        (module(X, "%%t = %s custom-call(f32[8]{0} %%x)" % SEVEN, "%%g = f32[5]{0} get-tuple-element(%s %%t), index=5" % SEVEN, ROOT), 32 + 56 + 93),
    "a nested tuple":  # x, tables of 2 and 2, arrays of 400, 200 and 28; the element that is read is that of 28, beside r
        (module(X, "%n = ((f32[100]{0}, f32[50]{0}), f32[7]{0}) custom-call(%x)", "%g = f32[7]{0} get-tuple-element(%n), index=1",
                "%h = f32[500]{0} custom-call(%g)", "ROOT %r = f32[7]{0} negate(%g)"), max(32 + 32 + 628, 32 + 28 + 2000)),
    "elements of tuples in tuples":
        (module(X, "%a = f32[100]{0} custom-call(%x)", "%b = f32[10]{0} custom-call(%x)", "%t = (f32[100]{0}, f32[10]{0}) tuple(%a, %b)",
                "%u = ((f32[100]{0}, f32[10]{0}), f32[8]{0}) tuple(%t, %x)", "%g = (f32[100]{0}, f32[10]{0}) get-tuple-element(%u), index=0",
                "%h = f32[10]{0} get-tuple-element(%g), index=1", "%wide = f32[1000]{0} custom-call(%h)", "ROOT %r = f32[8]{0} custom-call(%wide)"),
         32 + 40 + 4000),  # at wide only b is left of both tuples
    "a while loop": (module(*LOOP, before=CONDITION + BODY), 400 + 4 + 400 + 16 + 12000),  # x, state, table; wide and wider in the body
    "a loop that keeps its first value": (module(*LOOP[:-1], "%g = f32[100]{0} get-tuple-element(%w), index=1", "ROOT %r = f32[100]{0} add(%g, %xc)",
                                                 before=CONDITION + BODY), 400 + 4 + 400 + 16 + 400 + 12000),  # XLA copies xc first
    "a condition":  # XLA's own: MinimumMemoryForSequenceTest.MultiComputation, 4 + 4 + 16 and the predicate
        ("HloModule m\n\n%c (p: (f32[], f32[])) -> pred[] {\n  %p = (f32[], f32[]) parameter(0)\n  %i = f32[] get-tuple-element(%p), index=0\n"
         "  %d = f32[] get-tuple-element(%p), index=1\n  ROOT %l = pred[] compare(%i, %d), direction=LT\n}\n\n"
         "%b (p: (f32[], f32[])) -> (f32[], f32[]) {\n  ROOT %q = (f32[], f32[]) parameter(0)\n}\n\n"
         "ENTRY %e (iter: f32[], data: f32[]) -> (f32[], f32[]) {\n  %iter = f32[] parameter(0)\n  %data = f32[] parameter(1)\n"
         "  %t = (f32[], f32[]) tuple(%iter, %data)\n  ROOT %w = (f32[], f32[]) while(%t), condition=%c, body=%b\n}\n", 25 + 8),
    "a loop over constants":  # XLA's own: SubcomputationAccounting, 64 while broadcast and transpose are alive
        ("HloModule m\n\n%wb (p: f32[4]) -> f32[4] {\n  %p = f32[4]{0} parameter(0)\n  %o = f32[4]{0} constant({1, 1, 1, 1})\n  ROOT %s = f32[4]{0} subtract(%p, %o)\n}\n\n"
         "%wc (p: f32[4]) -> pred[] {\n  %p = f32[4]{0} parameter(0)\n  %s = f32[1]{0} slice(%p), slice={[0:1]}\n  %h = f32[] reshape(%s)\n  %z = f32[] constant(0)\n"
         "  ROOT %n = pred[] compare(%h, %z), direction=NE\n}\n\n"
         "ENTRY %e () -> f32[2,4] {\n  %i = f32[4]{0} constant({1, 1, 1, 1})\n  %w = f32[4]{0} while(%i), condition=%wc, body=%wb\n"
         "  %b = f32[2,4]{1,0} broadcast(%w), dimensions={1}\n  %m = f32[2,4]{1,0} constant({ { 1, 2, 3, 4 },\n { 1, 2, 3, 4 } })\n"
         "  %t = f32[2,4]{1,0} transpose(%m), dimensions={0,1}\n  ROOT %a = f32[2,4]{1,0} add(%t, %b)\n}\n", 64),
    "a Fourier transform":  # as jaxdecomp's benchmarks have it, for which XLA says: arguments 1 GiB, output 1 GiB, temporary 2 GiB
        ("HloModule inverse, is_scheduled=true\n\n%scale {\n  %p = c128[64,64,16384]{2,1,0} parameter(0)\n  %c = c128[] constant((9.3e-10, 0))\n"
         "  %b = c128[64,64,16384]{2,1,0} broadcast(c128[] %c), dimensions={}\n  ROOT %m = c128[64,64,16384]{2,1,0} multiply(%p, %b)\n}\n\n"
         "%zeros () -> s8[2147483648] {\n  %c = s8[] constant(0)\n  ROOT %b = s8[2147483648]{0} broadcast(s8[] %c), dimensions={}\n}\n\n"
         "%moved (p: c128[64,64,16384]) -> c128[64,64,16384] {\n  %p = c128[64,64,16384]{2,1,0} parameter(0)\n  ROOT %k = c128[64,64,16384]{2,1,0} copy(%p)\n}\n\n"
         "ENTRY %main (a: c128[64,64,16384]) -> c128[1024,64,1024] {\n  %a = c128[64,64,16384]{2,1,0} parameter(0), sharding={devices=[1,16,1]<=[16]}\n"
         "  %copied = c128[64,64,16384]{2,1,0} fusion(%a), kind=kLoop, calls=%moved\n  %scratch = s8[2147483648]{0} fusion(), kind=kLoop, calls=%zeros\n"
         "  %fft = c128[64,64,16384]{2,1,0} custom-call(%copied, %scratch), custom_call_target=\"fft\", output_to_operand_aliasing={{}: (0, {})}, backend_config=\"\\000\\\"{\"\n"
         "  %scaled = c128[64,64,16384]{2,1,0} fusion(%fft), kind=kLoop, calls=%scale\n  ROOT %r = c128[1024,64,1024]{2,1,0} bitcast(%scaled)\n}\n", 4 << 30),
    "a product":  # XLA's own: HloLiveRangeTest.ToStringSimpleComputation
        ("HloModule Module, is_scheduled=true\n\nENTRY %main {\n  %a = f32[4] parameter(0)\n  %x = f32[4] parameter(1)\n  ROOT %multiply = f32[4] multiply(%a, %x)\n}\n", 48),
    "two updates in one fusion":  # as XLA's own test MultipleInplaceDus
        (module("%p = bf16[10,11]{1,0} parameter(0)", "%q = bf16[1,11]{1,0} parameter(1)", "%s = bf16[8,11]{1,0} parameter(2)", "%i = s32[] parameter(3)",
                "ROOT %f = (bf16[10,11]{1,0}, bf16[8,11]{1,0}) fusion(%p, %q, %s, %i), kind=kLoop, calls=%f2", header=", input_output_alias={ {0}: (0, {}), {1}: (2, {}) }",
                before="%f2 {\n  p = bf16[10,11] parameter(0)\n  q = bf16[1,11] parameter(1)\n  s = bf16[8,11] parameter(2)\n  i = s32[] parameter(3)\n  z = s32[] constant(0)\n"
                       "  d = bf16[10,11] dynamic-update-slice(p, q, i, z)\n  e = bf16[8,11] dynamic-update-slice(s, q, i, z)\n  ROOT t = (bf16[10,11], bf16[8,11]) tuple(d, e)\n}\n\n"),
         220 + 22 + 176 + 4 + 16),
    "an increment": ("HloModule increment\n\nENTRY entry {\n  %p = f32[] parameter(0)\n  %c = f32[] constant(1)\n  ROOT %out = f32[] add(%p, %c)\n}\n", 8),
    "an increment in place": ("HloModule increment, input_output_alias={ {}: 0 }\n\nENTRY entry {\n  %p = f32[] parameter(0)\n  %c = f32[] constant(1)\n"
                              "  ROOT %out = f32[] add(%p, %c)\n}\n", 4),
    "a donated parameter": (module(X, "%y = f32[20]{0} custom-call(%x)", "%z = f32[8]{0} custom-call(%y)", "ROOT %r = (f32[20]{0}, f32[8]{0}) tuple(%y, %z)",
                                   header=", input_output_alias={ {1}: (0, {}, must-alias) }, entry_computation_layout={(f32[8]{0})->(f32[20]{0}, f32[8]{0})}"),
                            32 + 80 + 16),
    "a donated parameter that is read later": (module(X, "%z = f32[8]{0} custom-call(%x)", "%y = f32[20]{0} custom-call(%x)",
                                                      "ROOT %r = (f32[20]{0}, f32[8]{0}) tuple(%y, %z)", header=", input_output_alias={ {1}: (0, {}) }"),
                                               32 + 32 + 80 + 16),  # XLA copies z at the end
    "a donor without an alias": (module(X, "ROOT %r = f32[8]{0} custom-call(%x)", header=", buffer_donor={ (0, {}) }"), 64),
    "a cache that is updated": (module(*CACHE, "ROOT %d = f32[8]{0} dynamic-update-slice(%c, %u, %i)"), 32 + 32 + 4),
    "a cache that is read later": (module(*CACHE, "%d = f32[8]{0} dynamic-update-slice(%c, %u, %i)", "ROOT %r = f32[8]{0} custom-call(%c, %d)"), 32 + 32 + 32 + 32),
    "a parameter that is updated": (module(X, "%i = s32[] constant(1)", "%u = f32[1]{0} custom-call(%x)",
                                           "ROOT %d = f32[8]{0} dynamic-update-slice(%x, %u, %i)"), 32 + 4 + 32),
    "a fusion that updates": (module(*CACHE, "ROOT %d = f32[8]{0} fusion(%c, %u, %i), kind=kLoop, calls=%update", before=UPDATE), 32 + 32 + 4),
    "a custom call in place": (module(*CACHE, "ROOT %d = (f32[8]{0}, f32[2]{0}) custom-call(%u, %c), custom_call_target=\"f\", output_to_operand_aliasing={{0}: (1, {})}"),
                               32 + 32 + 4 + 16 + 8),
    "a fusion in place by its attribute": (module(*CACHE, "ROOT %d = f32[8]{0} fusion(%c), kind=kCustom, calls=%fused, output_to_operand_aliasing={{}: (0, {})}",
                                                  before=FUSED), 32 + 32 + 4),
    "a scatter": (module(*CACHE, "ROOT %d = f32[8]{0} scatter(%c, %i, %u), to_apply=%fused", before=FUSED), 32 + 32 + 4),
    "an elementwise result": (module(X, "%a = f32[80]{0} custom-call(%x)", "%b = f32[80]{0} negate(%a)", "ROOT %r = f32[80]{0} exponential(%b)"), 32 + 320),
    "the operand that ends": (module(X, "%a = f32[80]{0} custom-call(%x)", "%b = f32[80]{0} custom-call(%x)", "%c = f32[80]{0} add(%a, %b)",
                                     "ROOT %r = f32[80]{0} multiply(%c, %a)"), 32 + 320 * 2),
    "an elementwise result that is updated": (module(X, "%i = s32[] constant(1)", "%a = f32[80]{0} custom-call(%x)", "%b = f32[80]{0} negate(%a)",
                                                     "ROOT %d = f32[80]{0} dynamic-update-slice(%b, %i, %i)"), 32 + 640),  # its buffer has two values: it takes none
    "an alias in another space": (module(X, "%c = f32[8]{0} custom-call(%x)", "%d = f32[8]{0:S(1)} custom-call(%c), output_to_operand_aliasing={{}: (0, {})}",
                                         "%e = f32[50]{0} custom-call(%x)", "ROOT %r = (f32[8]{0:S(1)}, f32[50]{0}) tuple(%d, %e)"), 32 + 200 + 16),
    "a copy": (module(X, "%a = f32[80]{0} custom-call(%x)", "ROOT %r = f32[80]{0} copy(%a)"), 32 + 640),
    "another layout": (module(X, "%a = f32[8,10]{1,0} custom-call(%x)", "ROOT %r = f32[8,10]{0,1} negate(%a)"), 32 + 640),
    "a fusion of elementwise operations": (module(X, "%a = f32[8]{0} custom-call(%x)", "ROOT %r = f32[8]{0} fusion(%a), kind=kLoop, calls=%fused", before=FUSED), 64),
    "a fusion of unknown kind": (module(X, "%a = f32[8]{0} custom-call(%x)", "ROOT %r = f32[8]{0} fusion(%a), kind=kCustom, calls=%fused", before=FUSED), 96),
    "a product that is added": (module(X, "%a = f32[8]{0} custom-call(%x)", "ROOT %r = f32[8]{0} fusion(%a, %x), kind=kOutput, calls=%f",
                                       before="%f {\n  %p = f32[8] parameter(0)\n  %q = f32[8] parameter(1)\n  %d = f32[8] dot(%q, %q)\n  ROOT %s = f32[8] add(%d, %p)\n}\n"), 64),
    "a sort": (module(X, "%k = f32[8]{0} custom-call(%x)", "%v = s8[8]{0} custom-call(%x)", "ROOT %s = (f32[8]{0}, s8[8]{0}) sort(%k, %v), dimensions={0}, to_apply=%fused",
                      before=FUSED), 32 + 32 + 8 + 16),
    "a call":  # a, c and the call's table, k, and h inside; b is passed through
        (module(X, "%c = f32[8]{0} custom-call(%x)", "%w = (f32[8]{0}, f32[8]{0}) call(%x, %c), to_apply=%callee", "ROOT %r = f32[8]{0} get-tuple-element(%w), index=1",
                before=CALLEE), 32 + 32 + 32 + 200),
    "a call that changes its argument": (module(X, "%c = f32[8]{0} custom-call(%x)", "ROOT %w = f32[] call(%c), to_apply=%changer", before=CHANGER), 32 + 32 + 4),
    "a call that changes what is read later": (module(X, "%c = f32[8]{0} custom-call(%x)", "%w = f32[] call(%c), to_apply=%changer", "ROOT %r = f32[8]{0} custom-call(%c)",
                                                      before=CHANGER), 32 + 32 + 32 + 4),
    "a conditional": (module(X, "%p = pred[] custom-call(%x)", "ROOT %r = f32[8]{0} conditional(%p, %x, %x), true_computation=%one, false_computation=%two",
                             before=BRANCHES), 32 + 1 + 200 + 32),
    "branches": (module(X, "%p = s32[] custom-call(%x)", "ROOT %r = f32[8]{0} conditional(%p, %x, %x), branch_computations={%two, %one}", before=BRANCHES),
                 32 + 4 + 200 + 32),
    "a copy between spaces": (module(X, "%s = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%x)", "%a = f32[50]{0} custom-call(%x)",
                                     "%d = f32[8]{0:S(1)} copy-done(%s)", "ROOT %r = f32[8]{0} custom-call(%a, %d)"), max(32 + 24 + 4 + 200, 32 + 200 + 32)),
    "a gather": (module(X, "%c = f32[8]{0} custom-call(%x)", "%s = (f32[8]{0}, f32[64]{0}) all-gather-start(%c), dimensions={0}", "%a = f32[50]{0} custom-call(%x)",
                        "%d = f32[64]{0} all-gather-done(%s)", "ROOT %r = f32[8]{0} custom-call(%a, %d)"), 32 + 32 + 16 + 256 + 200),
    "a reduction in flight": (module(X, "%c = f32[8]{0} custom-call(%x)", "%s = f32[8]{0} all-reduce-start(%c), to_apply=%fused", "%a = f32[50]{0} custom-call(%x)",
                                     "%d = f32[8]{0} all-reduce-done(%s)", "ROOT %r = f32[8]{0} custom-call(%a, %d)", before=FUSED), 32 + 32 + 200 + 32),
    "a permutation": (module(X, "%c = f32[8]{0} custom-call(%x)", "%s = (f32[8]{0}, f32[8]{0}, u32[], u32[]) collective-permute-start(%c), source_target_pairs={{0,1},{1,0}}",
                             "%a = f32[50]{0} custom-call(%x)", "%d = f32[8]{0} collective-permute-done(%s)", "ROOT %r = f32[8]{0} custom-call(%a, %d)"),
                      32 + 32 + 32 + 32 + 8 + 200),
    "sent and received": (module(X, "%t = token[] after-all()", "%s = (f32[8]{0}, u32[], token[]) send(%x, %t), channel_id=1", "%e = token[] send-done(%s), channel_id=1",
                                 "%v = (f32[8]{0}, u32[], token[]) recv(%e), channel_id=2", "%w = (f32[8]{0}, token[]) recv-done(%v), channel_id=2",
                                 "ROOT %r = f32[8]{0} get-tuple-element(%w), index=0"), 32 + 32 + 4 + 24 + 16),
    "an asynchronous custom call": (module(X, "%c = f32[8]{0} custom-call(%x)", "%s = ((f32[8]{0}), f32[5]{0}, u32[]) custom-call-start(%c), custom_call_target=\"f\"",
                                           "%a = f32[50]{0} custom-call(%x)", "%u = ((f32[8]{0}), f32[5]{0}, u32[]) custom-call-update(%s)",
                                           "%d = f32[5]{0} custom-call-done(%u)", "ROOT %r = f32[8]{0} custom-call(%a, %d)"), 32 + 32 + 24 + 8 + 20 + 4 + 200 + 32),
    "an asynchronous call":  # h is held until the end is awaited
        (module(X, "%s = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%x), calls=%wrapped", "%a = f32[50]{0} custom-call(%x)", "%d = f32[8]{0} async-done(%s), calls=%wrapped",
                "ROOT %r = f32[8]{0} custom-call(%a, %d)", before=WRAPPED), 32 + 24 + 8 + 32 + 4 + 200 + 200),
    "names without percent signs": ("// a comment\nHloModule m\n\nENTRY main {\n  x = f32[8] parameter(0)\n  y = f32[16] custom-call(x),\n    custom_call_target=\"f\", metadata={op_name=\"}) /* { \\\" \"}\n"
                                    "  ROOT r = f32[8] negate(x)\n}, execution_thread=\"main\"\n", 96),
    "attributes of all kinds":
        (module("%x = f32[8,8]{1,0} parameter(0), sharding={devices=[2,1]<=[2]}, origin={{\"x\" {0}}}, frontend_attributes={_a=\"{\\\"b\\\": [1}\"}",
                "%y = f32[1,8]{1,0} slice(%x), slice={[0:1:1], [0:8]}, statistics={visualizing_index=0,stat-1=33}",
                "%z = f32[8,8]{1,0} convolution(%x, %x), window={size=3x3 pad=1_1x1_1 rhs_dilate=2x2}, dim_labels=b0f_0io->b0f, operand_precision={highest,highest}",
                "%w = f32[8,8]{1,0} all-reduce(%z), replica_groups=[2,4]<=[4,2]T(1,0), to_apply=%fused, backend_config={\"a\":[\"}\"],\n    \"b\":{}}",
                "ROOT %r = (f32[1,8]{1,0}, f32[8,8]{1,0}) tuple(%y, %w), original_value={({\"y\"}, {\"w\"})}", before=FUSED,
                header=", replica_count=2, num_partitions=4, allow_spmd_sharding_propagation_to_output={true,true}"), 256 + 32 + 512),
    "tables of places": ("HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f{\"\n\nFileLocations\n1 {file_name_id=1 line=2}\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n"
                         "ENTRY main {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] negate(x)\n}\n", 64),
}
graphs = []
for what, (text, expected) in by_hand.items():
    try:
        g = graph_of(text)
        check("%s: a peak of %d, not %d" % (what, g.peak(), expected), g.peak() == expected)
        graphs.append((what, expected, g.json()))
    except Unreadable as e:
        check("%s: refused: %s" % (what, e), False)
for (what, expected, _), answer in zip(graphs, batch([g for _, _, g in graphs])):
    check("%s: the program says %s, not %d" % (what, answer.get("given_peak", answer), expected), answer.get("given_peak") == expected)
g = graph_of(by_hand["a while loop"][0], "body")
check("the body of a loop alone: %d" % g.peak(), g.peak() == 16 + 4 + 400 + 12000)

ops = graph_of(module(X, "%c = f32[8]{0} custom-call(%x)", "%a = f32[50]{0} custom-call(%c)", "%w = f32[] call(%c), to_apply=%changer",
                      "ROOT %r = f32[] custom-call(%a, %w)", before=CHANGER)).json()["ops"]
check("what a call changes is read before: %s" % ops[2], ops[2]["name"] == "w" and 1 in ops[2].get("after", []))

# Asynchronous operations keep what is between them.
ASYNC = [X, "%c = f32[80]{0} custom-call(%x)", "%s = (f32[80]{0}, f32[640]{0}) all-gather-start(%c), dimensions={0}", "%a = f32[50]{0} custom-call(%x)",
         "%b = f32[8]{0} custom-call(%a)", "%d = f32[640]{0} all-gather-done(%s)", "ROOT %r = f32[8]{0} custom-call(%b, %d)"]
kept, free = batch([graph_of(module(*ASYNC), keep_async=keep).json() for keep in (True, False)])
check("kept apart: %s" % kept["names"], kept["names"] == ["c", "s", "a", "b", "d", "r"])
check("free: %s" % free["names"], free["names"] != kept["names"] and free["peak"] < kept["peak"])

# Random modules: the peak of the text is that of the simulation, to the byte; each order that comes back reads what it should, keeps
# what is in flight, and gives the same peak when it is put back and read again, or less where more results find a buffer to take.
few = "MEMSCHED_FEW_SEEDS" in os.environ
made = []
for seed in range(60 if few else 250):
    hlo_law.counted = int(seed % 5 == 0)
    made.append(hlo_law.Maker(random.Random(seed), random.Random(seed).choice([2, 4, 6, 10, 16])))
answers = batch([graph_of(m.text, space=int(seed % 5 == 0)).json() for seed, m in enumerate(made)])
again, kinds_seen = [], set()
for seed, (m, answer) in enumerate(zip(made, answers)):
    kinds_seen |= {step["code"] for step in m.entry.steps}
    if "error" in answer:
        check("seed %d: %s" % (seed, answer["error"]), False)
        continue
    names, given = answer["names"], [step["name"] for step in m.entry.steps]
    check("seed %d: given peak %d, simulated %d" % (seed, answer["given_peak"], m.simulation.peak()), answer["given_peak"] == m.simulation.peak())
    check("seed %d: the order reads something else" % seed, m.simulation.runs_in(names))
    steps = {step["name"]: step for step in m.entry.steps}
    for name, start in [(step["name"], m.entry.start_of(step)) for step in m.entry.steps]:
        if start and name in steps and steps[name]["code"].endswith("-done"):
            apart = lambda order: {n for n in order[order.index(start):order.index(name)] if steps[n]["code"] not in hlo_law.FREE}
            check("seed %d: what is between %s and %s" % (seed, start, name), apart(given) <= apart(names))
    text = read(m.text)
    for how in ("schedule", "control"):
        g = graph_of(rewritten(text, Model(text).graph("main"), names, how), space=int(seed % 5 == 0))
        check("seed %d: %s is in another order" % (seed, how), [op.instruction.name for op in g.operators] == names)
        check("seed %d: %s read again has %d bytes, not %d" % (seed, how, g.peak(), answer["peak"]), g.peak() <= answer["peak"])
        again.append((g.peak() == answer["peak"], how, g, names))
check("the same peak again: %d of %d" % (sum(same for same, *_ in again), len(again)), sum(same for same, *_ in again) > 0.95 * len(again))
check("gains: %d" % sum(a["peak"] < a["given_peak"] for a in answers), sum(a["peak"] < a["given_peak"] for a in answers) > len(made) / 8)
check("kinds: %s" % sorted(kinds_seen), len(kinds_seen) > 25)
for (_, how, g, names), answer in zip(again, batch([g.json() for _, how, g, _ in again])):
    check("%s: the program's peak of what is put back: %d, %d" % (how, answer["given_peak"], g.peak()), answer["given_peak"] == g.peak())
    check("control leaves one order", how == "schedule" or answer["names"] == names)

# The order in the text.
SMALL = (sources / "tests/cli/nodes/small.hlo").read_text()
with tempfile.TemporaryDirectory() as directory:
    graph, order = Path(directory, "graph.json"), Path(directory, "order.json")
    graph.write_text(run(SMALL).stdout)
    r = subprocess.run([program, "schedule", str(graph), "--format", "json", "-o", str(order)], capture_output=True, text=True)
    check("schedule: " + r.stderr, r.returncode == 0)
    r = run(SMALL, "--order", str(order))
    check("schedule: " + r.stderr + r.stdout, r.returncode == 0 and r.stdout.startswith("HloModule small, is_scheduled=true\n"))
    check("everything is still there", sorted(r.stdout.replace(", is_scheduled=true", "").split()) == sorted(SMALL.split()))
    check("a schedule of a schedule", run(r.stdout, "--order", str(order)).stdout == r.stdout)
    r = run(r.stdout, "--order", str(order), "--as", "control")
    check("control: " + r.stderr + r.stdout, r.returncode == 0 and "is_scheduled" not in r.stdout and r.stdout.count("control-predecessors") > 1)
    for text, words in (("{}", "no result"), ("[", "no result"), ('{"names": ["x"]}', "another graph"),
                        (json.dumps({"names": ["result"] + [n for n in json.loads(order.read_text())["names"] if n != "result"]}), "run first")):
        order.write_text(text)
        r = run(SMALL, "--order", str(order))
        check("an order %s: %s" % (text[:20], r.stderr), r.returncode == 1 and words in r.stderr and r.stderr.count("\n") == 1 and not r.stdout)

# The body of a loop, ordered and put back, makes its caller's peak smaller.
WASTEFUL = BODY.replace("  %wide = f32[1000]{0} broadcast(%bx), dimensions={}\n  %wider = f32[2000]{0} custom-call(%wide)\n  %y = f32[100]{0} custom-call(%wider)\n",
                        "  %v = f32[1000]{0} custom-call(%bx)\n  %w = f32[2000]{0} custom-call(%bx)\n  %v1 = f32[1]{0} custom-call(%v)\n  %w1 = f32[1]{0} custom-call(%w)\n"
                        "  %y = f32[100]{0} custom-call(%v1, %w1)\n")
text = module(*LOOP, before=CONDITION + WASTEFUL)
with tempfile.TemporaryDirectory() as directory:
    graph, order = Path(directory, "graph.json"), Path(directory, "order.json")
    graph.write_text(run(text, "--computation", "body").stdout)
    subprocess.run([program, "schedule", str(graph), "--format", "json", "-o", str(order)], check=True)
    better = run(text, "--computation", "body", "--order", str(order)).stdout
check("the loop before: %d" % graph_of(text).peak(), graph_of(text).peak() == 400 + 4 + 400 + 16 + 12000 + 4)
check("the loop after: %d" % graph_of(better).peak(), graph_of(better).peak() == 400 + 4 + 400 + 16 + 8000 + 4)


# Refusals, by line and reason.

def refused(what, words, text, line=None):
    try:
        graph_of(text).json()
        check("%s: is not refused" % what, False)
    except Unreadable as e:
        for word in words:
            check("%s: says %s: %s" % (what, word, e), word in str(e))
        check("%s: says line %s: %s" % (what, line, e), line is None or e.line == line)


for what, word, line in (
        ("an unknown operation", "frobnicate", "%k = f32[8]{0} frobnicate(%x)"),
        ("an unknown start", "frobnicate-start", "%k = ((f32[8]{0}), f32[8]{0}) frobnicate-start(%x)"),
        ("an unknown done", "frobnicate-done", "%k = f32[8]{0} frobnicate-done(%x)"),
        ("an unknown update", "frobnicate-update", "%k = f32[8]{0} frobnicate-update(%x)"),
        ("an unbounded dimension", "?", "%k = f32[?,8]{1,0} custom-call(%x)"),
        ("a negative dimension", "-1", "%k = f32[-1]{0} custom-call(%x)"),
        ("more bytes than there are", "2^61", "%k = f32[" + ",".join(["999999999999999999"] * 400) + "] custom-call(%x)"),
        ("a sparse layout", "D(C)", "%k = f32[8]{0:D(C)} custom-call(%x)"),
        ("a split layout", "SC(0:4)", "%k = f32[8]{0:SC(0:4)} custom-call(%x)"),
        ("a combined tile", "T(*", "%k = f32[8]{0:T(*,8)} custom-call(%x)"),
        ("an empty tile", "tile", "%k = f32[8]{0:T(0)} custom-call(%x)"),
        ("a layout of other dimensions", "{1,0}", "%k = f32[8]{1,0} custom-call(%x)"),
        ("a buffer", "type b", "%k = b(f32[8]{0}) custom-call(%x)"),
        ("an element that is not there", "element", "%k = f32[8]{0} get-tuple-element(%x), index=1"),
        ("no index", "index", "%k = f32[8]{0} get-tuple-element(%x)"),
        ("an operand that is not there", "gone", "%k = f32[8]{0} negate(%gone)"),
        ("a predecessor that is not there", "gone", "%k = f32[8]{0} negate(%x), control-predecessors={%gone}"),
        ("a body that is not there", "gone", "%k = f32[8]{0} fusion(%x), kind=kLoop, calls=%gone"),
        ("a loop without a body", "condition", "%k = f32[8]{0} while(%x)"),
        ("a call with too few arguments", "arguments", "%k = (f32[8]{0}, f32[8]{0}) call(%x), to_apply=%callee"),
        ("a call of another shape", "shape", "%k = f32[8]{0} call(%x, %x), to_apply=%callee"),
        ("an argument of another shape", "another shape", "%k = (f32[8]{0}, f32[8]{0}) call(%x, %pair), to_apply=%callee"),
        ("a tuple of another shape", "shape", "%k = (f32[8]{0}) tuple(%x, %x)"),
        ("a start of another shape", "shape", "%k = f32[8]{0} copy-start(%x)"),
        ("an alias of an operand that is not there", "operand 3", "%k = f32[8]{0} custom-call(%x), output_to_operand_aliasing={{}: (3, {})}"),
        ("an alias of an element that is not there", "element", "%k = f32[8]{0} custom-call(%x), output_to_operand_aliasing={{1}: (0, {})}"),
        ("an alias that is none", "not understood", "%k = f32[8]{0} custom-call(%x), output_to_operand_aliasing={x: y}"),
        ("an attribute twice", "twice", "%k = f32[8]{0} custom-call(%x), a=1, a=2"),
        ("an attribute without a value", "without a value", "%k = f32[8]{0} custom-call(%x), a="),
        ("a name twice", "twice", "%x = f32[8]{0} negate(%x)"),
        ("a parameter twice", "parameter 0", "%k = f32[8]{0} parameter(0)"),
        ("a parameter without a number", "parameter(x)", "%k = f32[8]{0} parameter(x)"),
        ("no instruction", "no instruction", "?"),
        ("something behind an instruction", "followed by", "%k = f32[8]{0} negate(%x) %y = f32[] constant(1)"),
        ("no shape", "no shape", "%k = negate(%x)"),
        ("no operation", "no operation", "%k = f32[8]{0}"),
        ("brackets that do not match", "brackets", "%k = f32[8]{0} negate(%x]"),
        ("two results", "2 ROOT", "ROOT %k = f32[8]{0} negate(%x)")):
    lines = [X, "%pair = (f32[8]{0}, f32[8]{0}) tuple(%x, %x)", line, ROOT]
    text = module(*lines, before=CALLEE)
    at = text[:text.index("\n  %s\n" % line)].count("\n") + 2
    refused(what, [word], text, None if word in ("2 ROOT",) else at)
for kind in ("f80", "s3", "f8", "u128"):
    refused(kind, [kind, "unknown"], module(X, "%%k = %s[8]{0} custom-call(%%x)" % kind, ROOT), 5)
refused("no root", ["no ROOT"], module(X))
refused("no text", ["HloModule"], "", 1)
refused("no entry", ["ENTRY"], "HloModule m\n")
refused("two entries", ["second ENTRY"], module(X, ROOT) + "ENTRY %other {\n  ROOT %x = f32[] parameter(0)\n}\n", 7)
refused("a computation twice", ["twice"], module(X, ROOT, before=FUSED + FUSED), 8)
refused("no computation", ["no computation"], "HloModule m\n\n}\n", None)
refused("a call of itself", ["calls it"], module(X, ROOT, "%c = f32[8]{0} call(%x), to_apply=%main"))
refused("a loop whose body returns another shape", ["shape"], module(*LOOP, before=CONDITION + BODY.replace("tuple(%bn, %y)", "tuple(%bn, %y, %y)").replace("ROOT %bt = (s32[], f32[100]{0})", "ROOT %bt = (s32[], f32[100]{0}, f32[100]{0})")))
refused("a gap in the parameters", ["parameters 0 to"], module(X.replace("(0)", "(1)"), ROOT))
for header, word in (("{ {0}: (0, {}) }", "result"), ("{ {}: (7, {}) }", "parameter 7"), ("{ {}: (0, {1}) }", "parameter 0"), ("{ x: y }", "not understood")):
    refused("aliases " + header, [word], module(X, ROOT, header=", input_output_alias=" + header))
deep = "(" * 100 + "f32[1]" + ")" * 100
refused("a deep tuple", ["deep"], module(X, "%%k = %s custom-call(%%x)" % deep, ROOT), 5)
calls = "".join("%%c%d (p: f32[8]) -> f32[8] {\n  %%p = f32[8]{0} parameter(0)\n  ROOT %%r = f32[8]{0} %s\n}\n\n" % (k, "call(%%p), to_apply=%%c%d" % (k - 1) if k else "negate(%p)")
                for k in range(200))
refused("deep calls", ["deep"], module(X, "%k = f32[8]{0} call(%x), to_apply=%c199", ROOT, before=calls))
for arguments, status in (([], 2), (["/nowhere.hlo"], 1), ([str(sources / "tests/cli/nodes/small.hlo"), "--computation", "gone"], 1), ([sys.executable], 1)):
    r = subprocess.run([sys.executable, str(exporter), *arguments], capture_output=True, text=True)
    check("arguments %s: %d: %s" % (arguments, r.returncode, r.stderr), r.returncode == status and "Traceback" not in r.stderr and not r.stdout)
r = run(module(X, "%k = f32[8]{0} frobnicate(%x)", ROOT))
check("one line: " + r.stderr, r.returncode == 1 and r.stderr.count("\n") == 1 and "line 5: k: " in r.stderr and r.stdout == "")
r = subprocess.run([sys.executable, str(exporter), "--help"], capture_output=True, text=True)
check("--help", r.returncode == 0 and all(word in r.stdout for word in ("--order", "--space", "--computation", "example:", "refused")))

# Any text gives a graph or one error that names a line.
accepted = rejected = 0


def survives(text):
    global accepted, rejected
    try:
        graph_of(text).json()
        accepted += 1
    except Unreadable as e:
        rejected += 1
        check("%s names line %d of %d" % (e, e.line, text.count("\n") + 1), 1 <= e.line <= text.count("\n") + 1)


whole = module(*LOOP[:-1], "%k = (f32[8]{0:S(1)}, f32[8]{0}, u32[]) copy-start(%x8)", "%g = f32[100]{0} get-tuple-element(%w), index=1, metadata={op_name=\"a\"}",
               "%e = f32[8]{0:S(1)} copy-done(%k), control-predecessors={%w}", "%c = f32[100]{0} call(%g), to_apply=%v",
               "%u = f32[100]{0} fusion(%c, %z), kind=kLoop, calls=%f, output_to_operand_aliasing={{}: (0, {})}", "ROOT %r = (f32[100]{0}) tuple(%u)",
               header=", is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }",
               before=CONDITION + BODY + "%v {\n  %a = f32[100]{0} parameter(0)\n  ROOT %b = f32[100]{0} negate(%a) // in place\n}\n"
               "%f {\n  %a = f32[100] parameter(0)\n  %b = s32[] parameter(1)\n  ROOT %c = f32[100] dynamic-update-slice(%a, %b)\n}\n")
whole = whole.replace("  %zc =", "  %x8 = f32[8]{0} parameter(1)\n  %zc =")
check("the sample is read", graph_of(whole).peak() > 0)
for end in range(0, len(whole), 5 if few else 1):
    survives(whole[:end])
check("%d truncated texts accepted, %d refused" % (accepted, rejected), accepted < 10)
accepted = rejected = 0
draw = random.Random(1)
for _ in range(300 if few else 1200):
    text = list(whole)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(text))
        how = draw.randrange(4)
        if how == 0:
            del text[at:at + draw.randint(1, 40)]
        elif how == 1:
            text[at:at] = draw.choice(["(", ")", "{", "}", "[", "]", ",", "%", "=", "\n", "\"", "ROOT ", "ENTRY ", "f32[", " ", "/*", "*/", "//"])
        elif how == 2:
            begin = draw.randrange(len(text))
            text[at:at] = text[begin:begin + draw.randint(1, 60)]
        else:
            text[at] = chr(draw.randrange(32, 127))
        text = text or ["x"]
    survives("".join(text))
check("%d changed texts accepted, %d refused" % (accepted, rejected), accepted > 3 and rejected > accepted)

print("%d failures" % failures)
sys.exit(failures != 0)
