"""XLA's HLO text (after optimization, unscheduled) as JSON for `memsched schedule`: hlo.py FILE.hlo > FILE.json"""
import json
import re
import sys

BYTES = {"pred": 1, "s8": 1, "u8": 1, "f8e4m3fn": 1, "f8e5m2": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4,
         "f32": 4, "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16, "token": 0}


def sizes(shape):  # of an array one, of a tuple one for each array in it
    found = []
    for kind, dims in re.findall(r"\b(\w+)\[([\d,]*)\]", shape):
        size = BYTES[kind]
        for d in filter(None, dims.split(",")):
            size *= int(d)
        found.append(size)
    return found


def nodes(text):
    entry = re.search(r"^ENTRY .*?\{\n(.*?)^\}", text, re.M | re.S)[1]
    for line in filter(str.strip, entry.splitlines()):
        root, name, shape, code, rest = re.match(
            r"\s*(ROOT )?%?([\w.-]+) = (\([^=]*?\)|\S+) ([\w-]+)\((.*)", line).groups()
        depth = 1
        for end, c in enumerate(rest):  # the parenthesis that closes the operands; their shapes may have some
            depth += {"(": 1, ")": -1}.get(c, 0)
            if depth == 0:
                break
        operands, attributes = rest[:end], rest[end:]
        inputs = re.findall(r"%([\w.-]+)", operands) if "%" in operands else re.findall(r"[\w.-]+", operands)
        node = {"name": name, "op": code, "inputs": inputs, "bytes": sizes(shape)}
        if code in ("parameter", "constant"):
            node.update(kind="input", inputs=[], bytes=[0 if code == "constant" else b for b in sizes(shape)])
        elif code == "get-tuple-element":
            node.update(view_of=inputs[0], element=int(re.search(r"index=(\d+)", attributes)[1]))
        elif code in ("bitcast", "tuple", "optimization-barrier"):
            node.update(view_of=inputs)
        elif code == "dynamic-update-slice":
            node.update(overwrites=inputs[0])
        before = re.search(r"control-predecessors=\{([^}]*)\}", attributes)
        if before:
            node["after"] = re.findall(r"[\w.-]+", before[1])
        yield node
        if root:
            yield {"name": "(result)", "kind": "output", "inputs": [name]}


if __name__ == "__main__":
    json.dump({"nodes": list(nodes(open(sys.argv[1]).read()))}, sys.stdout)
