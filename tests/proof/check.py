#!/usr/bin/env python3
"""Checks an order and the proof of its bound: a second checker, which shares nothing with the library.

usage: check.py GRAPH.json RESULT...

GRAPH.json is a graph of operators and tensors (formats/json.hpp); a RESULT is what `memsched schedule GRAPH.json --certificate
RESULT` wrote, JSON or CBOR. Says of each result what is proven; ends with 1 where an order or a proof is wrong, with 2 where a
file cannot be read. docs/proofs.md has the rules and why they hold.
"""
import copy
import json
import pathlib
import sys

import cbor


class Wrong(Exception):
    """Says what is wrong with an order or a proof, and where."""


def need(condition, message):
    if not condition:
        raise Wrong(message)


def whole(value, below, what):
    need(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < below, f"{what}: no number below {below}")
    return value


def members(bits):
    """The elements of a set that is held as the bits of a number."""
    return [u for u, digit in enumerate(reversed(bin(bits)[2:])) if digit == "1"]


class Problem:
    """Operators and tensors; tensors that name one storage are one."""

    def __init__(self, graph, firing, inplace):
        self.ops, tensors = graph["ops"], graph["tensors"]
        count = len(tensors)
        self.size = [whole(int(t["bytes"]), 1 << 64, "bytes") for t in tensors]
        self.store = list(range(count))
        for t in range(count):
            at, steps = t, 0
            while tensors[at].get("alias_of") not in (None, -1, at):
                at, steps = whole(tensors[at]["alias_of"], count, "alias_of"), steps + 1
                need(steps <= count, f"tensors[{t}]: an alias of itself")
            self.store[t] = at
        self.stays = {self.store[t] for t in graph["graph_outputs"]}
        self.writer = {}
        for i, op in enumerate(self.ops):
            for t in op["outputs"]:
                need(t not in self.writer, f"ops[{i}]: writes a tensor that has a writer")
                self.writer[t] = i
        self.reads = [{self.store[t] for t in op["inputs"]} for op in self.ops]
        self.creates = [[t for t in op["outputs"] if self.store[t] == t] for op in self.ops]
        self.readers = {}
        for i, stores in enumerate(self.reads):
            for s in stores:
                self.readers.setdefault(s, set()).add(i)
        self.cbp = [(op.get("firing") or firing) == "cbp" for op in self.ops]
        self.spares = [self.spared(i) if inplace else [] for i in range(len(self.ops))]
        self.before = [{self.writer[t] for t in op["inputs"] if t in self.writer} | set(op.get("after", []))
                       for op in self.ops]
        self.updated = [{op["inputs"][whole(k, len(op["inputs"]), f"ops[{i}].updates")] for k in op.get("updates", [])}
                        for i, op in enumerate(self.ops)]  # tensors
        for u, i in list(self.turns(tensors)):
            if u != i:
                self.before[i].add(u)
        self.start = sum(self.size[s] for s in range(count) if self.store[s] == s and s not in self.writer and self.kept(s))

    def spared(self, i):
        """(old, new): storages of which operator i may write the new one over the old one."""
        op, found = self.ops[i], []
        pairs = [(0, op["inplace"])] if op.get("inplace", -1) not in (None, -1) and op["outputs"] else []
        for output, at in pairs + op.get("overwrites", []):
            new = op["outputs"][whole(output, len(op["outputs"]), f"ops[{i}].overwrites")]
            old = self.store[op["inputs"][whole(at, len(op["inputs"]), f"ops[{i}].overwrites")]]
            if self.store[new] == new and old not in self.stays and self.size[new] <= self.size[old]:
                need(not any(old == a or new == b for a, b in found), f"ops[{i}]: overwrites with or in a tensor twice")
                found.append((old, new))
        return found

    def values(self, tensors):
        """Per tensor, the value that it names: that of its storage at first, or one that an operator made of it by an update."""
        found = []
        for t in range(len(tensors)):
            while True:
                maker, s = self.writer.get(t), self.store[t]
                if t == s:
                    break
                if maker is not None and any(self.store[u] == s for u in self.updated[maker]):
                    t = (maker, s)
                    break
                t = tensors[t]["alias_of"]
            found.append(t)
        return found

    def turns(self, tensors):
        """The order that updates ask for: pairs of operators, the second of which runs after the first. Users of a value take
        their turns as they are listed: an update of it runs after the last one and the users since, and before those that
        follow. But one whose result an output names runs after all other users of the value that it changes."""
        value, last, since, named = self.values(tensors), {}, {}, []
        for i, op in enumerate(self.ops):
            for t in op["inputs"]:
                v = value[t]
                if t in self.updated[i] and any(self.store[u] == self.store[t] for u in op["outputs"]):
                    named.append((v, i))
                    continue
                if v in last:
                    yield last[v], i
                if t in self.updated[i]:
                    yield from ((u, i) for u in since.pop(v, []))
                    last[v] = i
                else:
                    since.setdefault(v, []).append(i)
        for v, i in named:
            yield from ((u, i) for u in since.get(v, []) + ([last[v]] if v in last else []))

    def kept(self, s):
        """Whether anything needs a storage after its producer."""
        return s in self.stays or s in self.readers

    def room(self, i, s):
        """Returns the bytes that i need not take as the last reader of s: with consumption first all of s, else what it overwrites."""
        if self.cbp[i]:
            return self.size[s]
        return sum(self.size[new] for old, new in self.spares[i] if old == s)

    def peak_of(self, order):
        """Plays an order, tensor by tensor."""
        need(sorted(order) == list(range(len(self.ops))), "order: must name each operator once")
        left = {s: len(r) for s, r in self.readers.items()}
        live, peak, done = self.start, self.start, set()
        for i in order:
            need(self.before[i] <= done, f"order: operator {i} runs before one that it waits for")
            done.add(i)
            made, freed, room = sum(self.size[t] for t in self.creates[i]), 0, 0
            for s in self.reads[i]:
                left[s] -= 1
                if left[s] == 0 and s not in self.stays:
                    freed += self.size[s]
                    room += self.room(i, s)
            during = live + made + self.ops[i].get("workspace", 0) - room
            live += sum(self.size[t] for t in self.creates[i] if self.kept(t)) - freed
            peak = max(peak, during, live)
        return peak


