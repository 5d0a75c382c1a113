"""A torch.fx graph as JSON for `memsched schedule`: import write_fx, or run this file for an example.

usage: fx.py OUT.json            writes the example
       fx.py OUT.json RESULT     and puts it into the order of a result, to see that it still computes the same
"""
import json

import torch
from torch.fx.passes.shape_prop import ShapeProp


def write_fx(module, inputs, path):
    def size(m):  # bytes; of a tuple a list; of what is no tensor 0
        if isinstance(m, (list, tuple)) and not hasattr(m, "shape"):
            return [size(x) for x in m]
        return m.shape.numel() * torch.empty((), dtype=m.dtype).element_size() if m is not None else 0
    graph = torch.fx.symbolic_trace(module)
    ShapeProp(graph).propagate(*inputs)
    kinds = {"placeholder": "input", "get_attr": "input", "output": "output"}
    nodes = [{"name": n.name, "kind": kinds.get(n.op, "operator"), "inputs": [i.name for i in n.all_input_nodes],
              "bytes": 0 if n.op == "get_attr" else size(n.meta.get("tensor_meta"))} for n in graph.graph.nodes]
    for n, node in zip(graph.graph.nodes, nodes):
        if "getitem" in str(n.target) and isinstance(node["bytes"], int) and isinstance(n.args[1], int):
            node.update(view_of=n.args[0].name, element=n.args[1])
        if n.op == "call_method" and n.target.endswith("_") and not n.target.endswith("__"):
            node.update(view_of=n.args[0].name, updates=n.args[0].name)
    json.dump({"name": type(module).__name__, "nodes": nodes}, open(path, "w"))
    return graph


def reorder(graph, result):
    """Puts the nodes of a traced graph into the order of `memsched schedule --format json`."""
    nodes = {n.name: n for n in graph.graph.nodes}
    last = next(n for n in reversed(graph.graph.nodes) if n.op in ("placeholder", "get_attr"))
    for name in reversed(json.load(open(result))["names"]):
        last.append(nodes[name])
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
