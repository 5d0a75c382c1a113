"""XLA's HLO text (after optimization) as JSON for `memsched schedule`: hlo.py FILE.hlo > FILE.json

Reads the entry computation: arrays, tuples of arrays, tokens, control predecessors. bitcast, tuple, get-tuple-element,
opt-barrier, domain and add-dependency name the storage of their operands; dynamic-update-slice may overwrite its first
operand; every other result has a buffer of its own, so the peak is an upper bound where XLA shares one. Constants take no bytes.
Bodies of fusions, reductions, sorts and the like take no memory of their own.

Refuses, in one line that names the instruction, what it cannot size exactly: nested tuples, dynamic dimensions, layouts with
tiles or memory spaces, element types of less than a byte or unknown ones, called bodies (call, while, conditional, custom calls
with computations), asynchronous pairs, results that share storage with operands (output_to_operand_aliasing, input_output_alias,
fusions whose result is a dynamic-update-slice).
"""
import json
import re
import sys

BYTES = {"token": 0, "c64": 8, "c128": 16, "bf16": 2, "pred": 1}
BYTES.update({kind + str(bits): bits // 8 for kind in "su" for bits in (8, 16, 32, 64)})
BYTES.update({"f%d" % bits: bits // 8 for bits in (16, 32, 64)})
BYTES.update(dict.fromkeys("f8e3m4 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu".split(), 1))
ALIASES = ("bitcast", "tuple", "opt-barrier", "optimization-barrier", "domain")
CALLS = ("call", "while", "conditional")
CLOSES = {"(": ")", "{": "}", "[": "]"}


class Unreadable(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Unreadable(reason)


def closing(text, start):
    """The position behind the bracket that closes the one at `start`; brackets in strings do not count."""
    open_ones = []
    for at in re.finditer(r'"(?:[^"\\]|\\.)*"|[][(){}]', text[start:]):
        c = at[0]
        if c in CLOSES:
            open_ones.append(CLOSES[c])
        elif c[0] != '"':
            need(open_ones.pop() == c, "brackets do not match")
        if not open_ones:
            return start + at.end()
    raise Unreadable("a bracket is not closed")


def split(text):
    """The parts between commas outside of all brackets."""
    parts, begin, at = [], 0, 0
    while at < len(text):
        if text[at] in CLOSES:
            at = closing(text, at)
        elif text[at] == ",":
            parts.append(text[begin:at])
            begin = at = at + 1
        else:
            at += 1
    return [p.strip() for p in parts + [text[begin:]] if p.strip()]


def array_bytes(shape):
    found = re.fullmatch(r"([a-z][a-z0-9]*)\[([^]]*)\](\{.*\})?", shape)
    need(found, "has the shape '%s', which is no array" % shape)
    kind, dims, layout = found.groups()
    need(kind in BYTES, "has elements of type %s, whose size is not known exactly" % kind)
    need(":" not in (layout or ""), "has the layout %s, with tiles or a memory space" % layout)
    size = BYTES[kind]
    for d in split(dims):
        need(re.fullmatch(r"[0-9]+", d), "has the dynamic dimension '%s'" % d)
        size *= int(d)
    return size


def sizes(shape):
    """Bytes of each array of a shape, and whether it is a tuple."""
    if not shape.startswith("("):
        return [array_bytes(shape)], False
    need(not any(part.startswith("(") for part in split(shape[1:-1])), "is a nested tuple")
    return [array_bytes(part) for part in split(shape[1:-1])], True


def instruction(line):
    """Whether it is the root, its name, shape, operation, operands and attributes, all as text."""
    head = re.match(r"\s*(ROOT\s+)?%?([\w.-]+)\s*=\s*", line)
    need(head, "is no instruction")
    try:
        at = head.end()
        shape = re.compile(r"\(|[a-z][a-z0-9]*\[").match(line, at)
        need(shape, "has no shape")
        end = closing(line, shape.end() - 1)
        if not line.startswith("(", at) and line.startswith("{", end):
            end = closing(line, end)
        code = re.compile(r"\s+([\w-]+)\(").match(line, end)
        need(code, "has no operation")
        close = closing(line, code.end() - 1)
        return bool(head[1]), head[2], line[at:end], code[1], line[code.end():close - 1], line[close:]
    except Unreadable as e:
        raise Unreadable("%s: %s" % (head[2], e)) from None


def ends_in_update(fused, bodies):
    """Whether a result of a fused computation is a dynamic-update-slice, seen through what only renames it."""
    need(fused in bodies, "calls %s, which is not in the text" % fused)
    found, pending, seen = {}, [], set()
    for line in bodies[fused]:
        root, name, _, code, operands, _ = instruction(line)
        found[name] = (code, [operand.split()[-1].lstrip("%") for operand in split(operands)])
        pending += [name] if root else []
    need(pending, "calls %s, which has no root" % fused)
    while pending:
        name = pending.pop()
        if name in seen or name not in found:
            continue
        seen.add(name)
        code, operands = found[name]
        if code == "dynamic-update-slice":
            return True
        if code in ALIASES + ("copy", "convert"):
            pending += operands
    return False


def node_of(name, shape, code, operands, attributes, defined, bodies):
    need(code not in CALLS, "is a %s: the memory of its body is not known" % code)
    need(not re.search(r"-(start|update|done)$|^(send|recv)$", code), "is asynchronous (%s): when its buffers end is not known" % code)
    called = re.search(r"called_computations=\{\s*[^\s}]", attributes) or code == "custom-call" and "to_apply=" in attributes
    need(not called, "calls computations, whose memory is not known")
    need(not re.search(r"output_to_operand_aliasing=\{\s*\{", attributes), "shares storage with an operand (output_to_operand_aliasing)")
    if code == "fusion":
        body = re.search(r"calls=%?([\w.-]+)", attributes)
        need(body, "is a fusion without calls=")
        need(not ends_in_update(body[1], bodies), "is a fusion that ends in a dynamic-update-slice, which may update in place")
    size, _ = sizes(shape)
    if code in ("parameter", "constant"):
        return {"name": name, "kind": "input", "op": code, "inputs": [], "bytes": [0 if code == "constant" else b for b in size]}
    inputs = [operand.split()[-1].lstrip("%") for operand in split(operands)]
    for i in inputs:
        need(i in defined, "reads %s, which no instruction before it defines" % i)
    node = {"name": name, "op": code, "inputs": inputs, "bytes": size}
    if code == "get-tuple-element":
        index = re.search(r"\bindex=(\d+)", attributes)
        need(len(inputs) == 1 and index and int(index[1]) < len(defined[inputs[0]]), "takes an element that its tuple does not have")
        node.update(view_of=inputs[0], element=int(index[1]))
    elif code in ALIASES:
        need(sum(len(defined[i]) for i in inputs) == len(size), "does not name as many arrays as its operands")
        node.update(view_of=inputs)
    elif code == "add-dependency":
        need(inputs, "has no operand")
        node.update(view_of=inputs[:1])
    elif code == "dynamic-update-slice":
        need(inputs, "has no operand")
        node.update(overwrites=inputs[0])
    before = re.search(r"control-predecessors=\{([^}]*)\}", attributes)
    if before:
        node["after"] = re.findall(r"[\w.-]+", before[1])
    return node


def is_open(line):
    """Whether an instruction goes on in the next line, as constants do."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", line)
    return sum(bare.count(c) for c in "([{") > sum(bare.count(c) for c in ")]}")


def computations(text):
    """The instructions of each computation by its name, and the name of the entry."""
    bodies, entry, current = {}, None, None
    for line in text.splitlines():
        if current and is_open(current[-1]):
            current[-1] += " " + line.strip()
            continue
        head = re.match(r"(ENTRY\s+)?%?([\w.-]+)\s*(\(.*)?\{\s*$", line)
        if head and not line.startswith("HloModule"):
            current = bodies.setdefault(head[2], [])
            entry = head[2] if head[1] else entry
        elif line.startswith("}"):
            current = None
        elif current is not None and line.strip():
            current.append(line)
    need(entry, "has no ENTRY computation")
    need(current is None, "ends within a computation")
    return bodies, entry


def nodes(text):
    """The nodes of the entry computation. Raises Unreadable."""
    text = re.sub(r"/\*.*?\*/", "", text)
    need(not re.search(r"^HloModule[^\n]*input_output_alias=\{\s*\{", text, re.M), "HloModule: results share storage with parameters (input_output_alias)")
    bodies, entry = computations(text)
    made, defined, results = [], {}, []
    for line in bodies[entry]:
        root, name, shape, code, operands, attributes = instruction(line)
        try:
            need(name not in defined, "is defined twice")
            node = node_of(name, shape, code, operands, attributes, defined, bodies)
        except Unreadable as e:
            raise Unreadable("%s: %s" % (name, e)) from None
        defined[name] = node["bytes"]
        made.append(node)
        results += [name] if root else []
    need(len(results) == 1, "ENTRY has %s ROOT instructions" % (len(results) or "no"))
    for node in made:
        for before in node.get("after", []):
            need(before in defined, "%s: has the control predecessor %s, which is not defined" % (node["name"], before))
    return made + [{"name": "(result)", "kind": "output", "inputs": results}]


def main():
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            found = nodes(file.read())
    except IndexError:
        sys.exit("usage: hlo.py FILE.hlo > FILE.json")
    except (OSError, UnicodeDecodeError, Unreadable) as e:
        sys.exit("hlo.py: %s: %s" % (sys.argv[1], " ".join(str(e).split())))
    print(json.dumps({"nodes": found}))


if __name__ == "__main__":
    main()