class Nodes:
    """The nodes of proofs: operators, and for each storage whose last reader depends on the order a node that frees it."""

    def __init__(self, p):
        n = len(p.ops)
        self.base, self.operators = p.start, n
        self.peak = [sum(p.size[t] for t in p.creates[i]) + p.ops[i].get("workspace", 0) for i in range(n)]
        self.impact = [sum(p.size[t] for t in p.creates[i] if p.kept(t)) for i in range(n)]
        self.before = [set(b) for b in p.before]
        self.depth = [0] * n  # the longest way to an operator
        for v in sequence(self.before):
            self.depth[v] = max((self.depth[u] + 1 for u in self.before[v]), default=0)
        self.credits = [[] for _ in range(n)]  # (freeing node, bytes): room for who is the last reader
        self.resources = [(p.writer.get(s), None, p.size[s]) for s in p.stays if p.size[s]]  # (maker or None, freer or None, bytes)
        for s in sorted(p.readers):
            readers, size = p.readers[s], p.size[s]
            if s in p.stays or size == 0:
                continue
            last = max(readers, key=lambda r: self.depth[r])
            if len(self.earlier(readers, last)) == len(readers) - 1:
                self.peak[last] -= p.room(last, s)
                self.impact[last] -= size
                self.resources.append((p.writer.get(s), last, size))
                continue
            self.resources.append((p.writer.get(s), len(self.peak), size))
            self.peak.append(0)
            self.impact.append(-size)
            self.before.append(set(readers))
            self.credits.append([])
            roomy = {r for r in readers if p.room(r, s) > 0}
            never_last = set().union(*(self.earlier(readers, r) for r in readers)) if roomy else set()
            for r in sorted(roomy - never_last):
                self.credits[r].append((len(self.peak) - 1, p.room(r, s)))
        for i in range(n):
            if not self.credits[i]:
                self.peak[i] = max(self.peak[i], self.impact[i], 0)
        self.readers_of = {k: set(self.before[k]) for k in range(n, len(self.peak))}

    def earlier(self, nodes, v):
        """Those of some operators that come before v."""
        least = min(self.depth[u] for u in nodes)
        seen, left = set(), [v]
        while left:
            fresh = {u for u in self.before[left.pop()] if self.depth[u] >= least} - seen
            seen |= fresh
            left += fresh
        return seen & nodes


def sequence(before):
    """All nodes, each after those that it waits for."""
    left, behind = [len(b) for b in before], [[] for _ in before]
    for v, b in enumerate(before):
        for u in b:
            behind[u].append(v)
    order = [v for v, k in enumerate(left) if k == 0]
    for u in order:
        for v in behind[u]:
            left[v] -= 1
            if left[v] == 0:
                order.append(v)
    need(len(order) == len(before), "the graph has a cycle")
    return order


