#!/usr/bin/env python3
"""Reads what recompute_cases printed, and lets the second checker judge the same: both must accept, or both refuse."""
import json
import sys

import check
import check_recompute
import check_traffic


def accepted(case):
    result = case["result"]
    if "spills" in result:
        chip = check_traffic.Chip(case["graph"], result)
        check.need(chip.traffic(result["spills"]) == result["traffic"], "the spills move other bytes")
        try:
            chip.bound(result["certificate"])
            return True
        except (check.Wrong, IndexError, KeyError):
            return False
    p = check_recompute.Graph(case["graph"], result["firing"], result["inplace"], result.get("offload"))
    peak, extra = p.play(result["executions"], result.get("loads", []))
    check.need(peak == result["peak"] and extra == result["extra_cost"], f"plays to {peak} bytes, {extra} more")
    try:
        check_recompute.bound_of(p, case["graph"], result)
        return True
    except (check.Wrong, IndexError, KeyError):
        return False


def main():
    count = {}
    for number, line in enumerate(sys.stdin, 1):
        case = json.loads(line)
        try:
            verdict = accepted(case)
        except check.Wrong as e:
            print(f"line {number}: {e}\n{line}", end="")
            return 1
        if verdict != case["accepted"] or not (verdict or case["changed"]):
            print(f"line {number}: one checker accepts what the other refuses, or refuses what was found\n{line}", end="")
            return 1
        key = ("changed" if case["changed"] else "as found", "accepted" if verdict else "refused")
        count[key] = count.get(key, 0) + 1
    for (kind, verdict), n in sorted(count.items()):
        print(f"{kind}, {verdict} by both: {n}")
    return 0 if {("as found", "accepted"), ("changed", "refused")} <= count.keys() else 1


if __name__ == "__main__":
    sys.exit(main())
