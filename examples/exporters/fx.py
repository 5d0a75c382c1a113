"""A torch.fx graph as JSON for `memsched schedule`: import write_fx, or run this file for an example.

usage: fx.py OUT.json            writes the example
       fx.py OUT.json RESULT     and puts it into the order of a result, to see that it still computes the same

write_fx runs the module once, node by node, and watches what each node does; inputs, weights and random state are put back:

* A result that shares the storage of an argument is a view of it. Any other has the bytes of its storage. Weights have none.
* A node that writes a storage (in-place methods, functions and modules, out=, setitem, statistics of batch normalization)
  runs after all nodes that used the storage before, and before all that use it later.
* Nodes that draw random numbers keep their order. So do nodes that return nothing and write nothing seen.

It raises Unreadable, which names the node, where that is not enough: see `need`. Facts that hold for these inputs are taken to
hold for others of their shapes. State that is no parameter and no buffer of a module is not seen.
"""
import copy
import json

import torch
from torch.utils._pytree import tree_flatten, tree_map

PLAIN = (int, float, complex, str, type(None), type(...), slice, range, torch.Size, torch.dtype, torch.device, torch.layout,
         torch.memory_format)

KINDS = {"placeholder": "input", "get_attr": "input", "output": "output"}


class Unreadable(Exception):
    pass


def need(condition, reason):
    if not condition:
        raise Unreadable(reason)


def tensors_in(value):
    leaves = tree_flatten(value)[0]
    for leaf in leaves:
        known = isinstance(leaf, PLAIN + (torch.Tensor,))
        need(known, "has a value of type %s, whose memory is not known" % type(leaf).__name__)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def storage_of(tensor):
    """Where the storage of a tensor begins, and its bytes; 0 for one without bytes."""
    try:
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()
        begin, size = storage.data_ptr(), storage.nbytes()
    except (NotImplementedError, RuntimeError):
        raise Unreadable("has a tensor without one storage (%s)" % str(tensor.layout).replace("torch.", "")) from None
    need(begin or not size, "has a tensor whose values are not in memory (%s)" % tensor.device)
    return (begin, size) if size else 0


def random_state():
    on_devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    return [torch.get_rng_state()] + on_devices


def modes():
    return torch.is_grad_enabled(), torch.is_autocast_enabled(), torch.is_inference_mode_enabled(), torch.get_default_dtype()


class Recorder:
    """Runs a graph once and describes its nodes."""

    def __init__(self, graph, inputs):
        self.interpreter = torch.fx.Interpreter(graph, garbage_collect_values=False)  # no address is given out twice
        self.interpreter.args_iter = iter(inputs)
        self.watched = []  # of each tensor: itself, its version, its storage
        self.weights, self.owned = set(), set()
        self.given, self.replaced = set(), []  # storages of the caller; what writes to them replaced
        self.writer, self.readers = {}, {}  # of each storage: the last node that wrote it, those that used it since
        self.last = {}  # the last node that drew random numbers, the last that returned nothing
        self.values = {}  # of each node: the storages that its values in JSON name
        for t in list(graph.parameters()) + list(graph.buffers()):
            self.weights.add(self.watch(t))
        self.given.update(self.weights)

    def watch(self, tensor):
        need(not tensor.is_inference(), "has a tensor of inference mode, which does not count its writes")
        storage = storage_of(tensor)
        self.watched.append([tensor, tensor._version, storage])
        return storage

    def run(self, n):
        """The node as JSON."""
        arguments = [t for i in n.all_input_nodes for t in tensors_in(self.interpreter.env[i])]
        if n.op == "call_module":
            module = self.interpreter.module.get_submodule(n.target)
            arguments += list(module.parameters()) + list(module.buffers())
        used = [storage_of(t) for t in arguments]
        contents = [t.detach().clone() for t in arguments]
        random, mode = random_state(), modes()
        result = self.interpreter.env[n] = self.interpreter.run_node(n)
        effect = n.op.startswith("call") and result is None and not n.all_input_nodes
        need(not effect, "runs for an effect that is not seen")
        need(modes() == mode, "changes a mode of PyTorch, which holds for the nodes after it")
        need([storage_of(t) for t in arguments] == used, "gives a tensor another storage")
        written = self.written(arguments, used, contents)
        storages = list(dict.fromkeys(self.watch(t) for t in tensors_in(result)))
        if n.op == "get_attr":
            self.weights.update(storages)
        if n.op in ("get_attr", "placeholder"):
            self.given.update(storages)
        node = {"name": n.name, "kind": KINDS.get(n.op, "operator"), "inputs": [i.name for i in n.all_input_nodes]}
        if n.op != "output":
            node.update(self.memory(n, [s for s in storages if s and s not in self.weights]))
        if node["kind"] == "operator":
            before = self.order(n.name, set(used + storages) - {0}, written)
            drew = not all(map(torch.equal, random, random_state()))
            before |= self.behind_last("random", n.name) if drew else set()
            before |= self.behind_last("silent", n.name) if result is None and not written else set()
            node["after"] = sorted(before)
        return node

    def written(self, arguments, used, contents):
        """The storages that a node wrote. Tensors count writes, but not those of the statistics of batch normalization."""
        found = set()
        for entry in self.watched:
            if entry[0]._version != entry[1]:
                found.add(entry[2])
                entry[1] = entry[0]._version
        for tensor, storage, content in zip(arguments, used, contents):
            if not torch.equal(tensor, content):
                found.add(storage)
                if storage in self.given:
                    self.replaced.append((tensor, content))
        return found - {0}

    def put_back(self):
        with torch.no_grad():
            for tensor, content in reversed(self.replaced):
                tensor.copy_(content)

    def memory(self, n, storages):
        """Returns the values of a node in JSON."""
        fresh = [s for s in storages if s not in self.owned]
        self.owned.update(fresh)
        if fresh or not storages:
            need(len(fresh) == len(storages), "returns new tensors and views of others together")
            self.values[n] = fresh or [0]
            size = [s[1] for s in fresh] or [0]
            return {"bytes": size if len(size) > 1 else size[0]}
        named = n.all_input_nodes if n.op != "placeholder" else list(self.values)
        sources = [i for i in named if set(self.values[i]) & set(storages)]
        need(set(storages) <= {s for i in sources for s in self.values[i]}, "returns a tensor that is none of its arguments")
        if len(named) == len(storages) == 1:
            self.values[n] = storages
            return {"view_of": named[0].name, "element": self.values[named[0]].index(storages[0])}
        self.values[n] = [s for i in sources for s in self.values[i]]
        return {"view_of": [i.name for i in sources]}

    def order(self, name, used, written):
        """The nodes that use the same storages and run before this one."""
        before = set()
        for s in used | written:
            if s in written:
                before.update(self.readers.pop(s, []))
            if s in self.writer:
                before.add(self.writer[s])
            if s in written:
                self.writer[s] = name
            else:
                self.readers.setdefault(s, []).append(name)
        return before

    def behind_last(self, kind, name):
        before = {self.last[kind]} if kind in self.last else set()
        self.last[kind] = name
        return before