class Window:
    """A stretch of the nodes between two sets that can have run, with a node that opens it and one that closes it."""

    def __init__(self, g, w):
        n, ran, nodes = len(g.peak), set(), w["nodes"]
        for first, last in w["before"]:
            need(0 <= first < last <= n, "window: no range of nodes")
            ran.update(range(first, last))
        k = sum(v < g.operators for v in nodes)
        within = set(whole(v, n, "window: a node") for v in nodes)
        need(len(within) == len(nodes) and not within & ran, "window: names a node twice")
        need(all(v < g.operators for v in nodes[:k]), "window: an operator comes after a release")
        done = ran | within
        need(all(g.before[v] <= ran for v in ran) and all(g.before[v] <= done for v in within), "window: its ends cannot have run")
        opens, closes = bool(ran), len(done) < n
        need(opens or closes, "window: is the whole graph")
        base, behind = g.base + sum(g.impact[v] for v in ran), [set() for _ in g.before]
        made, freed, missed = {}, {}, 0  # bytes of each node
        for a, b, size in g.resources:
            if a in ran and b not in ran:
                made[a] = made.get(a, 0) + size
            if b is not None and b not in done and (a is None or a in done):
                freed[b] = freed.get(b, 0) + size
        for v, b in enumerate(g.before):
            for u in b:
                behind[u].add(v)
        order = sequence(g.before)
        for key, ends, waits, way in (("behind", made, g.before, order), ("ahead", freed, behind, reversed(order))):
            need(not w[key] or (opens if key == "behind" else closes), f"window: {key}: nothing is there")
            bit, marks = {u: 1 << i for i, u in enumerate(sorted(ends))}, [0] * n
            for v in way:
                mark = bit.get(v, 0)
                for u in waits[v]:
                    mark |= marks[u]
                marks[v] = mark
            for i in w[key]:
                whole(i, k, key)
            missed += sum(ends[u] for u in ends if not all(marks[nodes[i]] & bit[u] for i in w[key]))
        need(missed <= whole(w.get("slack", 0), 1 << 62, "window: slack"), "window: its ends miss more than the slack")
        need(all(r in within for i in w["ahead"] for r, _ in g.credits[nodes[i]]), "window: ahead: a node has a credit outside")
        lift = whole(w["lift"], 1 << 62, "window: lift")
        grows = sum(max(g.peak[v], 0) + max(g.impact[v], 0) for v in nodes)
        need(lift > 2 * base + sum(g.impact[v] for v in nodes) + grows, "window: the lift is too small")
        ends = [(lift, lift)] * opens + [(0, -lift)] * closes
        costs = [(g.peak[v], g.impact[v]) for v in nodes]
        costs[k:k] = ends
        place = {v: i if i < k else i + len(ends) for i, v in enumerate(nodes)}
        listed = nodes[:k] + [None] * len(ends) + nodes[k:]
        self.base, self.lift, self.operators = base + (0 if opens else lift), lift + w.get("slack", 0), k + len(ends)
        self.peak, self.impact = [c[0] for c in costs], [c[1] for c in costs]
        self.before = [set() if v is None else {place[u] for u in g.before[v] & within} for v in listed]
        self.credits = [[] if v is None else [(place[r], a) for r, a in g.credits[v] if r in within] for v in listed]
        for i in w["behind"]:
            self.before[i].add(k)
        if closes:
            self.before[k + opens].update(w["ahead"])
        self.readers_of = {u: set(self.before[u]) for u in range(self.operators, len(listed))}
        if opens and closes:
            proof = Proof(self)
            need(proof.reached(k, proof.behind) >> (k + 1) & 1, "window: its end need not come after its start")


