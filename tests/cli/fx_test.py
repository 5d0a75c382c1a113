#!/usr/bin/env python3
"""Exports modules that write in place, share storages and draw random numbers by examples/exporters/fx.py: every order that
the graph allows computes the same. Tests what it refuses, too.

usage: fx_test.py PROGRAM SOURCES [RANDOM_PROGRAMS]
"""
import contextlib
import io
import json
import operator
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

program, sources = sys.argv[1], Path(sys.argv[2])
programs = int(sys.argv[3]) if len(sys.argv) > 3 else 150
sys.dont_write_bytecode = True
sys.path.insert(0, str(sources / "examples/exporters"))
import fx

directory = tempfile.TemporaryDirectory()
graph_path, result_path = Path(directory.name, "fx.json"), Path(directory.name, "result.json")
failures = 0


def check(what, holds):
    global failures
    if not holds:
        failures += 1
        print("FAILED: " + what)


def module(function, **members):
    """A module whose forward is function(self, ...)."""
    made = type(function.__name__, (nn.Module,), {"forward": function})()
    for name, value in members.items():
        setattr(made, name, value)
    return made


def some_order(nodes, draw, keys=("inputs", "after")):
    """The operators in an order at random among those that the graph allows."""
    operators = {n["name"]: n for n in nodes if n["kind"] == "operator"}
    open_ones = {name: {i for key in keys for i in n.get(key, []) if i in operators} for name, n in operators.items()}
    names = []
    while open_ones:
        names.append(draw.choice([name for name, before in open_ones.items() if not before]))
        del open_ones[names[-1]]
        for before in open_ones.values():
            before.discard(names[-1])
    return names


def outcome(graph, inputs):
    """The outputs, and what the inputs and the buffers hold afterwards."""
    inputs = [i.clone() for i in inputs]
    buffers = {name: b.clone() for name, b in graph.named_buffers()}
    torch.manual_seed(7)
    out = graph(*inputs)
    after = [out] + inputs + [b.clone() for b in graph.buffers()]
    for name, b in graph.named_buffers():
        b.copy_(buffers[name])
    return [a.clone() for a in after]


def same(a, b):
    return all(torch.equal(x, y) or torch.equal(x.isnan(), y.isnan()) and torch.equal(x.nan_to_num(), y.nan_to_num())
               for x, y in zip(a, b))


def in_order(graph, names, inputs):
    result_path.write_text(json.dumps({"names": names}))
    fx.reorder(graph, result_path)
    graph.graph.lint()
    return outcome(graph, inputs)


def nodes_of(made, inputs):
    graph = fx.write_fx(made, inputs, graph_path)
    return graph, {n["name"]: n for n in json.loads(graph_path.read_text())["nodes"]}


def keeps(what, made, *inputs, orders=30):
    """Every order computes the same, that of the program as well. Returns the nodes by name and the program's answer."""
    draw = random.Random(1)
    graph, nodes = nodes_of(made, inputs)
    expected = outcome(graph, inputs)
    for _ in range(orders):
        check(what + ": an order that the graph allows computes something else",
              same(expected, in_order(graph, some_order(nodes.values(), draw), inputs)))
    r = subprocess.run([program, "schedule", str(graph_path), "--format", "json"], capture_output=True, text=True)
    check("%s: the program reads it: %s" % (what, r.stderr), r.returncode == 0)
    if r.returncode:
        return nodes, None
    answer = json.loads(r.stdout)
    check(what + ": the program's order computes something else", same(expected, in_order(graph, answer["names"], inputs)))
    return nodes, answer


def refused(what, words, made, *inputs):
    try:
        fx.write_fx(made, inputs, graph_path)
        check(what + " is refused", False)
    except fx.Unreadable as e:
        check("%s: one line: %s" % (what, e), "\n" not in str(e))
        for word in words:
            check("%s: names %s: %s" % (what, word, e), word in str(e))


torch.manual_seed(1)
x = torch.randn(4, 64)


# In place: the value that a node overwrites has other readers, before and after.
def residual(self, x):
    h = self.a(x)
    k = torch.cat([h, h, h, h], 1).sum(1, keepdim=True)
    y = self.d(self.c(x))
    return y + self.r(h) * k


def for_effect(self, x):
    h = self.a(x)
    y = self.d(self.c(x))
    k = torch.cat([h, h, h, h], 1).sum(1, keepdim=True)
    self.r(h)
    return y + h * k


layers = {"a": nn.Linear(64, 64), "c": nn.Linear(64, 512), "d": nn.Linear(512, 64)}
with torch.no_grad():
    for function in (residual, for_effect):
        nodes, _ = keeps("a module in place, " + function.__name__, module(function, r=nn.ReLU(inplace=True), **layers), x)
        check("the rectified value is that of a", nodes["r"]["view_of"] == ["a"] or nodes["r"]["view_of"] == "a")
        check("after its readers: %s" % nodes["r"], "cat" in nodes["r"]["after"])


def both(write):
    """Reads a value, writes it by `write`, and reads it again."""
    def around(self, x):
        h = x + 1
        before = h * 2
        write(h)
        wide = torch.cat([x, x, x, x]).sum()
        return before * h + wide
    return module(around)


