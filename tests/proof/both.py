#!/usr/bin/env python3
"""Compares two checkers of certificates that share nothing: what the library's accepts, check.py must accept; and whatever
check.py accepts must be true.

usage: certificate_cases ARGUMENTS... | both.py
"""
import json
import sys

import check


class Graph:
    """A graph with an order whose peak is known, and the optimum."""

    def __init__(self, case):
        problem = check.Problem(case["graph"], case["firing"], case["inplace"])
        self.nodes, self.optimum = check.Nodes(problem), case["optimum"]
        peak = problem.peak_of(case["order"])
        if peak != case["peak"]:
            raise check.Wrong(f"the order takes {peak}, not {case['peak']}")

    def proven(self, certificate):
        """The bound that check.py finds proven; None where it refuses the certificate."""
        try:
            return check.proven(self.nodes, certificate)
        except (check.Wrong, KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
            return None


class Count:
    def __init__(self):
        self.refused = self.same = self.less = self.alone = 0


def main():
    kinds, graph, good = {}, None, {}  # good: what the certificates that nothing changed prove
    for number, line in enumerate(sys.stdin, 1):
        case = json.loads(line)
        if "graph" in case:
            graph = Graph(case)
            continue
        kind, bound = case["kind"], graph.proven(case["certificate"])
        fault = None
        if case["accepted"] and bound is None:
            fault = "one checker accepts what the other refuses"
        elif bound is not None and bound > graph.optimum:
            fault = f"{bound} is accepted as proven, but {graph.optimum} is reached"
        if fault:
            print(f"line {number}: {fault}\n{line}", end="")
            return 1
        count, unchanged = kinds.setdefault(kind, Count()), kind.split(",")[0]
        if kind == unchanged and "forged" not in kind:
            good[kind] = bound
        if bound is None:
            count.refused += 1
        elif not case["accepted"]:
            count.alone += 1
        elif bound == good.get(unchanged, graph.optimum):
            count.same += 1
        else:
            count.less += 1
    print(f"{'':41} {'total':>8} {'refused by both':>16} {'prove the same':>15} {'prove other true bounds':>24} "
          f"{'true, but not as the library writes':>36}")
    for kind, c in sorted(kinds.items()):
        print(f"{kind:41} {c.refused + c.same + c.less + c.alone:8} {c.refused:16} {c.same:15} {c.less:24} {c.alone:36}")
    asked = bool(kinds) and all(c.same for kind, c in kinds.items() if kind in good and "forged" not in kind)
    return 0 if asked and all(c.refused for kind, c in kinds.items() if "changed" in kind or "forged" in kind) else 1


if __name__ == "__main__":
    sys.exit(main())