def leaf_of(value):
    """The same values without a history of gradients."""
    return value.detach() if isinstance(value, torch.Tensor) and not value.is_leaf else value


def describe(graph, inputs):
    """The nodes of a GraphModule as JSON. Raises Unreadable."""
    recorder, nodes, n = None, [], None
    try:
        with torch.random.fork_rng():
            recorder = Recorder(graph, tree_map(leaf_of, list(inputs)))
            for n in graph.graph.nodes:
                nodes.append(recorder.run(n))
    except Unreadable as e:
        raise Unreadable("%s: %s" % (n.name if n else "the module", e)) from None
    finally:
        if recorder:
            recorder.put_back()
    return nodes


def write_fx(module, inputs, path):
    if isinstance(module, torch.fx.GraphModule):  # tracing it again would lose operators in place
        graph = torch.fx.GraphModule(module, copy.deepcopy(module.graph), type(module).__name__)
    else:
        graph = torch.fx.symbolic_trace(module)
    nodes = describe(graph, inputs)
    with open(path, "w") as file:
        json.dump({"name": type(module).__name__, "nodes": nodes}, file)
    return graph


def reorder(graph, result):
    """Puts the nodes of a traced graph into the order of `memsched schedule --format json`."""
    operators = {n.name: n for n in graph.graph.nodes if n.op not in ("placeholder", "get_attr", "output")}
    with open(result) as file:
        names = json.load(file)["names"]
    if sorted(names) != sorted(operators):
        raise ValueError("%s is the order of another graph" % result)
    end = next(n for n in graph.graph.nodes if n.op == "output")
    for name in names:
        end.prepend(operators[name])
    graph.recompile()


if __name__ == "__main__":
    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.wide = torch.nn.ModuleList(torch.nn.Linear(8, n) for n in (64, 256, 128, 32))
            self.narrow = torch.nn.ModuleList(torch.nn.Linear(n, 4) for n in (64, 256, 128, 32))

        def forward(self, x):
            wide = [layer(x) for layer in self.wide]
            halves = torch.split(sum(layer(v) for layer, v in zip(self.narrow, wide)), 2, dim=1)
            return halves[0] * halves[1]

    import sys
    torch.manual_seed(1)
    module, x = Branches(), torch.ones(1, 8)
    traced = write_fx(module, [x], sys.argv[1])
    if len(sys.argv) > 2:  # the result: reorders, and checks that the output is the same
        reorder(traced, sys.argv[2])
        traced.graph.lint()
        print("same output:", torch.equal(traced(x), module(x)))
