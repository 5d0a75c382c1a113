"""The buffers that an HLO computation needs, after the rules of XLA's HloDataflowAnalysis, HloAliasAnalysis and HeapSimulator.

A value is what one instruction defines at one place of its result: an array, or the table of pointers of a tuple. Instructions
that only name values (get-tuple-element, tuple, bitcast, ...) read them and define none but a table. A value may have a home:
an earlier value whose buffer it takes. Each called computation is counted in the order of its text.

Model(module).graph(name) gives the values and operators of a computation; Graph.json() is what `memsched schedule` reads.
"""
import re
from collections import Counter
from hlo_rules import FREE, Fused, aliasing, in_place, may_share, named, part
from hlo_text import Reason, Unreadable, need, names_in, size_of, subshapes

NEVER, END = -1, float("inf")
DEEPEST = 60  # of calls


class Value:
    def __init__(self, name, shape, size, space, op, constant=False):
        self.name, self.shape, self.size, self.space = name, shape, size, space
        self.op = op  # the operator that defines it; None for parameters and constants
        self.constant = constant
        self.homes = []  # values whose buffer it may have to take, the first that will do; and whether its operator says so
        self.lost = False  # whether a called computation changes it and does not return it
        self.home = self.heir = None  # the value whose buffer it took; the value that took its buffer
        self.readers = []

    def storage(self):
        at = self
        while at.home:
            at = at.home
        return at


class Operator:
    def __init__(self, instruction, number):
        self.instruction, self.number = instruction, number
        self.inputs, self.outputs, self.after, self.workspace = [], [], set(), 0
        self.branches = []  # called computations of which one runs
        self.changed = []  # inputs that a called computation changes and does not return
        self.overwrites = {}  # by output: the input whose buffer it may take


