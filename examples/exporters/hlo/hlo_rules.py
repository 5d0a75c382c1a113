"""The buffers that instructions of HLO share, by XLA's HloDataflowAnalysis and AliasInfo. Rows of rules, no state.

A tree is what an instruction returns: its values by path, a tuple of positions in tuples; () is the value itself.
"""
import re
from hlo_text import Unreadable, need, path_in, subshapes

FREE = {"bitcast", "opt-barrier", "domain", "add-dependency", "tuple", "get-tuple-element", "after-all", "constant"}
NAMING = {"bitcast", "opt-barrier", "domain", "add-dependency", "all-reduce-done"}
CALLING = {"call", "while", "conditional"}
OWN_START = {"copy", "all-gather", "all-reduce", "collective-permute"}  # any other x-start is short for async-start of an x
ELEMENTWISE = set("""
abs acos acosh add and asin asinh atan atan2 atanh bitcast-convert cbrt ceil clamp compare complex convert copy cosh
cosine count-leading-zeros divide erf exponential exponential-minus-one floor imag is-finite log log-plus-one logistic
maximum minimum mulhi multiply negate not or popcnt power real reduce-precision remainder round-nearest-afz round-
nearest-even rsqrt select shift-left shift-right-arithmetic shift-right-logical sign sine sinh sqrt stochastic-convert
subtract tan tanh xor
""".split())
PLAIN = ELEMENTWISE | set("""
all-gather all-reduce all-to-all batch-norm-grad batch-norm-inference batch-norm-training broadcast cholesky collective-
broadcast collective-permute collective-reduce concatenate convolution custom-call dot dynamic-reshape dynamic-slice
dynamic-update-slice fft fusion gather get-dimension-size infeed iota map outfeed pad partition-id ragged-all-to-all
ragged-dot recv recv-done reduce reduce-scatter reduce-window replica-id reshape reverse rng rng-bit-generator rng-get-
and-update-state scaled-dot scan scatter select-and-scatter send send-done set-dimension-size shuffle slice sort topk
transpose triangular-solve
""".split())
ASYNCHRONOUS = PLAIN - OWN_START - {"send", "send-done", "recv", "recv-done"} | {"async", "call"}
PATH = r"\{([0-9,\s]*)\}"
ALIASING = re.compile(PATH + r"\s*:\s*(?:\(\s*([0-9]{1,9})\s*,\s*" + PATH + r"[^()]*\)|([0-9]{1,9}))")


def part(tree, path):
    found = {p[len(path):]: v for p, v in tree.items() if p[:len(path)] == path}
    need(found, "takes an element that its operand does not have")
    return found


def arrays(tree):
    """The values of a tree that are arrays, by path."""
    return {p: v for p, v in tree.items() if not isinstance(v.shape, list)}


def aliasing(text):
    """The pairs of an output's path with a number and a path, in output_to_operand_aliasing and input_output_alias."""
    found = [(path_in(out), int(number or short), path_in(path)) for out, number, path, short in ALIASING.findall(text)]
    need(len(found) == text.count(":"), "has the aliases %s, which are not understood" % text[:60])
    return found


def named(i, operands):
    """The values that the result names, as trees by path."""
    code, base = i.code, i.code.rpartition("-")[0]
    is_tuple = isinstance(i.shape, list)
    counts = {"get-tuple-element": 1, "copy": 1, "bitcast": 1, "domain": 1, "opt-barrier": 1, "add-dependency": 2, "while": 1}
    need(len(operands) == counts.get(code, len(operands)), "has %d operands" % len(operands))
    if code == "get-tuple-element":
        need(re.fullmatch("[0-9]{1,9}", i.attributes.get("index", "")), "has no index")
        return {(): part(operands[0], (int(i.attributes["index"]),))}
    if code == "tuple":
        need(is_tuple and len(i.shape) == len(operands), "does not have the shape of its operands")
        return {(k,): operand for k, operand in enumerate(operands)}
    if code in NAMING:
        need(operands, "has no operand")
        return {(): operands[0]}
    if code == "copy" and is_tuple:
        return {(k,): part(operands[0], (k,)) for k in range(len(i.shape))}
    if code == "send":
        need(operands and is_tuple and len(i.shape) == 3, "does not have the shape of a send")
        return {(0,): operands[0]}
    if code == "recv-done":
        need(operands and is_tuple and len(i.shape) == 2, "does not have the shape of a recv-done")
        return {(0,): part(operands[0], (0,))}
    if code.endswith("-start"):
        return started(i, base, operands)
    if code.endswith("-update"):
        need(base in ASYNCHRONOUS, "is a %s, which is unknown" % code)
        need(len(operands) == 1, "has %d operands" % len(operands))
        return {path: {(): v} for path, v in arrays(operands[0]).items()}
    if code.endswith("-done") and code != "send-done":
        need(base in ASYNCHRONOUS | OWN_START, "is a %s, which is unknown" % code)
        need(len(operands) == 1, "has %d operands" % len(operands))
        done = part(operands[0], (0,) if base == "copy" else (1,))
        return {(k,): part(done, (k,)) for k in range(len(i.shape))} if is_tuple else {(): done}
    need(code in PLAIN or code in CALLING or code in ("constant", "after-all"), "is a %s, which is unknown" % code)
    return {}


