#!/usr/bin/env python3
"""Compares two checkers of proofs of arenas that share nothing: what the library's accepts, check_packing.py must accept; and
whatever that accepts must be true.

usage: arena_cases N | both_arenas.py
"""
import json
import sys

import check
import check_packing
import packing


def accepted(case):
    """Whether check_packing.py accepts a proof."""
    proof = case["certificate"]
    try:
        if "buffers" in case:
            buffers = [packing.Buffer(*b) for b in case["buffers"]]
            if proof["arena"]:
                packing.refute(buffers, proof, proof["arena"] - 1)
        else:
            problem = check.Problem(case["graph"], case["firing"], case["inplace"])
            check_packing.Joint(problem, case["alignment"], proof["arena"]).run(proof["refutations"])
        return True
    except (check.Wrong, KeyError, TypeError, ValueError, IndexError, AttributeError):
        return False


def main():
    kinds = {}  # how many both accept, both refuse, and check_packing.py alone accepts
    for number, line in enumerate(sys.stdin, 1):
        case = json.loads(line)
        second = accepted(case)
        fault = None
        if case["accepted"] and not second:
            fault = "one checker accepts what the other refuses"
        elif second and case["certificate"]["arena"] > case["optimum"]:
            fault = f"{case['certificate']['arena']} is accepted as proven, but {case['optimum']} is reached"
        if fault:
            print(f"line {number}: {fault}\n{line}", end="")
            return 1
        count = kinds.setdefault(case["kind"], [0, 0, 0])
        count[0 if case["accepted"] else 1 if not second else 2] += 1
    for kind, (both, neither, other) in sorted(kinds.items()):
        print(f"{kind:16} {both:8} accepted by both {neither:8} refused by both {other:8} true, but not as the library writes")
    return 0 if any(c[0] for c in kinds.values()) and any(c[1] for c in kinds.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
