#!/usr/bin/env python3
"""Checks an order and the proof of its bound, as check.py does, of a graph whose author says what each node does to memory:
firings of a dataflow graph are such nodes.

usage: check_costs.py GRAPH.json RESULT...

GRAPH.json: {"base": bytes, "cost": [[peak, impact], ...], "edges": [[before, after], ...]}; RESULT: {"order", "peak",
"certificate"}.
"""
import json
import sys

import check
from check import need


class Costs:
    """Nodes, of which none has a credit. The parts of memory are not known, so that there are no windows."""

    def __init__(self, graph):
        n = len(graph["cost"])
        self.base, self.operators = check.whole(graph["base"], 1 << 62, "base"), n
        self.peak, self.impact = [p for p, _ in graph["cost"]], [i for _, i in graph["cost"]]
        self.before, self.credits, self.readers_of = [set() for _ in range(n)], [[] for _ in range(n)], {}
        for u, v in graph["edges"]:
            self.before[check.whole(v, n, "a node")].add(check.whole(u, n, "a node"))
        need(all(p >= max(i, 0) for p, i in graph["cost"]), "cost: a peak is below the impact, or below 0")
        check.sequence(self.before)

    def peak_of(self, order):
        need(sorted(order) == list(range(self.operators)), "order: must name each node once")
        level, peak, done = self.base, self.base, set()
        for v in order:
            need(self.before[v] <= done, f"order: node {v} runs before one that it waits for")
            done.add(v)
            peak = max(peak, level + self.peak[v])
            level += self.impact[v]
        return max(peak, level)


def judge(graph, result):
    """Returns a sentence on what a result proves."""
    g = Costs(graph)
    peak = g.peak_of(result["order"])
    need(peak == result["peak"], f"peak: the order takes {peak}")
    need("window" not in result["certificate"], "window: of a graph whose memory is not known")
    bound = check.proven(g, result["certificate"])
    need(bound <= peak, f"bound: {bound} is above the peak of an order")
    return f"peak {peak}, proven bound {bound}" + (": optimal" if bound == peak else "")


if __name__ == "__main__":
    sys.exit(check.main(__doc__, lambda path: json.loads(path.read_bytes()), judge))