class Graph:
    """The values and operators of one computation, in the order of its text."""

    def __init__(self, model, computation, one_buffer, read_only):
        """`one_buffer` pairs paths of the root with values of parameters, as (path, number, path); "loop" pairs all with those
        of parameter 0. `read_only`: parameters that are in no pair keep what they hold."""
        self.model, self.computation = model, computation
        self.inputs, self.operators, self.trees, self.operator_of = [], [], {}, {}
        self.parameters, self.root = {}, None
        self.users = Counter(name for i in computation.instructions for name in set(i.operands))
        self.pending = {}  # by name of an asynchronous call: what its body needs until its end is awaited
        for instruction in computation.instructions:
            try:
                self.add(instruction)
            except Reason as e:
                raise Unreadable(instruction.line, "%s: %s" % (instruction.name, e)) from None
        try:
            self.settle(one_buffer, read_only)
        except Reason as e:
            raise Unreadable(computation.line, "%s: %s" % (computation.name, e)) from None

    # Values that each instruction defines and reads.

    def add(self, i):
        for name in i.operands:
            need(name in self.trees, "reads %s, which no instruction before it defines" % name)
        for name in names_in(i.attributes.get("control-predecessors", "")):
            need(name in self.trees, "has the control predecessor %s, which no instruction before it defines" % name)
        before = {self.operator_of[n] for n in names_in(i.attributes.get("control-predecessors", "")) if n in self.operator_of}
        if i.code == "parameter" or i.code == "constant" and not before:
            need(not before, "is a parameter with control predecessors")
            self.add_input(i)
        else:
            self.add_operator(i, before)
        if i.root:
            self.root = self.trees[i.name]

    def add_input(self, i):
        tree = {path: self.value(i, path, shape, None) for path, shape in subshapes(i.shape)}
        self.trees[i.name] = tree
        self.inputs += tree.values()
        if i.code == "constant":
            return
        need(re.fullmatch("[0-9]{1,9}", i.argument), "is parameter(%s)" % i.argument[:20])
        need(int(i.argument) not in self.parameters, "is parameter %s, as another is" % i.argument)
        self.parameters[int(i.argument)] = tree

    def value(self, i, path, shape, op):
        size = size_of(shape, self.model.pointer)
        space = 0 if isinstance(shape, list) else shape.space
        name = i.name + ("{%s}" % ",".join(map(str, path)) if path else "")
        return Value(name, shape, 0 if i.code == "constant" else size, space, op, i.code == "constant")

    def add_operator(self, i, before):
        op = Operator(i, len(self.operators))
        operands = [self.trees[name] for name in i.operands]
        tree = self.assemble(i, op, named(i, operands))
        op.outputs = [v for v in tree.values() if v.op is op]
        if i.code == "get-tuple-element":
            used = [operands[0][()]] + list(tree.values())
        else:
            used = [v for operand in operands for v in operand.values()]
        op.inputs = list(dict.fromkeys(v for v in used if v.op is not op))
        written_by = {v.op for v in op.inputs}
        op.after = before | {self.operator_of[n] for n in i.operands if n in self.operator_of} - written_by
        self.operators.append(op)
        self.trees[i.name], self.operator_of[i.name] = tree, op
        self.call(i, op, operands, tree)
        for out, number, path in in_place(i, self.model.fused):
            need(number < len(operands), "shares storage with operand %d, which it does not have" % number)
            need(out in tree and path in operands[number], "shares storage of an element that is not there")
            tree[out].homes.append((operands[number][path], True))

    def assemble(self, i, op, named):
        """The result of an instruction: what stands in `named`, trees by path, and new values elsewhere."""
        tree = {}
        for path, shape in subshapes(i.shape):
            for k in range(len(path) + 1):
                if path[:k] in named:
                    old = named[path[:k]].get(path[k:])
                    alike = old and isinstance(old.shape, list) == isinstance(shape, list)
                    need(alike, "does not have the shape of its operands")
                    tree[path] = old
                    break
            else:
                tree[path] = self.value(i, path, shape, op)
        for path, whole in named.items():
            need(all(path + p in tree for p in whole), "does not have the shape of its operands")
        return tree

    # Called computations.

    def called(self, i, *keys):
        names = [name for key in keys for name in names_in(i.attributes.get(key, ""))]
        need(names, "calls no computation (%s=)" % keys[0])
        return [self.model.graph(name) for name in names]

    def call(self, i, op, operands, tree):
        if i.code == "while":
            bodies = self.called(i, "condition") + self.called(i, "body")
            for g in bodies:
                g.check_arguments(operands)
            need(len(bodies) == 2, "does not call a condition and a body")
            copied = sum(map(self.bytes_of, bodies[0].changed(operands)))
            op.workspace = max(bodies[0].above([]) + copied, bodies[1].above([]))
            for path, v in tree.items():
                need(path in operands[0], "does not have the shape of its operand")
                v.homes.append((operands[0][path], True))
        elif i.code == "call":
            self.inline(i, op, operands, tree, self.called(i, "to_apply"))
        elif i.code == "conditional":
            keys = ["branch_computations"] if "branch_computations" in i.attributes else ["true_computation", "false_computation"]
            branches = self.called(i, *keys)
            need(len(operands) == len(branches) + 1, "has %d operands for %d branches" % (len(operands), len(branches)))
            for k, g in enumerate(branches):
                g.check_arguments([operands[k + 1]])
                g.check_result(tree)
                op.changed += [v for v in g.changed([operands[k + 1]]) if v not in op.changed]
            op.branches = branches
            for path, v in tree.items():
                sources = [g.origin(path, [operands[k + 1]]) for k, g in enumerate(branches)]
                taken = {source for source, changed in sources if changed}
                v.homes += [(source, True) for source in taken] if len(taken) == 1 else []
        elif i.code in ("async-start", "call-start"):
            self.begin(i, op, operands, tree, self.called(i, "calls" if "calls" in i.attributes else "to_apply"))
        elif i.code.endswith(("-done", "-update")) and i.operands[0] in self.pending:
            self.pending[i.name] = self.pending[i.operands[0]]
            op.inputs.append(self.pending[i.name])

    def check_result(self, tree):
        need(set(self.root) == set(tree), "does not have the shape of the result of %s" % self.computation.name)

    def check_arguments(self, operands):
        need(len(self.parameters) == len(operands), "gives %s %d arguments" % (self.computation.name, len(operands)))
        for number, operand in enumerate(operands):
            need(set(self.parameters[number]) == set(operand), "gives %s an argument of another shape" % self.computation.name)

    def inline(self, i, op, operands, tree, graphs):
        """A call names what its body returns of the operands; the rest it defines."""
        need(len(graphs) == 1, "calls %d computations" % len(graphs))
        graphs[0].check_arguments(operands)
        op.workspace = graphs[0].above(graphs[0].root)
        op.changed += graphs[0].changed(operands)
        graphs[0].check_result(tree)
        made = {}  # by value of the body: the value of the call
        for path in list(tree):
            source, changed = graphs[0].origin(path, operands)
            if source and not changed:
                op.outputs.remove(tree[path])
                tree[path] = source
            elif source:
                tree[path].homes.append((source, True))
            else:
                first = made.setdefault(graphs[0].root[path], tree[path])
                if first is not tree[path]:
                    op.outputs.remove(tree[path])
                tree[path] = first

    def begin(self, i, op, operands, tree, graphs):
        """Holds the memory of the body of an asynchronous call until its end is awaited."""
        need(len(graphs) == 1, "calls %d computations" % len(graphs))
        graphs[0].check_arguments(operands)
        self.pending[i.name] = Value(i.name + "{workspace}", None, graphs[0].above(graphs[0].root), self.model.space, op)
        op.outputs.append(self.pending[i.name])
        op.changed += graphs[0].changed(operands)
        graphs[0].check_result(part(tree, (1,)))
        for path, v in part(tree, (1,)).items():
            source, changed = graphs[0].origin(path, operands)
            v.homes += [(source, True)] if source and changed else []

    def origin(self, path, operands):
        """The value of the operands whose buffer a place of the result has, and whether the computation changes it."""
        value = self.root[path]
        for number, tree in self.parameters.items():
            for at, parameter in tree.items():
                if parameter is value.storage():
                    return operands[number][at], value is not parameter
        return None, False

    def changed(self, operands):
        """The values of the operands that the computation changes and does not return."""
        returned = {v.storage() for v in self.kept}
        return [operands[number][path] for number, tree in self.parameters.items() for path, v in tree.items()
                if (v.heir or v.lost) and v not in returned]

    # Values that take the buffers of others.

    def settle(self, one_buffer, read_only):
        need(self.root is not None, "has no result")
        count = len(self.parameters)
        need(set(self.parameters) == set(range(count)), "does not have parameters 0 to %d" % (count - 1))
        pairs = self.pairs(one_buffer)
        for number, path, source in pairs:
            self.lead_home(self.root[path], self.parameters[number][source])
        donated = {self.parameters[number][source] for number, _, source in pairs}
        self.kept = list(dict.fromkeys(self.root.values()))
        for op in self.operators:
            for v in op.inputs:
                v.readers.append(op.number)
        for v in self.kept:
            v.readers.append(END)
        fixed = {v for tree in self.parameters.values() for v in tree.values()} - donated if read_only else set()
        for op in self.operators:
            for v in op.outputs:
                self.find_home(op, v, fixed)
            for v in op.changed:
                self.change(op, v, fixed)
            if op.branches:
                own = [path for path, v in self.trees[op.instruction.name].items() if not v.home]
                op.workspace += max(g.above(own) for g in op.branches)
        for op in self.operators:
            self.find_overwrites(op)
        if self.model.keep_async:
            self.keep_apart()

    def pairs(self, one_buffer):
        found = []
        if one_buffer == "loop":
            need(list(self.parameters) == [0], "is the body of a loop and has %d parameters" % len(self.parameters))
            same = set(self.root) == set(self.parameters[0])
            need(same, "is the body of a loop and does not return the shape of its parameter")
            return [(0, path, path) for path, v in self.root.items() if v.op]
        for out, number, path in one_buffer:
            need(path in self.parameters.get(number, {}), "has an alias of parameter %d, which is not there" % number)
            need(out in self.root, "has an alias of a result that is not there")
            found.append((number, out, path))
        return found

    def lead_home(self, v, home):
        """The buffer of a result is that of a parameter; so is that of each value whose buffer the result has to take."""
        while v and (home, False) not in v.homes:
            v.homes.append((home, False))
            v = next((old for old, own in v.homes if own), None)

    def find_home(self, op, v, fixed):
        """A value takes the buffer of an earlier one that is free to take: of the same size, and read by nothing later. XLA
        copies others first, so that the value has bytes of its own."""
        for named, own in v.homes:
            old = named if own else newest(named)
            last = max(old.readers, default=NEVER)
            free = not old.constant and not old.heir and old not in fixed and old.op is not op and last <= op.number
            same = old.size == v.size and old.space == v.space
            if free and same and (own or op.number not in old.readers or self.shares(op, v, old)):
                v.home, old.heir = old, v
                if old not in op.inputs:
                    op.inputs.append(old)
                    old.readers.append(op.number)
                return

    def change(self, op, v, fixed):
        """A called computation changes a value that nothing reads later: all readers run before. Else XLA copies it first."""
        if v.heir and v.heir.op is op:
            return
        if v.constant or v.heir or v.lost or v in fixed or max(v.readers) > op.number:
            op.workspace += v.size if v.space == self.model.space else 0
        else:
            v.lost = True
            op.after |= {self.operators[k] for k in v.readers} - {op}

    def may_share(self, op, path, number):
        return may_share(op.instruction, path, number, self.users[op.instruction.operands[number]], self.model.fused)

    def shares(self, op, v, old):
        path = next(p for p, other in self.trees[op.instruction.name].items() if other is v)
        return any(self.trees[name].get(()) is old and old.shape == v.shape and self.may_share(op, path, k)
                   for k, name in enumerate(op.instruction.operands))

    def find_overwrites(self, op):
        for path, v in self.trees[op.instruction.name].items():
            if v.op is not op or v.home or v.heir or isinstance(v.shape, list):
                continue
            candidates = []
            for k, name in enumerate(op.instruction.operands):
                old = self.trees[name].get(())
                if old.op and old.op is self.operator_of.get(name) and not old.home and not old.heir and old.shape == v.shape \
                        and old not in op.overwrites.values() and self.may_share(op, path, k):
                    candidates.append(old)
            ending = [old for old in candidates if max(old.readers) == op.number]
            if candidates:
                op.overwrites[v] = (ending or candidates)[0]

    def keep_apart(self):
        """Keeps between a start and its done the operators that stand there in the text: each runs after the start and before
        the done, by an edge where no other operator between them implies it."""
        for done in self.operators:
            start = self.start_of(done)
            if start is None:
                continue
            between = self.operators[start.number + 1:done.number]
            behind = {start}
            for op in between:
                if behind & (op.after | {v.op for v in op.inputs}):
                    behind.add(op)
                elif op.instruction.code not in FREE:
                    op.after.add(start)
                    behind.add(op)
            needed = set(done.after) | {v.op for v in done.inputs}
            for op in reversed(between):
                if op in needed:
                    needed |= op.after | {v.op for v in op.inputs}
                elif op.instruction.code not in FREE:
                    done.after.add(op)
                    needed |= {op} | op.after | {v.op for v in op.inputs}

    def start_of(self, done):
        if not done.instruction.code.endswith("-done") or not done.instruction.operands:
            return None
        at = self.operator_of.get(done.instruction.operands[0])
        while at and at.instruction.code.endswith("-update"):
            at = self.operator_of.get(at.instruction.operands[0])
        return at

    # Costs, and the graph for memsched.

    def bytes_of(self, v):
        return v.size if v.space == self.model.space and not v.home else 0

    def above(self, returned):
        """The peak above the parameters, which live throughout, and above the results in `returned`, paths, that have buffers of
        their own and count for the caller: what a call needs as its workspace."""
        parameters = {v for tree in self.parameters.values() for v in tree.values()}
        results = {self.root[path].storage() for path in returned} - parameters
        return max(0, self.peak() - sum(map(self.bytes_of, parameters | results)))

    def peak(self):
        """The peak of the order of the text, as `memsched` counts it."""
        last, stays = {}, {v.storage() for v in self.kept} | {v for tree in self.parameters.values() for v in tree.values()}
        for op in self.operators:
            for v in op.inputs + op.outputs:
                last[v.storage()] = op
        live = peak = sum(self.bytes_of(v) for v in stays if v.op is None)
        ends = {}
        for v, op in last.items():
            if v not in stays:
                ends.setdefault(op, []).append(v)
        for op in self.operators:
            made = sum(map(self.bytes_of, op.outputs))
            saved = sum(self.bytes_of(v) for v, old in op.overwrites.items() if last[old] is op and old not in stays)
            peak = max(peak, live + made + op.workspace - saved)
            live += made - sum(map(self.bytes_of, ends.get(op, [])))
        return peak

    def json(self):
        values = self.inputs + [v for op in self.operators for v in op.outputs]
        number = {v: k for k, v in enumerate(values)}
        tensors = [{"name": v.name, "bytes": self.bytes_of(v)} | ({"alias_of": number[v.home]} if v.home else {}) for v in values]
        kept = dict.fromkeys(v for tree in self.parameters.values() for v in tree.values())
        kept.update(dict.fromkeys(self.kept))
        module, own = self.model.module, self.computation.name
        return {"name": module.name if own == module.entry else module.name + "." + own,
                "ops": [self.operator_json(op, number) for op in self.operators], "tensors": tensors,
                "graph_inputs": [number[v] for v in self.inputs],
                "graph_outputs": list(dict.fromkeys(number[newest(v)] for v in kept))}

    def operator_json(self, op, number):
        made = {"name": op.instruction.name, "op": op.instruction.code, "inputs": [number[v] for v in op.inputs],
                "outputs": [number[v] for v in op.outputs]}
        if op.after:
            made["after"] = sorted(before.number for before in op.after)
        if op.workspace:
            made["workspace"] = op.workspace
        if any(v.home for v in op.outputs):
            made["updates"] = [op.inputs.index(v.home) for v in op.outputs if v.home]
        if op.overwrites:
            made["overwrites"] = [[op.outputs.index(v), op.inputs.index(old)] for v, old in op.overwrites.items()]
        return made


