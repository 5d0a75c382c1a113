#!/usr/bin/env python3
"""Makes the library wrong in many small ways, one at a time, and says which of them the tests notice.

All mutants are in one build: an operator is replaced by one that asks the environment which mutant is on. Mutants:
a relation with or without equality, == for !=, + for -, max for min, a conjunction that is false, a disjunction that is
true, a condition of `if` that is negated. A first run of each test case without a mutant says which mutants it reaches;
each mutant is then shown to the test cases that reach it, the quickest first, until one fails. Mutants that
tests/mutate/equivalent.txt explains are not shown to any.

usage: tests/mutate/mutate.py [--mutants N] [--seed N] [--jobs N] [--list] [ROOM...]
Needs the test programs' sources, a compiler (CXX, g++) and Catch2. Ends with 1 where a mutant survives that
tests/mutate/equivalent.txt does not explain.
"""
import argparse
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parents[2]
rooms = ["measure", "graph", "bounds", "proof", "search"]
# The programs that judge; each a room of tests/ with its sources.
judges = ["measure", "proof", "graph", "search", "bounds", "certify", "presolve", "passes", "schedule"]

token = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|^[ \t]*\#[^\n]*(?:\\\n[^\n]*)*""", re.S | re.M)
tags = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "unequal",
        "+": "plus", "-": "minus"}


def blank(text):
    """The text with comments, strings and directives as spaces, so that places stay the same."""
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return None


def is_constant(code, at):
    """Whether a place is in a statement that the compiler evaluates: no mutant is on there."""
    statement = code[max(code.rfind(c, 0, at) for c in ";{}") + 1:at]
    return re.search(r"\b(concept|requires|static_assert)\b|\bconstexpr [\w:]+ \w+ =", statement) is not None


def sites(text):
    """(place, end, replacement with %d for the mutant's number, what it does) in a header."""
    code = blank(text)
    found = []
    for m in re.finditer(r" (<=|>=|==|!=|<|>|\+|-) ", code):
        line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.end())]
        before = code[:m.start()].rstrip()
        if before.endswith("operator") or "template" in line or "requires" in line or "static_assert" in line:
            continue
        if m.group(1) in "+-" and ('"' in line or "to_string" in line or before[-1:] in "(,=?:<>&|{" or
                                   before.endswith("return")):
            continue
        if m.group(1) == "==" and "nullptr" in line:
            continue
        op = m.group(1)
        found.append((m.start(1), m.end(1), f"{op} mutants::{tags[op]}<%d>{{}} {op}", f"'{op}' changed"))
    for m in re.finditer(r"(?<=\s)(&&|\|\|)(?=\s)", code):
        line = text[text.rfind("\n", 0, m.start()) + 1:text.find("\n", m.end())]
        if "requires" in line or "concept" in line or "template" in line or re.search(r"<[^;]*&&[^;]*>\s*$", line):
            continue
        if m.group(1) == "&&":
            found.append((m.start(), m.end(), "&& !mutants::on(%d) &&", "'&&' is false"))
        else:
            found.append((m.start(), m.end(), "|| mutants::on(%d) ||", "'||' is true"))
    for m in re.finditer(r"\bstd::(max|min)(?=\()", code):
        name = "largest" if m.group(1) == "max" else "smallest"
        found.append((m.start(), m.end(), f"mutants::{name}<%d>::of", f"std::{m.group(1)} is the other"))
    for m in re.finditer(r"\bif \(", code):
        end = closing(code, m.end() - 1)
        inside = code[m.end():end] if end else ";"
        if ";" in inside or re.search(r"[^=!<>]=[^=]", inside) or code[:m.start()].rstrip().endswith("else"):
            continue
        found.append((m.end(), m.end(), "mutants::on(%d) != static_cast<bool>(", "'if' negated", end))
    return [site for site in found if not is_constant(code, site[0])]


def line_start(header, site):
    return header.read_text().rfind("\n", 0, site[0]) + 1


def name(header, site):
    """Returns the name of a mutant in tests/mutate/equivalent.txt: header, what is changed, and the line."""
    text = header.read_text()
    line = text[line_start(header, site):text.find("\n", site[0])].strip()
    return f"{header.relative_to(root / 'include' / 'memsched')}: {site[3]}: {line}"


