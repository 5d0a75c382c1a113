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
    accepted = refused = other = 0
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
        accepted += case["accepted"]
        refused += bound is None
        other += bound is not None and not case["accepted"]
    print(f"{accepted} accepted by both, {refused} refused by both, {other} true but not in the form that the library writes")
    return 0 if accepted and refused else 1


if __name__ == "__main__":
    sys.exit(main())