def newest(v):
    while v.heir:
        v = v.heir
    return v


class Model:
    """How the computations of a module use one memory space."""

    def __init__(self, module, space=0, pointer=8, keep_async=True):
        self.module, self.space, self.pointer, self.keep_async = module, space, pointer, keep_async
        self.made, self.open, self.bodies_of_fusions = {}, [], {}
        self.bodies = {name for c in module.computations.values() for i in c.instructions if i.code == "while"
                       for name in names_in(i.attributes.get("body", ""))}

    def computation(self, text):
        name = (names_in(text) or [""])[0]
        need(name in self.module.computations, "calls %s, which is not in the text" % (name or "no computation"))
        return self.module.computations[name]

    def fused(self, text):
        computation = self.computation(text)
        if computation.name not in self.bodies_of_fusions:
            self.bodies_of_fusions[computation.name] = Fused(computation)
        return self.bodies_of_fusions[computation.name]

    def graph(self, name):
        if name in self.made:
            return self.made[name]
        computation = self.computation(name)
        need(name not in self.open, "calls %s, which calls it" % name)
        need(len(self.open) < DEEPEST, "calls computations more than %d deep" % DEEPEST)
        self.open.append(name)
        is_entry = name == self.module.entry
        one_buffer = self.donated() if is_entry else "loop" if name in self.bodies else []
        self.made[name] = Graph(self, computation, one_buffer, is_entry)
        self.open.pop()
        return self.made[name]

    def donated(self):
        try:
            return aliasing(self.module.attributes.get("input_output_alias", "{}"))
        except Reason as e:
            raise Unreadable(1, "input_output_alias: %s" % e) from None