class Proof:
    """The graph as a proof changes it: nodes merge, orders are added. A bound that holds after a step holds for the given graph."""

    def __init__(self, nodes):
        self.g = nodes
        self.n, self.base = len(nodes.peak), nodes.base
        self.peak, self.impact = list(nodes.peak), list(nodes.impact)
        self.before, self.behind = [set() for _ in range(self.n)], [set() for _ in range(self.n)]
        for v, b in enumerate(nodes.before):
            for u in b:
                self.order(u, v)
        self.merged = 0
        named = {release for list_ in nodes.credits for release, _ in list_}
        self.tied = sum(1 << u for u in named.union(*(nodes.readers_of[r] for r in named)))  # nodes with a part in a credit
        self.levels = []  # of all steps so far, those within cases too

    def fork(self, before, after):
        """A copy with an edge more."""
        p = copy.copy(self)
        p.peak, p.impact = list(self.peak), list(self.impact)
        p.before, p.behind = [set(b) for b in self.before], [set(b) for b in self.behind]
        p.order(before, after)
        return p

    def mirrored(self):
        """The graph read backwards: edges turn, and each node undoes what it did."""
        need(not any(self.g.credits), "a family is mirrored, but there are credits")
        m = copy.copy(self)
        m.base, m.before, m.behind = self.base + sum(self.impact), self.behind, self.before
        m.peak, m.impact = [p - i for p, i in zip(self.peak, self.impact)], [-i for i in self.impact]
        return m

    def reached(self, v, lists):
        seen, left = 0, [v]
        while left:
            for x in lists[left.pop()]:
                if not seen >> x & 1:
                    seen |= 1 << x
                    left.append(x)
        return seen

    def order(self, u, v):
        self.before[v].add(u)
        self.behind[u].add(v)

    def bound(self, certificate):
        """Returns the bound that the certificate proves; raises `Wrong` where it proves none."""
        steps, family = certificate["steps"], certificate.get("family")
        if not steps and not family:
            return max(self.g.base, self.g.base + sum(self.impact), 0)
        need(self.steps(steps) == (not family), "the proof does not end where its steps do")
        if family:
            for r in family.get("reductions", []):
                self.reduce(*r)
            seen = self.mirrored() if family.get("mirrored") is True else self
            self.levels.append(Events(seen, family["events"]).sets(family) if "events" in family else seen.sets(family))
        return min(self.levels)

    def steps(self, steps, depth=0):
        """Whether the steps show that there is no order below what they take."""
        need(depth < 65, "cases are nested too deeply")
        ended = False
        for i, step in enumerate(steps):
            try:
                need(not ended, "the proof has ended")
                for r in step.get("reductions", []):
                    self.reduce(*r)
                if "if" in step:
                    ended = self.cases(step, depth)
                elif "first" in step or "last" in step:
                    ended = self.layer(step)
                elif "positions" in step:
                    ended = self.positions(step)
                else:
                    ended = self.cut(step)
            except Wrong as e:
                raise Wrong(f"steps[{i}]: {e}") from e
        return ended

    def cases(self, step, depth):
        """Two nodes run in one order or the other. Whether neither can be; else adds what follows from both."""
        a, b = (whole(x, self.n, "if") for x in step["if"])
        need(a != b and not (self.reached(a, self.before) | self.reached(a, self.behind)) >> b & 1, "the two are ordered already")
        edges = [(whole(u, self.n, "edges"), whole(v, self.n, "edges")) for u, v in step.get("edges", [])]
        need(all(u != v for u, v in edges), "an edge from a node to itself")
        possible = 0
        for p, side in ((self.fork(a, b), "then"), (self.fork(b, a), "else")):
            if not p.steps(step.get(side, []), depth + 1):
                possible += 1
                need(self.merged == p.merged, f"{side}: merges nodes, and does not end the proof")
                need(all(p.reached(u, p.behind) >> v & 1 for u, v in edges), f"{side}: an edge does not follow")
        need(bool(edges) == bool(possible), "edges follow where a case is left, and only there")
        for u, v in edges:
            self.order(u, v)
        return not possible

    def reduce(self, rule, a, b):
        """A rule of compression: merges a and b (c1, c2) or runs a before b (s1, s2)."""
        need(rule in ("c1", "c2", "s1", "s2"), "no such rule")
        whole(a, self.n, "a node"), whole(b, self.n, "a node")
        need(a != b and not (1 << a | 1 << b) & (self.merged | self.tied), "the rule names nodes that it must leave alone")
        drop = [self.peak[v] - self.impact[v] for v in (a, b)]
        above, below = [self.reached(v, self.before) for v in (a, b)], [self.reached(v, self.behind) for v in (a, b)]
        ordered = bool(below[0] >> b & 1)
        past = self.merged if rule in ("c1", "s2") else self.idle()
        if rule == "c1":
            fits = ordered and self.impact[a] >= 0 and drop[0] <= self.peak[b] and not below[0] & ~(below[1] | 1 << b | past)
        elif rule == "c2":
            fits = ordered and self.impact[b] <= 0 and self.peak[b] <= drop[0] and not above[1] & ~(above[0] | 1 << a | past)
        elif rule == "s1":
            fits = not ordered and self.impact[a] <= 0 and self.peak[a] <= self.peak[b] and not above[0] & ~(above[1] | past)
        else:
            fits = not ordered and self.impact[b] >= 0 and drop[1] <= drop[0] and not below[1] & ~(below[0] | past)
        need(fits and not below[1] >> a & 1, f"{rule} does not apply to {a} and {b}")
        if rule in ("s1", "s2"):
            return self.order(a, b)
        kept, gone = (b, a) if rule == "c1" else (a, b)
        peak, impact = max(self.peak[a], self.impact[a] + self.peak[b]), self.impact[a] + self.impact[b]
        self.peak[kept], self.impact[kept], self.peak[gone], self.impact[gone] = peak, impact, 0, 0
        self.merged |= 1 << gone

    def idle(self):
        """Nodes that may run as soon as they can: they need no room, add none and change no credit."""
        return self.merged | sum(1 << u for u in range(self.n) if self.peak[u] == 0 and self.impact[u] <= 0
                                 and (u >= self.g.operators or not self.tied >> u & 1))

    def sets(self, family):
        """The level below which no order leaves a family of sets."""
        g, level, needs = self.g, family["level"], [sum(1 << u for u in b) for b in self.before]
        idle, everything, found = self.idle(), (1 << self.n) - 1, {}
        need(all(self.peak[v] >= self.impact[v] for v in range(self.n)), "a node's impact is above its peak")
        need(all(amount <= -self.impact[r] for list_ in g.credits for r, amount in list_), "a credit is more than is freed")
        plain = sum(1 << v for v in range(self.n) if not (idle | self.tied) >> v & 1 and self.peak[v] == self.impact[v] >= 0)

        def grown(ran, fresh):
            """With all idle nodes that can run, of those after `fresh` or in it."""
            left = [u for x in fresh for u in (self.behind[x] if ran >> x & 1 else {x}) if idle >> u & 1]
            while left:
                u = left.pop()
                if not ran >> u & 1 and not needs[u] & ~ran:
                    ran |= 1 << u
                    left += [x for x in self.behind[u] if idle >> x & 1]
            return ran

        def waits(ran, v):
            """Returns the nodes that v waits for; None where one of them takes more while it runs than it adds, or v has run."""
            seen, left = 0, needs[v] & ~ran
            while left and not left & ~plain and not ran >> v & 1:
                u = (left & -left).bit_length() - 1
                seen |= 1 << u
                left = (left | needs[u] & ~ran) & ~seen
            return None if left or ran >> v & 1 else members(seen)

        def behind(ran, v, before):
            return grown(ran | sum(1 << u for u in before) | 1 << v, before + [v])

        listed = [grown(0, range(self.n))]
        for i, (start, v) in enumerate(family["sets"]):
            whole(start, len(listed), f"sets[{i}]: a set before it"), whole(v, self.n, f"sets[{i}]: a node")
            before = waits(listed[start], v)
            need(before is not None, f"sets[{i}]: {v} cannot be next")
            listed.append(behind(listed[start], v, before))
        known = set(listed)
        for ran in known:
            need(ran != everything, "a set holds all nodes")
            here, inside, targets = self.base + sum(self.impact[u] for u in members(ran)), [], 0
            for v in members(everything & ~ran & ~plain):
                before = waits(ran, v)
                if before is None:
                    continue
                targets += 1
                then = here + sum(self.impact[u] for u in before)
                if then + max(self.taken(v, ran), 0) < level:
                    inside.append((behind(ran, v, before) in known, then + self.impact[v] <= here))
            need((True, True) in inside or all(x for x, _ in inside), "an order may leave the family")
            need(targets or self.base + sum(self.impact) >= level, "an order may end")
        return level

    def taken(self, v, ran):
        """The peak of v where this has run."""
        return self.peak[v] - sum(amount for release, amount in self.g.credits[v]
                                  if all(ran >> r & 1 for r in self.g.readers_of[release] - {v}))

    def cut(self, step):
        """Whether what takes a level is all there is; else adds the order that follows."""
        v, first, other = whole(step["v"], self.n, "v"), "before" in step, step.get("before", step.get("after"))
        need(not (first and "after" in step), "gives two orders")
        ran, later = self.reached(v, self.before), self.reached(v, self.behind) | 1 << v
        if other is not None:
            need(not (ran | later) >> whole(other, self.n, "the other node") & 1, "the two are ordered already")
            more = self.reached(other, self.before if first else self.behind) | 1 << other
            ran, later = (ran | more, later) if first else (ran, later | more)
        self.shown(step, [self.level(v, ran, later, step["flow"])])
        if other is not None:
            self.order(*((v, other) if first else (other, v)))
        return other is None

    def layer(self, step):
        """One of some nodes runs first, with none of them before it, or last, with none after it: this ends the proof."""
        first, levels, around = "first" in step, [], 0
        flows = {whole(m["v"], self.n, "v"): m["flow"] for m in step["first" if first else "last"]}
        inward, outward = (self.before, self.behind) if first else (self.behind, self.before)
        for v in flows:
            around |= self.reached(v, outward) | 1 << v
        for v, flow in flows.items():
            own = self.reached(v, inward)
            if not own & around:  # else another one is before it, or after it
                ran, later = (own, around) if first else (around & ~(1 << v), own | 1 << v)
                levels.append(self.level(v, ran, later, flow))
        self.shown(step, levels)
        return True

    def positions(self, step):
        """Where nodes can run: the least and the most that run before each. Whether one has no position; else adds the edges."""
        n, parts, facts = self.n, 64, step["positions"]
        counted = [int(peak > 0) for peak in self.peak]
        rises = [self.peak[v] - sum(amount for _, amount in self.g.credits[v]) for v in range(n) if counted[v]]
        rise = max(min(rises, default=0), 0)
        order = sequence(self.before)
        first = [counted[v] + sum(counted[u] for u in members(self.reached(v, self.before))) for v in range(n)]
        due = [1 + sum(counted) - counted[v] - sum(counted[u] for u in members(self.reached(v, self.behind))) for v in range(n)]
        levels, ended = [], False
        for fact in facts:
            need(not ended, "the proof has ended")
            k, price, v = whole(fact["k"], sum(counted), "k"), fact["price"], fact.get("in", fact.get("out"))
            need(isinstance(price, int) and not ("in" in fact and "out" in fact), "a fact is in or out, and its price a number")
            ran, later = (sum(1 << u for u in range(n) if due[u] <= k), sum(1 << u for u in range(n) if first[u] > k))
            if v is not None:
                need(counted[whole(v, n, "a node")], f"{v} is not counted")
                if "in" in fact:
                    ran |= self.reached(v, self.before) | 1 << v
                else:
                    later |= self.reached(v, self.behind) | 1 << v
            adds = [parts * self.impact[u] + price * counted[u] for u in range(n)]
            free = {u: adds[u] for u in range(n) if not (ran | later) >> u & 1}
            value = parts * self.base - price * k + sum(adds[u] for u in members(ran)) + self.balance(free, fact["flow"], {})
            levels.append(max(-(-value // parts), 0) + rise)
            if v is None:
                ended = True
            elif "in" in fact:
                first[v] = max(first[v], k + 1)
            else:
                due[v] = min(due[v], k)
            for u in order:
                first[u] = max([first[u]] + [first[x] + counted[u] for x in self.before[u]])
            for u in reversed(order):
                due[u] = min([due[u]] + [due[x] - counted[x] for x in self.behind[u]])
            ended = ended or any(f > d for f, d in zip(first, due))
        edges = [(whole(u, n, "edges"), whole(v, n, "edges")) for u, v in step.get("edges", [])]
        need(bool(edges) != ended, "edges follow unless the proof ends")
        need(all(u != v and counted[u] and due[u] <= first[v] for u, v in edges), "an edge does not follow")
        for u, v in edges:
            self.order(u, v)
        self.shown(step, levels)
        return ended

    def shown(self, step, levels):
        """Takes down the level of a step: the least of some."""
        need(levels and min(levels) == step["level"], f"level: the flow proves {levels}")
        self.levels.append(min(levels))

    def level(self, v, ran, later, flow):
        """The least that v can take where `ran` has run and `later` has not, by a flow that pays for what nodes free."""
        need(v < self.g.operators or not self.tied >> v & 1, f"{v} runs within the step of another node")
        free = {u: self.impact[u] for u in range(self.n) if not (ran | later) >> u & 1}
        for i, (release, amount) in enumerate(self.g.credits[v]):
            if not any(later >> r & 1 for r in self.g.readers_of[release] - {v}):
                free[self.n + i] = -amount
        spent = self.balance(free, flow, {self.n + i: self.g.readers_of[r] for i, (r, _) in enumerate(self.g.credits[v])})
        return max(self.g.base + sum(self.impact[u] for u in members(ran)) + self.peak[v] + spent, 0)

    def balance(self, free, flow, waits):
        """The least that free nodes add, by a flow that pays for what they free; nodes beyond n wait for what `waits` says."""
        pairs = set()
        for from_, to, amount in flow:
            need(from_ in free and to in free and from_ < self.n, "the flow leaves the nodes that may have run or not")
            need(from_ in (self.before[to] if to < self.n else waits[to]), "the flow runs where there is no edge")
            need((from_, to) not in pairs and amount > 0, "the flow names an edge twice, or carries nothing")
            pairs.add((from_, to))
            free[from_], free[to] = free[from_] - amount, free[to] + amount
        needed = all(free[to] <= 0 for _, to, _ in flow) and all(free[from_] >= 0 for from_, _, _ in flow)
        need(needed, "the flow gives what is not needed, or takes what is")
        return sum(min(x, 0) for x in free.values())


class Events:
    """The nodes of a family of events: those that were not merged, of which some are folded into others, and some are light."""

    def __init__(self, proof, model):
        need(not any(proof.g.credits), "a family is of events, but there are credits")
        self.p, self.peak, self.impact, n = proof, proof.peak, proof.impact, proof.n
        self.kept = [v for v in range(n) if not proof.merged >> v & 1]
        need(all(self.peak[v] >= max(self.impact[v], 0) for v in range(n)), "a node's impact is above its peak")
        above = [proof.reached(v, proof.before) for v in range(n)]
        self.needs, self.feeds = [set() for _ in range(n)], [set() for _ in range(n)]  # needs: the last nodes that each waits for
        for v in self.kept:
            kept, implied = above[v] & ~proof.merged, 0
            for u in members(kept):
                implied |= above[u]
            self.needs[v] = set(members(kept & ~implied))
            for u in self.needs[v]:
                self.feeds[u].add(v)
        self.frees = {v for v in self.kept if self.peak[v] == 0 and self.impact[v] < 0 and not self.feeds[v]}
        self.host, self.guests = list(range(n)), [set() for _ in range(n)]
        for v, w in model.get("folded", []):
            whole(v, n, "folded: a node"), whole(w, n, "folded: a node")
            side = self.feeds[v] - {w}
            need(w in self.feeds[v] and side <= self.frees and self.host[v] == v, f"{v} need not run with {w}")
            need(-sum(self.impact[r] for r in side) <= self.impact[v], f"{v} adds less than is freed after it")
            self.host[v] = w
            self.guests[w].add(v)
        light, self.events = whole(model["light"], 1 << 62, "light"), set()
        for v in self.kept:
            if self.host[v] != v:
                need(self.host[self.host[v]] == self.host[v], f"{v} is folded into a node that is folded")
            elif self.frees_alone(v):
                self.events.add(v)
            else:
                need(v not in self.frees or self.guests[v] == self.needs[v], f"{v} frees memory, and waits for others, too")
                added = self.impact[v] + sum(self.impact[u] for u in self.guests[v])
                if added < 0 or min(self.room(u, v) for u in self.runs(v)) > light:
                    self.events.add(v)

    def frees_alone(self, v):
        """Whether v frees memory, and no node runs with it."""
        return v in self.frees and not self.guests[v]

    def freed(self, ran, then):
        """The nodes that free memory alone from a set to another."""
        return {r for r in then - ran if self.frees_alone(r)}

    def runs(self, v):
        """The nodes of which one runs last when v runs with its guests."""
        return self.guests[v] if v in self.frees else {v}

    def room(self, u, w):
        """How far u, the last to run with w, is above the level after it."""
        return self.peak[u] - self.impact[u] - (self.impact[w] if w in self.frees else 0)

    def missing(self, ran, t):
        """t and what it waits for beyond a set, with the nodes that these are folded into."""
        seen, left = {t}, [t]
        while left:
            for x in self.needs[left.pop()]:
                for u in (x, self.host[x]):
                    if u not in ran and u not in seen:
                        seen.add(u)
                        left.append(u)
        return seen

    def opens(self, ran, t):
        """Returns the nodes that run with the event t; None where it has happened, or waits for another event."""
        more = self.missing(ran, t) if t in self.events and t not in ran else set()
        return more if more and not (more - {t}) & self.events else None

    def behind(self, ran, more):
        """Returns a set with `more`, which runs then, and with all nodes that free memory and wait for nothing more."""
        then = ran | more
        return then | {r for u in more for r in self.feeds[u] if r in self.frees and self.needs[r] <= then}

    def level(self, ran):
        return self.p.base + sum(self.impact[u] for u in ran)

    def sets(self, family):
        """The level below which no order leaves a family of sets."""
        level = family["level"]
        listed = [frozenset(r for r in self.frees if not self.needs[r])]
        for i, (start, t) in enumerate(family["sets"]):
            whole(start, len(listed), f"sets[{i}]: a set before it"), whole(t, self.p.n, f"sets[{i}]: a node")
            more = self.opens(listed[start], t)
            need(more, f"sets[{i}]: {t} is no event that can be next")
            listed.append(frozenset(self.behind(listed[start], more)))
        known = set(listed)
        for ran in known:
            open_, at_once, leaves = 0, False, False
            for t in sorted(self.events - ran):
                more = self.opens(ran, t)
                if not more:
                    continue
                open_ += 1
                then = frozenset(self.behind(ran, more))
                low, high = self.charge(t, ran, then)
                if low < level:
                    leaves = leaves or then not in known
                    at_once = at_once or (then in known and high < level and self.is_free(ran, then))
            need(at_once or not leaves, "an order may leave the family")
            need(open_ or self.p.base + sum(self.impact) >= level, "an order may end")
        return level

    def is_free(self, ran, then):
        """Whether what runs from a set to another adds nothing in all, and each node that frees memory there waits for all the rest."""
        freed = self.freed(ran, then)
        rest = then - ran - freed
        return self.level(then) <= self.level(ran) and all(rest <= self.missing(ran, r) for r in freed)

    def charge(self, t, ran, then):
        """The least that an order takes in the step in which the event t happens: no less than the first, no more than the second."""
        last = self.needs[t] if self.frees_alone(t) else {t}
        freed, level = self.freed(ran, then), self.level(then)
        lows, highs = [], []
        for w in {self.host[x] for x in last}:
            for u in self.runs(w):
                takes = level + self.room(u, w) - sum(self.impact[r] for r in freed if u in self.needs[r])
                low, high = self.fall(u, w, then)
                lows.append(takes + low)
                highs.append(takes + high)
        return min(lows), min(highs)

    def fall(self, u, w, ran):
        """How far the level falls where some more nodes happen that wait for guests of w, not for u, and for light nodes."""
        side = {r for v in self.guests[w] for r in self.feeds[v] if r in self.frees and r != w and u not in self.needs[r]}
        more = [m for m in (self.opens(ran, r) for r in side) if m]
        if len(more) > 4:
            rise = min(sum(self.impact[x] for x in m if x not in side) for m in more)
            return min(0, rise + sum(self.impact[r] for m in more for r in m if r in side)), 0
        deepest = 0
        for chosen in range(1 << len(more)):
            with_ = set().union(*(m for i, m in enumerate(more) if chosen >> i & 1))
            deepest = min(deepest, sum(self.impact[x] for x in with_))
        return deepest, deepest


def proven(nodes, certificate):
    """The bound of a certificate, where it is what that says."""
    g = Window(nodes, certificate["window"]) if certificate.get("window") else nodes
    bound = max(Proof(g).bound(certificate) - (0 if g is nodes else g.lift), 0)
    need(bound == certificate["bound"], f"bound: {bound} is proven")
    return bound


def judge(graph, result):
    """Returns a sentence on what a result proves."""
    p = Problem(graph, result["firing"], result["inplace"])
    peak = p.peak_of(result["order"])
    need(peak == result["peak"], f"peak: the order takes {peak}")
    bound = proven(Nodes(p), result["certificate"])
    need(bound <= peak, f"bound: {bound} is above the peak of an order")
    return f"peak {peak}, proven bound {bound}" + (": optimal" if bound == peak else "")


def main(usage, read, judge):  # the graph as `read` gives it, and each result, go to `judge`
    if len(sys.argv) < 3:
        print(usage, file=sys.stderr)
        return 2
    status = 0
    graph = read(pathlib.Path(sys.argv[1]))
    sys.setrecursionlimit(4000)
    for name in sys.argv[2:]:
        try:
            print(f"{name}: {judge(graph, cbor.decoded(pathlib.Path(name).read_bytes()))}")
        except Wrong as e:
            print(f"{name}: refused: {e}")
            status = 1
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as e:
            print(f"{name}: cannot be read: {type(e).__name__} {e}")
            status = status or 2
    return status


if __name__ == "__main__":
    sys.exit(main(__doc__, lambda path: json.loads(path.read_bytes()), judge))