def mutate(header, text, chosen):
    """The text with all chosen sites of this header."""
    edits = []
    for number, site in chosen:
        edits.append((site[0], site[1], site[2] % number))
        if len(site) == 5:
            edits.append((site[4], site[4], ")"))
    for start, end, new in sorted(edits, key=lambda e: (-e[0], -e[1])):
        text = text[:start] + new + text[end:]
    return text


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--mutants", type=int, default=240)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    options.add_argument("--only", type=int, nargs="*", help="only the mutants of these numbers")
    options.add_argument("--list", action="store_true", help="only list the mutants")
    options.add_argument("rooms", nargs="*", default=rooms)
    a = options.parse_args()

    include = root / "include" / "memsched"
    every = []
    for room in a.rooms or rooms:
        for header in sorted((include / room).rglob("*.hpp")):
            text = header.read_text()
            every += [(header, site) for site in sites(text)]

    # By what a site says, so that a change elsewhere changes nothing about which mutants are chosen.
    def by_chance(mutant):
        return hashlib.sha256(f"{a.seed} {name(*mutant)} {mutant[1][0] - line_start(*mutant)}".encode()).digest()

    chosen = list(enumerate(sorted(every, key=by_chance)[:a.mutants], start=1))
    if a.only:
        chosen = [c for c in chosen if c[0] in a.only]

    def place(header, site):
        return f"{header.relative_to(include)}:{header.read_text().count(chr(10), 0, site[0]) + 1}: {site[3]}"

    if a.list:
        for number, (header, site) in chosen:
            print(number, place(header, site))
        return 0

    work = pathlib.Path(tempfile.mkdtemp())
    try:
        return judge(a, work, chosen, place)
    finally:
        shutil.rmtree(work)


def compile_all(a, work, chosen):
    """Builds the judges over mutated headers; sites that do not compile are left out. The numbers that are in."""
    left = dict(chosen)
    compiler = os.environ.get("CXX", "g++").split()
    flags = ["-std=c++20", "-O1", "-w", "-pthread", "-D_GLIBCXX_ASSERTIONS", "-DMEMSCHED_SEPARATE_COMPILATION",
             "-DMEMSCHED_FEW_SEEDS",
             f"-DMUTANTS={max(left) + 1}", "-include", str(root / "tests/mutate/mutants.hpp"), f"-I{work}/include",
             f"-I{root}/tests", f"-I{root}/examples"]

    def run(command):
        return subprocess.run(command, capture_output=True, text=True, cwd=root)

    def write():
        shutil.rmtree(work / "include", ignore_errors=True)
        shutil.copytree(root / "include", work / "include")
        by_header = {}
        for number, (header, site) in left.items():
            by_header.setdefault(header, []).append((number, site))
        for header, sites_here in by_header.items():
            copy = work / "include" / header.relative_to(root / "include")
            copy.write_text(mutate(header, header.read_text(), sites_here))

    sources = {j: sorted((root / "tests" / j).glob("*_test.cpp")) for j in judges}
    (work / "roof.cpp").write_text("#include <memsched/memsched.hpp>\n")
    while True:  # until all compile alone: a mutant's line that does not goes
        write()
        r = run(compiler + flags + ["-fsyntax-only", "-fmax-errors=0", str(work / "roof.cpp")])
        if r.returncode == 0:
            break
        bad = {(m.group(1), int(m.group(2))) for m in re.finditer(r"include/(memsched/\S+?):(\d+)", r.stderr)}
        gone = [n for n, (header, site) in left.items()
                if (str(header.relative_to(root / "include")), header.read_text().count("\n", 0, site[0]) + 1) in bad]
        if not gone:
            sys.exit("mutate: the mutated headers do not compile:\n" + r.stderr[:3000])
        for n in gone:
            del left[n]
    jobs = [(compiler + flags + ["-c", str(s), "-o", str(work / f"{j}_{s.stem}.o")]) for j in judges for s in sources[j]]
    jobs.append(compiler + flags + ["-c", str(root / "tests/main.cpp"), "-o", str(work / "main.o")])
    jobs.insert(0, compiler + flags + ["-c", str(root / "cmake/definitions.cpp"), "-o", str(work / "definitions.o")])
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for r in pool.map(run, jobs):
            if r.returncode != 0:
                sys.exit("mutate: a test does not compile:\n" + r.stderr[:3000])
    for j in judges:
        objects = [str(work / f"{j}_{s.stem}.o") for s in sources[j]] + [str(work / "main.o"), str(work / "definitions.o")]
        r = run(compiler + ["-pthread", *objects, "-o", str(work / j)])
        if r.returncode != 0:
            sys.exit("mutate: a test does not link:\n" + r.stderr[:3000])
    return left


