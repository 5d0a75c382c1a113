#!/usr/bin/env python3
"""Compares two checkers of certificates that share nothing: what the library's accepts, check.py must accept; and whatever
check.py accepts must be true.

usage: certificate_cases N | both.py
"""
import json
import sys

import check


def verdict(case):
    """The bound that check.py finds proven; None where it refuses the certificate."""
    nodes = check.Nodes(check.Problem(case["graph"], case["firing"], case["inplace"]))
    try:
        return check.proven(nodes, case["certificate"])
    except check.Wrong:
        return None


def main():
    kinds = {}  # how many both accept, both refuse, and check.py alone accepts
    for number, line in enumerate(sys.stdin, 1):
        case = json.loads(line)
        peak = check.Problem(case["graph"], case["firing"], case["inplace"]).peak_of(case["order"])
        bound = verdict(case)
        fault = None
        if peak != case["peak"]:
            fault = f"the order takes {peak}, not {case['peak']}"
        elif case["accepted"] and bound is None:
            fault = "one checker accepts what the other refuses"
        elif bound is not None and bound > case["optimum"]:
            fault = f"{bound} is accepted as proven, but {case['optimum']} is reached"
        if fault:
            print(f"line {number}: {fault}\n{line}", end="")
            return 1
        count = kinds.setdefault(case["kind"], [0, 0, 0])
        count[0 if case["accepted"] else 1 if bound is None else 2] += 1
    for kind, (accepted, refused, other) in sorted(kinds.items()):
        print(f"{kind:15} {accepted:8} accepted by both {refused:8} refused by both {other:8} true, but not as the library writes")
    return 0 if any(c[0] for c in kinds.values()) and any(c[1] for c in kinds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
