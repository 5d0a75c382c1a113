#!/usr/bin/env python3
"""Checks a plan of an arena and the proof that none is smaller: a second checker, which shares nothing with the library.

usage: check_packing.py GRAPH.json|BUFFERS.csv PLAN...

GRAPH.json is a graph of operators and tensors (formats/json.hpp), BUFFERS.csv a table of buffers; a PLAN is what `memsched
plan --certificate PLAN` wrote, JSON or CBOR. Says of each plan what is proven; ends with 1 where a plan or a proof is wrong,
with 2 where a file cannot be read. docs/proofs.md, sections 10 and 11, has the rules and why they hold.
"""
import csv
import json
import sys

import cbor
import check
from check import Wrong, need, whole
from packing import Buffer, refute


class Order:
    """The contents of the arena of an order: pieces (storages, workspaces), and buffers (pieces in one place)."""

    def __init__(self, p, order, alignment):
        p.peak_of(order)
        at = {op: k for k, op in enumerate(order)}
        self.pieces, place = [], {}
        for s in range(len(p.store)):
            if p.store[s] != s or p.size[s] == 0 or (s not in p.writer and not p.kept(s)):
                continue
            lower = 2 * at[p.writer[s]] + 1 if s in p.writer else 0
            ends = [2 * at[r] + (1 if p.cbp[r] else 2) for r in p.readers.get(s, ())] + [lower + 1]
            place[s] = len(self.pieces)
            upper = 2 * len(order) + 1 if s in p.stays else max(ends)
            self.pieces.append(piece(s, p.writer.get(s), p.size[s], (lower, upper), p.readers.get(s, set())))
        for op in order:
            for old, new in reuses(p, op):
                if all(at[r] <= at[op] for r in p.readers[old]):
                    self.pieces[place[new]]["on"] = place[old]
        for op in order:
            if p.ops[op].get("workspace", 0):
                self.pieces.append(piece(None, op, p.ops[op]["workspace"], (2 * at[op] + 1, 2 * at[op] + 2), set()))
        self.buffers = []
        above = {a["on"]: i for i, a in enumerate(self.pieces) if a["on"] is not None}
        need(len(above) == sum(a["on"] is not None for a in self.pieces), "order: two storages in one place")
        for i, a in enumerate(self.pieces):
            if a["on"] is not None:
                continue
            (lower, upper), drops, size, k = a["life"], [], a["size"], i
            while k is not None:
                b = self.pieces[k]
                b["buffer"], end = len(self.buffers), b["life"][1]
                if end > upper and b["size"] < size:
                    drops, size = drops + [(upper, b["size"])], b["size"]
                upper, k = max(upper, end), above.get(k)
            self.buffers.append(Buffer(lower, upper, a["size"], alignment, None, drops))


def piece(storage, writer, size, life, readers):
    """A storage, or a workspace, for which `storage` is None; `on`: the piece whose place its writer took."""
    return {"storage": storage, "writer": writer, "size": size, "life": life, "readers": readers, "on": None}


def reuses(p, op):
    """(old, new): storages of which the new one may take the place of the old one, if the operator is its last reader."""
    return [] if p.cbp[op] else [(old, new) for old, new in p.spares[op] if p.size[new]]


class Joint:
    """Checks that no order of a graph fits."""

    def __init__(self, problem, alignment, arena):
        self.p, self.alignment, self.arena, self.refuted = problem, alignment, arena, set()

    def run(self, refutations):
        need(refutations and not refutations[-1]["edges"], "refutations: the last must be one without edges")
        for i, r in enumerate(refutations):
            edges = frozenset(tuple(whole(v, len(self.p.ops), "edges") for v in e) for e in r["edges"])
            try:
                self.peak(r, edges) if "peak" in r else self.conflict(r, edges)
            except Wrong as e:
                raise Wrong(f"refutations[{i}]: {e}") from e
            self.refuted.add(edges)

    def peak(self, r, edges):
        nodes = check.Nodes(self.p)
        for a, b in edges:
            nodes.before[b].add(a)
        check.sequence(nodes.before)
        need(check.proven(nodes, r["peak"]) >= self.arena, "peak: its bound is below the arena")

    def conflict(self, r, edges):
        held = Order(self.p, r["order"], self.alignment)
        refute(held.buffers, r["packing"], self.arena - 1)
        named, met = set(r["packing"]["buffers"]), {}
        pieces = [a for a in held.pieces if a["buffer"] in named]
        for a in pieces:
            if a["on"] is not None:
                old = held.pieces[a["on"]]
                others = old["readers"] - {a["writer"]}
                need(all(self.never(edges, {(a["writer"], o)}) for o in others), "what lies in one place may part")
        for i, a in enumerate(pieces):
            for b in pieces[:i]:
                if a["buffer"] == b["buffer"] or max(a["life"][0], b["life"][0]) >= min(a["life"][1], b["life"][1]):
                    continue
                of = [held.buffers[x["buffer"]] for x in (a, b)]
                flat = not any(len(x.levels) > 1 for x in of)
                key = frozenset((a["buffer"], b["buffer"])) if flat else (id(a), id(b))
                full = not flat or (a["size"], b["size"]) == (of[0].size, of[1].size)
                met[key] = met.get(key) or (full and self.stay(a, b, edges) and self.stay(b, a, edges))
        need(all(met.values()), "what meets may part")

    def stay(self, a, b, edges):
        """Whether a cannot be over before b begins, nor b take the place of a."""
        w = b["writer"]
        if w is None:
            return True
        if a["storage"] is not None and (a["storage"], b["storage"]) in reuses(self.p, w):
            if not self.never(edges, {(o, w) for o in a["readers"] - {w}}):
                return False
        if a["writer"] == w or a["storage"] in self.p.stays or (w in a["readers"] and not self.p.cbp[w]):
            return True
        users = a["readers"] | ({a["writer"]} if a["writer"] is not None else set())
        return self.never(edges, {(o, w) for o in users - {w}})

    def never(self, edges, more):
        """Whether no order that fits keeps these edges."""
        both = edges | more
        if both in self.refuted:
            return True
        before = [set(b) for b in self.p.before]
        for a, b in both:
            before[b].add(a)
        try:
            check.sequence(before)
            return False
        except Wrong:
            return True


