#!/usr/bin/env python3
"""Checks spills of an order and the proof of its traffic: a second checker, which shares nothing with the library.

usage: check_traffic.py GRAPH.json RESULT...

GRAPH.json is a graph of operators and tensors (formats/json.hpp); a RESULT is what `memsched traffic GRAPH.json --model resident
--certificate RESULT` wrote. Says of each result what is proven; ends with 1 where spills or a proof are wrong, with 2 where a file
cannot be read. docs/recompute.md has the rules.
"""
import json
import sys

import check
import check_recompute
from check import need, whole


class Chip:
    """An order on a chip as executions in one order, whose storages may be outside before and after all. Each
    value of a tensor that operators update is a storage of its own: a copy outside of the one before is of no use."""

    def __init__(self, graph, result):
        p = check_recompute.Graph(graph, result["firing"], result["inplace"])
        order = [whole(i, len(p.ops), "order") for i in result["order"]]
        p.peak_of(order)  # it is one
        self.order, self.value, self.ops, self.steps, self.stored = order, {}, [], [], []
        self.begun = {}  # per storage, its values with the steps that made them
        self.capacity = whole(result["capacity"], 1 << 64, "capacity")
        last = {s: k for k, i in enumerate(order) for s in p.reads[i]}
        inputs = [self.begin(s, -1) for s in range(len(p.size)) if p.store[s] == s and s not in p.writer and p.kept(s)]
        for k, i in enumerate(order):
            reads = sorted(p.reads[i])
            later = [s for s in reads if s in p.stays or last[s] > k]
            if p.cbp[i]:  # all operands are there at once before any is consumed
                self.add(k, reads, [])
                reads = later
            op = self.add(k, reads, [], p.ops[i].get("workspace", 0))
            updated = sorted({p.store[t] for t in p.updated[i]} & set(later))
            op["outputs"] = [self.begin(s, k) for s in p.creates[i] + updated]
            over = [(s, s) for s in updated] + [(old, new) for old, new in p.spares[i] if not p.cbp[i] and old not in later]
            op["overwrites"] = [[op["outputs"].index(self.value[new]), reads.index(old)] for old, new in over]
        self.graph = {"ops": self.ops, "tensors": [{"bytes": p.size[s]} for s in self.stored],
                      "graph_inputs": inputs, "graph_outputs": [self.value[s] for s in sorted(p.stays)]}
        self.problem = check_recompute.Graph(self.graph, "pbc", True, {"read": 1, "write": 1, "ends_outside": True})

    def begin(self, s, step):
        self.value[s] = len(self.stored)
        self.begun.setdefault(s, []).append((step, len(self.stored)))
        self.stored.append(s)
        return self.value[s]

    def add(self, step, reads, made, workspace=0):
        op = {"inputs": [self.value[s] for s in reads], "outputs": made, "workspace": workspace, "cost": 0, "pure": False}
        self.ops.append(op)
        self.steps.append(step)
        return op

    def traffic(self, spills):
        """The bytes that spills move."""
        p, loads, written = self.problem, [], set()
        for n, spill in enumerate(spills):
            to = whole(spill["to"], len(self.order) + 1, f"spills[{n}].to")
            t = max(((k, value) for k, value in self.begun.get(spill["tensor"], []) if k < to), default=(0, None))[1]
            need(t is not None, f"spills[{n}]: {spill['tensor']} is no storage that is there")
            before = next((i for i, k in enumerate(self.steps) if k >= to), len(self.ops))
            uses = [self.steps[i] + 1 for i in range(before) if t in p.reads[i] or t in p.creates[i]]
            need(spill["from"] == max(uses, default=0), f"spills[{n}].from: does not come right after the use before")
            need(spill["written"] == (t not in written), f"spills[{n}].written: a storage is written once, when it leaves first")
            written.add(t)
            loads.append((t, before))
        peak, moved = p.play(list(range(len(self.ops))), sorted(loads, key=lambda load: load[1]))
        need(peak <= self.capacity, f"capacity: the chip holds {peak} bytes")
        return moved

    def bound(self, proof):
        need("weighed" not in proof and proof["scope"] == "given order", "scope: must be the given order")
        need(proof["rows"] == list(range(len(self.ops))), "rows: are not those of the order")
        return check_recompute.proven(self.problem, proof, self.capacity)


def judge(graph, result):
    """Returns a sentence on what a result proves."""
    need(result["model"] == "resident", "model: must be resident")
    chip = Chip(graph, result)
    moved = chip.traffic(result["spills"])
    need(moved == result["traffic"], f"traffic: the spills move {moved}")
    bound = chip.bound(result["certificate"])
    need(bound <= moved, f"bound: {bound} is above the traffic")
    return f"moves {moved} bytes, proven bound {bound} (given order)" + (": optimal" if bound == moved else "")


if __name__ == "__main__":
    sys.exit(check.main(__doc__, lambda path: json.loads(path.read_bytes()), judge))