def started(i, base, operands):
    """An x-start has its operands in its result, and the places that its x-done will name."""
    need(base in ASYNCHRONOUS | OWN_START, "is a %s, which is unknown" % i.code)
    if base == "all-reduce":
        return {}
    need(isinstance(i.shape, list) and len(i.shape) >= 2, "does not have the shape of a start")
    if base == "copy":
        need(len(operands) == 1, "has %d operands" % len(operands))
        return {(1,): operands[0]}
    several = base not in OWN_START or isinstance(i.shape[0], list) and len(i.shape[0]) == len(operands) != 1
    need(several or operands, "has no operand")
    if several:
        need(isinstance(i.shape[0], list) and len(i.shape[0]) == len(operands), "does not have the shape of a start")
    whole = {(0, k): operand for k, operand in enumerate(operands)} if several else {(0,): operands[0]}
    return {at + path: {(): v} for at, operand in whole.items() for path, v in arrays(operand).items()}


def in_place(i, fused):
    """Results that have the buffer of an operand: paths of the result, each with the number and a path of the operand."""
    count, code = len(i.operands), i.code
    if code in ("dynamic-update-slice", "set-dimension-size"):
        return [((), 0, ())]
    if code == "scatter":
        need(count % 2, "has %d operands" % count)
        return [((k,) if count > 3 else (), k, ()) for k in range(count // 2)]
    if code == "all-reduce-start":
        return [((k,) if count > 1 else (), k, ()) for k in range(count)]
    if code in ("ragged-all-to-all", "collective-permute") and count > 3:
        return [(path, 1, path) for path, _ in subshapes(i.shape)] if code == "collective-permute" else [((), 1, ())]
    if code == "collective-permute-start" and count == 4:
        return [((1,) + path, 1, path) for path, _ in subshapes(i.shape[1])]
    given = aliasing(i.attributes.get("output_to_operand_aliasing", "{}"))
    if code.endswith("-start") and isinstance(i.shape, list):
        inner = i._replace(code=code[:-6], shape=i.shape[1], attributes={**i.attributes, "output_to_operand_aliasing": "{}"})
        given = [(out[1:] if out[:1] == (1,) else out, number, path) for out, number, path in given]
        return [((1,) + out, number, path) for out, number, path in given + in_place(inner, fused)]
    return given + (fused_in_place(i, fused) if code == "fusion" else [])


def fused_in_place(i, fused):
    """A fusion is in place where its result comes from an operation in place, on a parameter."""
    body, found = fused(i.attributes.get("calls", "")), []
    for path, shape in subshapes(i.shape):
        if isinstance(shape, list):
            continue
        name, at = body.source(body.root, path)
        inner = body.instructions[name]
        if inner.code not in ("dynamic-update-slice", "scatter", "set-dimension-size"):
            continue
        for out, number, operand_path in in_place(inner, fused):
            if out == at:
                source, source_path = body.source(inner.operands[number], operand_path)
                if body.instructions[source].code == "parameter":
                    found.append((path, int(body.instructions[source].argument), source_path))
    return found


def may_share(i, output_path, number, users, fused):
    """Whether a result may take the buffer of an operand of the same shape that ends with it; `users` counts the operand's."""
    if i.code in ELEMENTWISE:
        return i.code != "copy"
    if i.code == "fusion":
        return fused(i.attributes.get("calls", "")).may_share(i, i.operands.index(i.operands[number]))
    if i.code == "sort":
        return users == 1 and output_path == ((number,) if len(i.operands) > 1 else ())
    return i.code == "triangular-solve" and number == 1


class Fused:
    """The body of a fusion, which has no buffers."""

    def __init__(self, computation):
        self.instructions = {i.name: i for i in computation.instructions}
        self.root = next(i.name for i in computation.instructions if i.root)
        self.users = {i.name: [] for i in computation.instructions}
        for i in computation.instructions:
            for name in i.operands:
                if name not in self.instructions:
                    raise Unreadable(i.line, "%s: reads %s, which is not defined" % (i.name, name))
                self.users[name].append(i)
            if i.code == "parameter" and not re.fullmatch("[0-9]{1,9}", i.argument):
                raise Unreadable(i.line, "%s: is parameter(%s)" % (i.name, i.argument[:20]))

    def source(self, name, path):
        """The source of a value, seen through instructions that only name it."""
        for _ in self.instructions:
            i = self.instructions[name]
            if i.code == "tuple" and path and path[0] < len(i.operands):
                name, path = i.operands[path[0]], path[1:]
            elif i.code == "get-tuple-element" and i.operands and re.fullmatch("[0-9]{1,9}", i.attributes.get("index", "")):
                name, path = i.operands[0], (int(i.attributes["index"]),) + path
            elif i.code == "bitcast" and i.operands:
                name = i.operands[0]
            else:
                break
        return name, path

    def may_share(self, fusion, number):
        kind = fusion.attributes.get("kind")
        at = [i.name for i in self.instructions.values() if i.code == "parameter" and int(i.argument) == number]
        need(at, "calls %s, which has no parameter %d" % (fusion.attributes.get("calls"), number))
        if kind in ("kLoop", "kInput"):
            return self.all_elementwise(at[0])
        root = self.instructions[self.root]
        if kind == "kOutput" and root.code == "add" and len(root.operands) == 2:
            product = [self.instructions[name].code in ("dot", "convolution") for name in root.operands]
            return any(product) and root.operands[product.index(True) ^ 1] == at[0] and len(self.users[at[0]]) == 1
        return False

    def all_elementwise(self, name):
        pending, seen = [name], set()
        while pending:
            at = pending.pop()
            seen.add(at)
            for user in self.users[at]:
                first = user.code == "dynamic-update-slice" and user.operands.index(at) == 0 and user.operands.count(at) == 1
                if user.code not in ELEMENTWISE and user.code != "tuple" and not first:
                    return False
                pending += [user.name] if user.name not in seen else []
        return True