def call(function, h, *arguments):
    """A call that tracing does not see by itself, and other front ends of fx do."""
    return h.tracer.create_proxy("call_function", function, (h,) + arguments, {})


writes = {
    "relu inplace": lambda h: F.relu(h, inplace=True),
    "operator.iadd": lambda h: call(operator.iadd, h, h),
    "operator.imul": lambda h: call(operator.imul, h, 3),
    "setitem": lambda h: call(operator.setitem, h, slice(0, 2), 5.0),
    "setitem through a view": lambda h: call(operator.setitem, h.view(-1), slice(0, 9), 5.0),
    "out=": lambda h: torch.mul(h, 3, out=h),
    "index_put_": lambda h: torch.index_put_(h, (torch.tensor([1]),), torch.zeros(64)),
    "two methods on one value": lambda h: (h.add_(1), h.mul_(2)),
    "two methods on two views": lambda h: (h.t().add_(1), h.view(-1)[3:].mul_(2)),
    "a method on .data": lambda h: h.data.mul_(2),
    "a method on detach()": lambda h: h.detach().mul_(2),
    "zero_": lambda h: h.zero_(),
    "uniform_": lambda h: h.uniform_(),
}
for what, write in writes.items():
    nodes, _ = keeps(what, both(write), x)
    check("%s: something is ordered" % what, any("mul" in n.get("after", []) for n in nodes.values()))


def buffer_of(x, name):
    """A buffer by its name: an attribute would be read while the module is traced."""
    return x.tracer.create_proxy("get_attr", name, (), {})


def input_in_place(self, x):
    y = x * 2
    x.add_(1)
    return y + x


def statistics(self, x):
    return self.n(x) + self.n(x * 2) + buffer_of(x, "n.running_mean").sum()


def counter(self, x):
    steps = buffer_of(x, "steps")
    y = x + steps
    steps.add_(1)
    return y * steps


def dropped(self, x):
    return F.dropout(x, 0.5, True) + torch.cat([self.drop(x), torch.rand_like(x)], 1).sum() + torch.bernoulli(x.sigmoid())


def weight(self, x):
    y = self.l(x)
    buffer_of(x, "l.running_mean").add_(1)
    return y + self.l(x)


kept = x.clone()
keeps("a buffer that a module reads", module(weight, l=nn.BatchNorm1d(64).eval()), x)
keeps("an input", module(input_in_place), x)
check("the caller's input is as it was", torch.equal(kept, x))
norm = nn.BatchNorm1d(64)
keeps("statistics", module(statistics, n=norm), x)
check("the module is as it was", int(norm.num_batches_tracked) == 0)
with_steps = module(counter)
with_steps.register_buffer("steps", torch.zeros(1))
keeps("a buffer", with_steps, x)
keeps("random numbers", module(dropped, drop=nn.Dropout(0.5)), x)
torch.manual_seed(3)
state = torch.get_rng_state()
nodes_of(module(dropped, drop=nn.Dropout(0.5)), [x])
check("the random state is as it was", torch.equal(state, torch.get_rng_state()))


def positive(self, x):
    h = x.abs()
    return h * 2 + h.relu_()


def told(self, x):
    tells(x)
    tells(x * 2)
    return x


@torch.fx.wrap
def tells(x):
    pass


nodes, _ = keeps("a write that changes nothing here", module(positive), x)
check("is one all the same: %s" % nodes["relu_"], "mul" in nodes["relu_"]["after"])
nodes, _ = keeps("nodes that return nothing", module(told), x)
check("keep their order: %s" % nodes["tells_1"], nodes["tells_1"]["after"] == ["tells"])


# Views have no memory of their own.
def views(self, x):
    parts = (x * 2).chunk(2, 1)
    flat = parts[1].reshape(2, -1) if self.copies else parts[1].view(4, 4, 8)
    return flat.sum() + parts[0].sum() + self.weight.t().sum()


nodes, answer = keeps("views", module(views, copies=False, weight=nn.Parameter(torch.ones(3, 5))), x)
check("chunks name their operand", nodes["chunk"]["view_of"] == "mul" and nodes["getitem_1"]["view_of"] == "chunk")
check("a view of a weight has no bytes", nodes["t"]["bytes"] == 0)
check("the peak holds one copy, not three: %s" % answer["peak"], answer["peak"] < 3 * 1024)
nodes, _ = keeps("a copy", module(views, copies=True, weight=nn.Parameter(torch.ones(3, 5))), x)
check("reshape copies what has no such view: %s" % nodes["reshape"], nodes["reshape"]["bytes"] == 512)


def nested(self, x):
    both = self.l(x)
    state = both[1]
    return both[0].sum() + state[0].sum() * state[1].sum()


nodes, _ = keeps("nested results", module(nested, l=nn.LSTM(64, 8)), x)
check("three values", nodes["l"]["bytes"] == [128, 32, 32])


# Refused by name.
def grad_mode(self, x):
    y = x * 2
    x.tracer.create_proxy("call_function", torch._C._set_grad_enabled, (True,), {})
    return y


def default_type(self, x):
    call(changes_default, x)
    return x * 2


