"""Puts an order of `memsched schedule --format json` back into HLO text."""
import re
from hlo_text import need, names_in


def positions(graph, names):
    """The position of each operator in an order, which must be one of this graph."""
    need(sorted(names) == sorted(op.instruction.name for op in graph.operators), "is the order of another graph")
    at = {name: k for k, name in enumerate(names)}
    for op in graph.operators:
        i = op.instruction
        for before in i.operands + names_in(i.attributes.get("control-predecessors", "")):
            need(at.get(before, -1) < at[i.name], "has %s before %s, which has to run first" % (i.name, before))
    return at


def with_predecessor(text, name):
    """The text of an instruction with one more control predecessor."""
    percent = "%" if re.match(r"(ROOT\s+)?%", text) else ""
    given = re.search(r"(,\s*control-predecessors\s*=\s*\{[^}]*?)\s*\}", text)
    if not given:
        return text + ", control-predecessors={%s%s}" % (percent, name)
    return text[:given.end(1)] + (", " if given[1].rstrip()[-1] != "{" else "") + percent + name + text[given.end(1):]


def scheduled(module, is_scheduled):
    """The text of the module up to its first computation, with is_scheduled=true or without."""
    begin, end = module.spans.get("is_scheduled", (module.head, module.head))
    return begin, end, ", is_scheduled=true" if is_scheduled else ""


def rewritten(module, graph, names, how):
    """The text of the module with the instructions of one computation in the order of `names`, after its parameters and
    constants. "schedule" says is_scheduled=true: XLA then takes the order of each computation's text as its schedule.
    "control" makes each instruction a control predecessor of the next, which leaves XLA's schedulers no other order."""
    at = positions(graph, names)
    text, computation = module.text, graph.computation
    inputs = [i for i in computation.instructions if i.name not in at]
    ordered = sorted((op.instruction for op in graph.operators), key=lambda i: at[i.name])
    lines = [text[i.begin:i.end] for i in inputs]
    for k, i in enumerate(ordered):
        line = text[i.begin:i.end]
        known = i.operands + names_in(i.attributes.get("control-predecessors", ""))
        if how == "control" and k and ordered[k - 1].name not in known:
            line = with_predecessor(line, ordered[k - 1].name)
        lines.append(line)
    first = computation.instructions[0].begin
    indent = re.search(r"[ \t]*$", text[:first])[0]
    body = "\n" + "".join(indent + line + "\n" for line in lines)
    begin, end, said = scheduled(module, how == "schedule")
    return text[:begin] + said + text[end:computation.begin] + body + text[computation.end:]