class test_case:
    """One test case of a judge: how to run it, how long it takes, and which mutants it reaches."""

    def __init__(self, work, judge, name, number):
        self.judge, self.name = judge, name
        self.command = [str(work / judge), "-a", "-w", "NoTests", re.sub(r"([\\,\[])", r"\\\1", name)]
        self.reached = work / f"{judge}_{number}.reached"

    def run(self, environment, timeout=None):
        """Whether it passes; None: it does not end in time."""
        try:
            r = subprocess.run(self.command, capture_output=True, cwd=root / "tests" / self.judge,
                               env={**os.environ, **environment}, timeout=timeout)
        except subprocess.TimeoutExpired:
            return None
        return r.returncode == 0

    def measure(self):
        start = time.monotonic()
        if not self.run({"MUTANTS_REACHED": str(self.reached)}):
            sys.exit(f"mutate: without a mutant, a test of {self.judge} fails: {self.name}")
        self.seconds = time.monotonic() - start
        numbers = [int(n) for n in self.reached.read_text().split()]
        self.reaches = {n for n in numbers if n > 0}
        self.lacks = {-n for n in numbers if n < 0}


def test_cases(a, work):
    """All test cases of the judges, the quickest first."""
    cases = []
    for j in judges:
        names = subprocess.run([str(work / j), "--list-test-names-only"], capture_output=True, text=True).stdout.splitlines()
        cases += [test_case(work, j, name, i) for i, name in enumerate(names)]
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        list(pool.map(test_case.measure, cases))
    return sorted(cases, key=lambda c: c.seconds)


def explanations():
    """By the name of a mutant: why no test can notice it."""
    lines = (root / "tests/mutate/equivalent.txt").read_text().splitlines()
    pairs = [line.partition(" | ") for line in lines if line and not line.startswith("#")]
    return {name.strip(): why for name, _, why in pairs}


def judge(a, work, chosen, place):
    left = compile_all(a, work, chosen)
    cases = test_cases(a, work)
    lacking = set().union(*(c.lacks for c in cases)) - set().union(*(c.reaches for c in cases))
    left = {n: mutant for n, mutant in left.items() if n not in lacking}
    print(f"{len(left)} mutants in {len({h for h, _ in left.values()})} headers, {len(lacking)} more are of operations that "
          f"types lack; {len(cases)} test cases take {sum(c.seconds for c in cases):.1f} s", flush=True)
    known = explanations()
    explained = {n for n, mutant in left.items() if name(*mutant) in known}

    def killer(number):
        """The test case that notices; None where none does."""
        for case in cases:
            if number in case.reaches and not case.run({"MUTANT": str(number)}, timeout=20 + 10 * case.seconds):
                return case
        return None

    killed, survivors = {}, 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        shown = [n for n in left if n not in explained]
        for number, case in zip(shown, pool.map(killer, shown)):
            if case:
                killed[case.judge] = killed.get(case.judge, 0) + 1
                continue
            survivors += 1
            header, site = left[number]
            line = header.read_text()[line_start(header, site):].split("\n", 1)[0].strip()
            reached = sum(number in c.reaches for c in cases)
            print(f"survives {reached} test cases: {number} {place(header, site)}: {line}", flush=True)
    for room, n in sorted(killed.items(), key=lambda k: -k[1]):
        print(f"{n:5} killed by the tests of {room}")
    print(f"{sum(killed.values())} of {len(left)} mutants killed ({100 * sum(killed.values()) / len(left):.1f} %), "
          f"{len(explained)} explained, {survivors} survive")
    return 1 if survivors else 0


sys.exit(main())