def changes_default(x):
    torch.set_default_dtype(torch.float64)
    return 1


class Holds:
    pass


torch.fx.wrap("holds")
torch.fx.wrap("moved")
torch.fx.wrap("both_kinds")


def holds(x):
    made = Holds()
    made.value = x * 2
    return made


def moved(x):
    return x.set_(torch.ones(3))


def both_kinds(x):
    return x, x * 2


refused("an effect that is not seen", ["_set_grad_enabled", "effect"], module(grad_mode), x)
refused("a change of mode", ["changes_default", "mode"], module(default_type), x)
torch.set_default_dtype(torch.float32)
refused("a class that holds tensors", ["holds:", "Holds"], module(lambda self, x: holds(x)), x)
refused("another storage", ["moved:", "storage"], module(lambda self, x: moved(x * 2)), x)
refused("views beside new tensors", ["both_kinds:", "together"], module(lambda self, x: both_kinds(x * 2)[1]), x)
with torch.inference_mode():
    refused("tensors of inference mode", ["mul:", "inference"], module(lambda self, x: x * 2), x)
refused("sparse tensors", ["to_sparse:", "sparse"], module(lambda self, x: x.to_sparse()), x)
refused("meta tensors", ["to:", "meta"], module(lambda self, x: x.to("meta")), x)
try:
    in_order(fx.write_fx(module(lambda self, x: x + 1), [x], graph_path), ["sub"], [x])
    check("an order of another graph is refused", False)
except ValueError as e:
    check("says so: %s" % e, "another graph" in str(e))


# Random programs, each in some orders that its graph allows.
def random_program(draw):
    graph = torch.fx.Graph()
    pool = [graph.placeholder("x"), graph.placeholder("y"), graph.get_attr("buffer")]
    pick = lambda: draw.choice(pool[-6:] if draw.random() < 0.8 else pool)

    def parts():
        chunks = graph.call_function(torch.chunk, (pick(), 2))
        halves = [graph.call_function(operator.getitem, (chunks, i)) for i in (0, 1)]
        graph.call_method(draw.choice(["add_", "mul_", "mul"]), (halves[draw.randrange(2)], 2.0))
        return graph.call_function(torch.cat, (halves,))

    makes = [
        lambda: graph.call_function(operator.add, (pick(), pick())),
        lambda: graph.call_function(torch.sub, (pick(), pick())),
        lambda: graph.call_module("linear", (pick(),)),
        lambda: graph.call_method("t", (pick(),)),
        lambda: graph.call_method("contiguous", (pick(),)),
        lambda: graph.call_function(torch.flip, (pick(), [0])),
        lambda: graph.call_method("detach", (pick(),)),
        lambda: graph.call_method("add_", (pick(), 1.0)),
        lambda: graph.call_method("mul_", (pick(), 0.5)),
        lambda: graph.call_method("copy_", (pick(), pick())),
        lambda: graph.call_function(F.relu, (pick(),), {"inplace": draw.random() < 0.5}),
        lambda: graph.call_function(operator.isub, (pick(), pick())),
        lambda: graph.call_function(torch.add, (pick(), pick()), {"out": pick()}),
        lambda: graph.call_module("relu", (pick(),)),
        lambda: graph.call_module("norm", (pick(),)),
        lambda: graph.call_module("drop", (pick(),)),
        lambda: graph.call_function(torch.rand_like, (pick(),)),
        parts,
    ]
    for _ in range(draw.randint(6, 16)):
        if draw.random() < 0.1:
            graph.call_function(operator.setitem, (pick(), slice(1, 3), float(draw.randrange(9))))
        made = draw.choice(makes)()
        if draw.random() < 0.9:
            pool.append(made)
    out = pool[-1]
    for other in draw.sample(pool, 3):
        out = graph.call_function(operator.add, (out, other))
    graph.output(out)
    root = nn.Module()
    root.linear, root.relu, root.norm, root.drop = nn.Linear(4, 4), nn.ReLU(inplace=True), nn.BatchNorm1d(4), nn.Dropout(0.5)
    root.register_buffer("buffer", torch.randn(4, 4))
    return torch.fx.GraphModule(root, graph)


draw, ran, noticed = random.Random(5), 0, 0
torch.manual_seed(5)
inputs = [torch.randn(4, 4), torch.randn(4, 4)]
while ran < programs:
    with torch.no_grad():
        made = random_program(draw)
        try:
            with contextlib.redirect_stderr(io.StringIO()):
                outcome(made, inputs)
        except RuntimeError:  # PyTorch refuses to write some views
            continue
        ran += 1
        graph, nodes = nodes_of(made, inputs)
        expected = outcome(graph, inputs)
        for _ in range(4):
            names = some_order(nodes.values(), draw)
            check("program %d: %s computes something else" % (ran, names), same(expected, in_order(graph, names, inputs)))
        noticed += not same(expected, in_order(graph, some_order(nodes.values(), draw, ("inputs",)), inputs))
check("without the edges, %d of %d programs compute something else" % (noticed, ran), noticed > ran // 4)

print("%d failures" % failures)
sys.exit(failures != 0)
