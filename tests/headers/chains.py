#!/usr/bin/env python3
"""Which headers one unit can compile as if each were alone.

usage: chains.py INCLUDE whole|separate HEADER...

Prints chains, one a line: each header of a chain includes the one before it, directly or not. A unit that includes them in this order
compiles each as alone: what a header finds declared after its own includes is what these declare, since all that came before is among
them. Includes that stand behind MEMSCHED_DEFINED_HERE are read with `whole`, and lead to no other header of a chain, since what stands
before them may not rest on them.
"""
import functools
import pathlib
import re
import sys


def main(root, mode, headers):
    @functools.cache
    def includes(header):
        """The headers of ours that one includes at its top, and those that it includes in all."""
        top, all_, depth = set(), set(), 0  # depth: of conditions, from the one that asks for the large functions on
        for line in (pathlib.Path(root) / header).read_text().splitlines():
            words = line.split()
            if words and words[0].startswith("#if") and (depth or "MEMSCHED_DEFINED_HERE" in line):
                depth += 1
            elif words and words[0] == "#endif" and depth:
                depth -= 1
            found = re.match(r"#include <(memsched/.*)>", line)
            if found and (pathlib.Path(root) / found[1]).exists() and (mode == "whole" or not depth):
                all_.add(found[1])
                if not depth:
                    top.add(found[1])
        return top, all_

    @functools.cache
    def reached(header):
        """All that a header includes, directly or not."""
        found, new = set(), {header}
        while new:
            new = set().union(*(includes(h)[1] for h in new)) - found
            found |= new
        return found

    @functools.cache
    def below(header):
        """Returns the headers that may come before a header in a chain: none that includes this one."""
        top, _ = includes(header)
        return {h for h in top.union(*(reached(h) for h in top)) if header not in reached(h)}

    # As few chains as there can be: a largest matching of headers with those that come right before them.
    wanted, before, behind = set(headers), {}, {}

    def match(header, seen):
        for b in sorted(below(header) & wanted - seen):
            seen.add(b)
            if b not in behind or match(behind[b], seen):
                before[header], behind[b] = b, header
                return True
        return False

    sys.setrecursionlimit(10000)
    for header in sorted(headers):
        match(header, set())
    for header in sorted(headers):
        if header in behind:
            continue
        chain = [header]
        while chain[-1] in before:
            chain.append(before[chain[-1]])
        print(" ".join(reversed(chain)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