def table(text, alignment):
    """The buffers of a table by their names; `alignment`: of those that have none."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()) if row]
    names = {"start": "lower", "begin": "lower", "buffer": "id", "buffer_id": "id"}
    found = {}
    for row in rows[1:]:
        r = dict(zip((names.get(c, c) for c in rows[0]), row))
        upper = int(r["upper"]) if "upper" in r else int(r["end"]) + 1
        fixed = None if r.get("offset", "") in ("", "-1") else int(r["offset"])
        drops = []
        for gap in r.get("gaps", "").split():
            span, kept = gap.split("@")
            need(kept.startswith("0:"), "gaps: only of the highest bytes")
            drops.append((int(span[: span.index("-", 1)]), int(kept[2:])))
        own = int(r.get("alignment") or 1)
        found[r["id"]] = Buffer(int(r["lower"]), upper, int(r["size"]), alignment if own == 1 else own, fixed, drops)
    return found


def lie_apart(buffers, offsets, arena):
    """Whether offsets are a plan."""
    for i, b in enumerate(buffers):
        need(offsets[i] % b.alignment == 0 and b.fixed in (None, offsets[i]), f"buffers[{i}]: may not lie there")
        need(b.empty() or 0 <= offsets[i] <= arena - b.size, f"buffers[{i}]: ends above the arena")
    live = []
    for i in sorted((i for i, b in enumerate(buffers) if not b.empty()), key=lambda i: buffers[i].lower):
        live = [j for j in live if buffers[j].upper > buffers[i].lower]
        for j in live:
            a, b = (i, j) if offsets[i] < offsets[j] else (j, i)
            need(offsets[a] + buffers[a].at(buffers[i].lower) <= offsets[b], f"buffers {i} and {j} meet")
        live.append(i)


def judge(source, is_table, plan):
    """Returns a sentence on what a plan's certificate proves."""
    proof, arena = plan["certificate"], plan["arena"]
    bound = whole(proof["arena"], (1 << 61) + 1, "arena")
    if is_table:
        of = table(source, plan["alignment"])
        need([e["id"] for e in plan["buffers"]] == list(of), "buffers: not those of the table")
        buffers = list(of.values())
    else:
        p = check.Problem(json.loads(source), plan["firing"], plan["inplace"])
        buffers = Order(p, plan["order"], plan["alignment"]).buffers
    need(len(plan["buffers"]) == len(buffers), "buffers: not those of the order")
    for e, b in zip(plan["buffers"], buffers):
        need((e["lower"], e["upper"], e["size"]) == (b.lower, b.upper, b.size), "buffers: one is another")
    lie_apart(buffers, [e["offset"] for e in plan["buffers"]], arena)
    if bound and "refutations" in proof:
        Joint(p, plan["alignment"], bound).run(proof["refutations"])
    elif bound:
        refute(buffers, proof, bound - 1)
    need(bound <= arena, "arena: the plan is smaller than what is proven")
    what = "no order has" if "refutations" in proof else "there is no"
    return f"arena {arena}; {what} arena below {bound}" + (": optimal" if bound == arena else "")


if __name__ == "__main__":
    sys.exit(check.main(__doc__, lambda path: (path.read_text(encoding="utf-8"), path.suffix == ".csv"),
                        lambda source, plan: judge(*source, plan)))
