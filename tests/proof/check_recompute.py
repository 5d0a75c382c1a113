#!/usr/bin/env python3
"""Checks executions with repetitions and the proof of their extra cost: a second checker, which shares nothing with the library.

usage: check_recompute.py GRAPH.json RESULT...

GRAPH.json is a graph of operators and tensors (formats/json.hpp); a RESULT is what `memsched recompute GRAPH.json --certificate
RESULT` wrote. Says of each result what is proven; ends with 1 where executions or a proof are wrong, with 2 where a file cannot
be read. docs/recompute.md has the rules and why they hold.
"""
import json
import math
import sys

import check
from check import Wrong, need, whole

NONE = (1 << 64) - 1  # a bound that says that there are no executions


class Graph(check.Problem):
    """Operators with costs, some of which run once, and what it costs to move storages off and back."""

    def __init__(self, graph, firing, inplace, offload=None):
        super().__init__(graph, firing, inplace)
        self.cost = [whole(int(op.get("cost", 1)), 1 << 64, "cost") for op in self.ops]
        self.pure = self.may_repeat()
        self.unit = 1 if offload else max(math.gcd(*self.cost), 1)
        self.ends_outside = False  # whether inputs may be outside at the start, and what stays at the end
        self.moves = {}  # per storage that may leave: the cost to read it back, and to write it
        changed = {self.store[t] for updated in self.updated for t in updated}
        if offload:
            read, write = whole(offload["read"], 1 << 64, "offload.read"), whole(offload["write"], 1 << 64, "offload.write")
            need(read > 0, "offload.read: must be above 0")
            self.ends_outside = offload.get("ends_outside", False)
            for s in range(len(self.size)):
                if self.store[s] == s and self.size[s] > 0 and self.kept(s) and s not in changed:
                    self.moves[s] = (-(-self.size[s] // read), -(-self.size[s] // write) if write else 0)

    def may_repeat(self):
        """Per operator, whether it may run again: it is pure, changes nothing, makes no storage that is changed, and reads none
        that is changed later."""
        again, behind = [op.get("pure", True) for op in self.ops], {}
        order = check.sequence(self.before)
        for i, updated in enumerate(self.updated):
            for s in {self.store[t] for t in updated}:
                if i not in behind:
                    behind[i] = set()
                    for v in order:
                        if self.before[v] & (behind[i] | {i}):
                            behind[i].add(v)
                for r in self.readers[s] - behind[i] | {i} | ({self.writer[s]} if s in self.writer else set()):
                    again[r] = False
        return again

    def play(self, executions, loads=()):
        """The peak and the extra cost of executions and loads, copy by copy."""
        run, waiting = [], list(loads)  # operators, and ("load", storage)
        for k in range(len(executions) + 1):
            while waiting and waiting[0][1] == k:
                ends = self.ends_outside and k == len(executions) and waiting[0][0] in self.stays
                run.append(("end" if ends else "load", waiting.pop(0)[0]))
            run += executions[k:k + 1]
        need(not waiting, "loads: are not in the order of their places")
        last, made = {}, {s: -1 for s in range(len(self.size)) if self.store[s] == s and s not in self.writer}
        for k, i in enumerate(run):
            if isinstance(i, tuple):
                need(i[1] in self.moves, f"loads: {i[1]} cannot leave memory")
                need(i[1] in made, f"loads: {i[1]} comes back before it was made")
                made[i[1]] = k
                continue
            whole(i, len(self.ops), f"step {k}")
            need(i in last or self.before[i] <= last.keys(), f"step {k}: runs {i} before one that it needs")
            need(i not in last or self.pure[i], f"step {k}: runs {i} a second time")
            for t in self.ops[i]["inputs"]:
                view, store = self.writer.get(t), self.store[t]
                if store != t and view is not None and view != self.writer.get(store):
                    need(last[view] > made[store], f"step {k}: reads a view of an older copy")
            last[i] = k
            for s in self.creates[i]:
                made[s] = k
        need(len(last) == len(self.ops), "executions: an operator never runs")
        change = [0] * (len(run) + 2)  # of what is live while step k runs and outlives it, by copies
        during = [0 if isinstance(i, tuple) else self.ops[i].get("workspace", 0) for i in run]
        for s in range(len(self.size)):
            if self.store[s] == s and (s in self.writer or self.kept(s)):
                self.copies(s, run, change, during)
        peak = level = 0
        for k in range(len(run)):
            level += change[k]
            peak = max(peak, level + during[k])
        inputs = {s for s in range(len(self.size)) if self.store[s] == s and s not in self.writer and self.kept(s)}
        if self.ends_outside:
            inputs = {s for s in inputs if self.is_there(s, run)}
        start = sum(self.size[s] for s in inputs)
        back = [i[1] for i in run if isinstance(i, tuple) and i[0] == "load"]
        left = {i[1] for i in run if isinstance(i, tuple)}
        moved = sum(self.moves[s][0] for s in back) + sum(self.moves[s][1] for s in left)
        return max(peak, start), sum(self.cost[i] for i in executions) - sum(self.cost) + moved

    def is_there(self, s, run):
        """Whether an input is used, or stays, before it is loaded or leaves for good."""
        for i in run:
            if isinstance(i, tuple) and i[1] == s:
                return False
            if not isinstance(i, tuple) and s in self.reads[i]:
                return True
        return s in self.stays

    def copies(self, s, run, change, during):
        """Adds the bytes of all copies of a storage: whole from the step after their creation on, less at their last step."""
        maker = self.writer.get(s)
        begins = [-1] if maker is None else []
        begins += [k for k, i in enumerate(run) if i == ("load", s) or (maker is not None and i == maker)]
        for b, begin in enumerate(begins):
            until = begins[b + 1] if b + 1 < len(begins) else len(run)
            uses = [k for k in range(begin + 1, until) if not isinstance(run[k], tuple) and s in self.reads[run[k]]]
            if begin >= 0:
                during[begin] += self.size[s]
            if s in self.stays and until == len(run) and ("end", s) not in run:
                change[begin + 1] += self.size[s]
            elif uses:
                change[begin + 1] += self.size[s]
                change[uses[-1] + 1] -= self.size[s]
                during[uses[-1]] -= self.room(run[uses[-1]], s)


def cheaper(rerun, closed, load):
    """The cost of a rerun, unless that is closed, or of a load; and how much more a load costs."""
    return (load, 0) if closed or load < rerun else (rerun, load - rerun)


class Rows:
    """First runs, and the gaps between uses of storages, as a proof rests on them."""

    def __init__(self, p, proof, budget):
        self.p, self.rows, rows = p, proof["rows"], proof["rows"]
        self.count = len(rows)
        self.row = {}
        any_order = proof["scope"] == "any order"
        need(any_order or proof["scope"] == "given order", "scope: unknown")
        for k, i in enumerate(rows):
            whole(i, len(p.ops), f"rows[{k}]")
            need(i not in self.row, f"rows[{k}]: stands twice")
            if any_order:
                need(k == 0 or rows[k - 1] in p.before[i], f"rows[{k}]: does not come right after the row before")
            else:
                need(p.before[i] <= self.row.keys(), f"rows[{k}]: runs before one that it needs")
            self.row[i] = k
        need(any_order or self.count == len(p.ops), "rows: are no order of all operators")
        self.charged = proof["charged"]
        need(len(self.charged) == len(p.ops), "charged: one for each operator")
        for i, t in enumerate(self.charged):
            need(t == -1 or t in p.creates[i], f"charged[{i}]: is not made by the operator")
        self.before, self.behind = self.places()
        self.writes = {(s, first): amount for s, first, amount in proof.get("writes", [])}
        gaps = [g for s in range(len(p.size)) if p.store[s] == s and p.kept(s) for g in self.filled(s)]
        need(len(self.writes) == len(proof.get("writes", [])), "writes: a gap stands twice")
        need(self.writes.keys() <= {(g[0], g[1]) for g in gaps if g[0] in p.moves}, "writes: a share is for no gap that a load fills")
        self.gaps, self.more = [g[:5] for g in gaps], [g[5] for g in gaps]  # more: that a load costs beyond a rerun
        self.excess = [self.fixed(i) - budget for i in rows]
        for s, first, last, _, _ in self.gaps:
            for k in range(first, last + 1):
                self.excess[k] += p.size[s]
        for k in range(self.count):  # absent storages have multiples of a common divisor, and no less than the smallest
            sizes = [p.size[s] for s, first, last, _, closed in self.gaps if first <= k <= last and not closed and p.size[s] > 0]
            if sizes and self.excess[k] > 0:
                unit = math.gcd(*sizes)
                self.excess[k] = max(min(sizes), -(-self.excess[k] // unit) * unit)
        self.needs, self.unit, self.room, units = {}, {}, {}, proof.get("units", [])
        need(len(units) == len(proof.get("needs", [])), "units: one for each row with needs")
        for k, unit in zip(proof.get("needs", []), units):
            need(whole(k, self.count, "needs") not in self.needs, "needs: a row stands twice")
            need(whole(unit, 1 << 64, "units") > 0, "units: a unit has no bytes")
            self.needs[k], self.unit[k] = self.needs_at(k), unit
            self.room[k] = (budget - self.fixed(rows[k])) // unit * unit
        self.reruns = [self.rerun(k, s) for k, s in proof.get("reruns", [])]
        self.open = {}  # stretches that may be absent, by storage
        for i, first, last in self.stretches():
            self.open.setdefault(self.storage(i), []).append((i, first, last))

    def needs_at(self, k):
        """Storages that are needed after row k if others are absent there, with the gap that says so or none."""
        p, i = self.p, self.rows[k]
        there = set(p.creates[i]) | (set() if p.cbp[i] else set(p.reads[i]))
        found = {s: g for g, (s, first, last, _, _) in enumerate(self.gaps) if first <= k <= last and s not in there}
        chain = list(found)
        for s in chain:
            if self.again(s):
                for t in p.reads[p.writer[s]]:
                    if t not in there and t not in found:
                        found[t] = None
                        chain.append(t)
        return found

    def size(self, k, s):
        """The bytes of a storage at a row with needs, in whole units."""
        return self.p.size[s] // self.unit[k] * self.unit[k]

    def stretch(self, k, s):
        """The gap, or after all of them the tail, that bears the cost of a need; none if nothing does."""
        g = self.needs[k][s]
        return g if g is not None else len(self.gaps) + s if self.tail(s) <= k else None

    def stretches(self):
        """All stretches of storages that may be absent, with their first and last rows."""
        yield from ((g, gap[1], gap[2]) for g, gap in enumerate(self.gaps) if not gap[4])
        for s in range(len(self.p.size)):
            if self.p.store[s] == s and self.p.kept(s) and s not in self.p.stays and self.returns(s) and self.tail(s) < self.count:
                yield len(self.gaps) + s, self.tail(s), self.count - 1

    def storage(self, i):
        return self.gaps[i][0] if i < len(self.gaps) else i - len(self.gaps)

    def rerun(self, k, s):
        """The rerun of a storage after a row: (row, storage, bytes of its producer, gaps of others that last)."""
        p = self.p
        g = self.needs.get(k, {}).get(s)
        need(not p.moves and g is not None and self.again(s), f"reruns: none of {s} after row {k}")
        back, maker = self.use_behind(g), p.writer[s]
        need(back is not None, f"reruns: no use of {s} after row {k} is known")
        here, own, lasting = self.rows[k], set(p.reads[maker]) | set(p.creates[maker]), []
        for i, (t, first, last, _, _) in enumerate(self.gaps):
            begins = first <= k or (first == k + 1 and (t in p.reads[here] or t in p.creates[here]) and
                                    not (t in p.reads[self.rows[first]] and p.cbp[self.rows[first]]))
            if begins and (last >= back or self.use_behind(i) == back) and t not in own:
                lasting.append(i)
        return k, s, self.fixed(maker), lasting

    def use_behind(self, g):
        """The row right after a gap, if it uses the storage."""
        s, _, last, _, _ = self.gaps[g]
        return last + 1 if last + 1 < self.count and s in self.p.reads[self.rows[last + 1]] else None

    def next_use(self, g, k, kept):
        """The first row after k at which the storage of a gap is in memory, by rows where it is kept or by the gap's end."""
        return min((first for first, _ in kept if first > k), default=self.use_behind(g))

    def again(self, s):
        return s in self.p.writer and self.p.pure[self.p.writer[s]]

    def returns(self, s):
        return self.again(s) or s in self.p.moves

    def tail_cost(self, s):
        """The cost that the rows after all uses of a storage bear, and how much more a load costs than a rerun."""
        return cheaper(self.charge(s), not self.again(s), self.p.moves[s][0]) if s in self.p.moves else (self.charge(s), 0)

    def tail(self, s):
        """The first row after all uses of a storage; none if it stays."""
        if s in self.p.stays:
            return self.count
        return max(self.row[i] + (0 if self.p.cbp[i] else 1) if i in self.row else self.behind[i]
                   for i in self.p.readers.get(s, set()))

    def charge(self, s):
        maker = self.p.writer.get(s)
        return self.p.cost[maker] if maker is not None and self.charged[maker] == s else 0

    def places(self):
        """How many rows certainly run before each operator, and the first that certainly runs after it or is its own."""
        before = {}
        for i in check.sequence(self.p.before):
            before[i] = max((self.row[u] + 1 if u in self.row else before[u] for u in self.p.before[i]), default=0)
        after = [set() for _ in self.p.ops]
        for i, preds in enumerate(self.p.before):
            for u in preds:
                after[u].add(i)
        behind = {}
        for i in reversed(list(check.sequence(self.p.before))):
            behind[i] = self.row.get(i, min((behind[v] for v in after[i]), default=self.count))
        if self.count == len(self.p.ops):  # then the rows are all that is known of an order
            return dict(self.row), dict(self.row)
        return before, behind

    def of(self, s):
        """Gaps of a storage: (storage, first row, last row, cost, closed)."""
        p, maker = self.p, self.p.writer.get(s)
        readers = p.readers.get(s, set())
        end = max([self.before[i] for i in readers] + [self.count if s in p.stays else 0])
        closed = maker is None or not p.pure[maker]
        cost = 0 if closed or self.charged[maker] != s else p.cost[maker]
        first = 0 if maker is None else self.row[maker] + 1 if maker in self.row else self.behind[maker]
        for use in sorted(self.row[i] for i in readers if i in self.row):
            if first < use:
                yield s, first, use - 1, cost, closed
            first = use if p.cbp[next(i for i in readers if self.row.get(i) == use)] else use + 1
        if first < end:
            yield s, first, end - 1, cost, closed

    def filled(self, s):
        """Gaps of a storage, which loads fill where they cost less or nothing else does: each bears its share of the write."""
        read, unpaid = self.p.moves.get(s, (0, 0))
        for _, first, last, cost, closed in self.of(s):
            more = 0
            if s in self.p.moves:
                share = whole(self.writes.get((s, first), 0), unpaid + 1, "writes")
                unpaid -= share
                outside = self.p.ends_outside and s in self.p.stays and last == self.count - 1
                cost, more = cheaper(cost, closed, share if outside else read + share)
                closed = False
            yield s, first, last, cost, closed, more

    def fixed(self, i):
        p = self.p
        made = sum(p.size[t] for t in p.creates[i]) + p.ops[i].get("workspace", 0)
        if p.cbp[i]:
            return made
        return made + sum(p.size[s] - p.room(i, s) for s in p.reads[i])


def weighed(p, graph, proof):
    """The graph with weights for sizes, at one price of a byte."""
    price, scale = whole(proof["weighed"]["price"], 1 << 64, "price"), whole(proof["scale"], 65, "scale")
    charged = proof["charged"]
    need(len(charged) == len(p.ops), "charged: one for each operator")
    weight, reused = {}, set()
    for s in range(len(p.size)):
        if p.store[s] == s:
            weight[s] = price * p.size[s]
            maker = p.writer.get(s)
            if maker is not None and p.pure[maker]:
                weight[s] = min(weight[s], p.cost[maker] << scale if charged[maker] == s else 0)
            if s in p.moves:
                read, write = p.moves[s]
                weight[s] = min(weight[s], (write if p.ends_outside and s in p.stays else read + write) << scale)
    for i in check.sequence(p.before):
        for old, new in p.spared(i):
            weight[new] = min(weight[new], weight[old])
            reused |= {old, new}
    other = json.loads(json.dumps(graph))
    for t, tensor in enumerate(other["tensors"]):
        tensor["bytes"] = weight.get(t, 0)
    for i, op in enumerate(other["ops"]):
        filled = p.creates[i] + ([] if p.cbp[i] else list(p.reads[i]))
        op["workspace"] = price * op.get("workspace", 0) + sum(price * p.size[s] - weight[s] for s in filled if s not in reused)
    return other, price, scale


def proven_by_orders(p, graph, result):
    """Checks a proof by a price for all bytes, and returns its bound."""
    proof = result["certificate"]
    bound = whole(proof["bound"], NONE, "bound")
    need(proof["scope"] == "any order", "scope: a price for all bytes is for any order")
    other, price, scale = weighed(p, graph, proof)
    orders = check.Problem(other, result["firing"], result["inplace"])
    level = check.proven(check.Nodes(orders), proof["weighed"]["orders"])
    need(bound == 0 or level - price * result["budget"] > (bound - 1) // p.unit * p.unit << scale, "bound: the price does not reach it")
    return bound


class Case:
    """The needs under the decisions of a case, and the parts of stretches, of which each pays for itself."""

    def __init__(self, rows, decisions):
        self.rows, p = rows, rows.p
        self.yes, self.no = {}, {}  # per stretch, spans of rows: absent at some of these, at none
        self.points, self.at_rows = set(), set()  # single rows where a stretch is absent; stretches that are present at rows
        for stretch, first, last, absent, again in decisions:
            (self.yes if absent else self.no).setdefault(stretch, []).append((first, last))
            if absent and not again and first == last:
                self.points.add((stretch, first))
            elif not absent and not again:
                self.at_rows.add(stretch)
        self.absent, self.kept, self.certain, self.windows = set(), set(), set(), {}
        for k, found in rows.needs.items():
            self.answer(k, found)
            self.find_windows(k, {s for j, s in self.absent if j == k})
        self.parts = [part for spans in rows.open.values() for span in spans for part in self.cut(*span)]  # (stretch, first row, last row, absent or None)
        self.part = {(k, s): n for n, (i, first, last, _) in enumerate(self.parts) for k in rows.needs if first <= k <= last
                     for s in [rows.storage(i)] if s in rows.needs[k] and rows.stretch(k, s) == i}

    def answer(self, k, found):
        for s, g in found.items():
            if g is not None:
                self.certain.add((k, s))
            stretch = self.rows.stretch(k, s)
            if any(first <= k <= last for first, last in self.no.get(stretch, [])):
                self.kept.add((k, s))
            elif (stretch, k) in self.points and not self.rows.p.moves:
                self.absent.add((k, s))
                self.certain |= {(k, s)} | {(k, t) for t in self.inputs(s) if t in found}

    def inputs(self, s):
        return self.rows.p.reads[self.rows.p.writer[s]]

    def find_windows(self, k, absent):
        """Rows before which absent storages are made again: for their next use, or for what is made of them before that."""
        back, behind = {}, len(self.rows.gaps)
        for s in absent:
            stretch = self.rows.stretch(k, s)
            use = self.rows.next_use(stretch, k, self.no.get(stretch, [])) if stretch < behind else None
            if use is not None:
                back[s] = use
        work = list(back)
        while work:
            s = work.pop()
            for t in self.inputs(s):
                if t in absent and back.get(t, self.rows.count) > back[s]:
                    back[t] = back[s]
                    work.append(t)
        for s, until in back.items():
            self.windows.setdefault(self.rows.stretch(k, s), []).append((until, k))

    def cut(self, i, first, last):
        if i < len(self.rows.gaps):
            for begin, end in sorted(self.no.get(i, [])):
                if first < begin:
                    yield from self.cut_at_windows(i, first, begin - 1)
                first = max(first, end + 1)
        if first <= last:
            yield from self.cut_at_windows(i, first, last)

    def cut_at_windows(self, i, first, last):
        for until, k in sorted(self.windows.get(i, [])):
            if first <= k < until <= last:
                yield self.one_part(i, first, until - 1)
                first = until
        yield self.one_part(i, first, last)

    def one_part(self, i, first, last):
        if any(begin <= first and last <= end for begin, end in self.no.get(i, [])):
            return i, first, last, False
        return i, first, last, True if any(first <= begin and end <= last for begin, end in self.yes.get(i, [])) else None


def proven(p, proof, budget):
    """Checks all cases of a proof, and returns its bound."""
    rows = Rows(p, proof, budget)
    bound, scale = whole(proof["bound"], 1 << 64, "bound"), whole(proof["scale"], 128, "scale")
    tails = len(rows.gaps)

    def size_at(k, case):
        return sum(p.size[rows.storage(i)] for i, first, last, absent in case.parts
                   if i < tails and first <= k <= last and absent is not False)

    def value(number, case):
        prices = proof["prices"][number]
        total, at, price = 0, [0] * (rows.count + 1), [0] * (rows.count + len(rows.reruns))
        for k, more in prices:
            whole(more, 1 << 64, "price")
            price[whole(k, len(price), "row")] += more
        for k in range(rows.count):
            at[k + 1] = at[k] + (0 if k in rows.needs else price[k])
            if k in rows.needs:
                taken = sum(rows.size(k, s) for s in rows.needs[k] if (k, s) in case.certain and (k, s) not in case.absent)
                total += price[k] * (taken - rows.room[k])
            else:
                total += price[k] * rows.excess[k]
        by_reruns = [0] * tails  # prices of a gap's bytes
        for (k, s, size, lasting), paid in zip(rows.reruns, price[rows.count:]):
            if (k, s) in case.absent:
                others = [g for g in lasting if g not in case.at_rows]
                total += paid * (size + sum(p.size[rows.gaps[g][0]] for g in others) - budget)
                for g in others:
                    by_reruns[g] += paid
        left = []  # what parts can still pay
        for i, first, last, absent in case.parts:
            is_tail, s = i >= tails, rows.storage(i)
            cost = rows.tail_cost(s)[0] if is_tail else rows.gaps[i][3]
            paid = (cost << scale) - (0 if is_tail else p.size[s] * (at[last + 1] - at[first] + by_reruns[i]))
            total += paid if absent else 0 if absent is False else min(paid, 0)
            left.append(max(paid, 0) if absent is None else 0)
        return total - (savings(number, price, case, left) if rows.needs else 0)

    def savings(number, price, case, left):
        """Returns the savings by absent storages at rows with needs that no share pays for."""
        save, hold, more = {}, {}, {}
        for k, found in rows.needs.items():
            for s in found:
                worth = price[k] * rows.size(k, s)
                if rows.returns(s) and (k, s) not in case.kept and (k, s) not in case.absent:
                    save[k, s] = worth
                if (k, s) not in case.certain:
                    hold[k, s] = worth
        for k, s, payer, amount in proof["shares"][number]:
            need(amount >= 0, "shares: an amount below 0")
            need(k in rows.needs and s in rows.needs[k] and rows.returns(s), f"shares: {s} is no need at row {k}")
            if (k, s) not in save or (k, payer) in case.certain:
                continue
            if payer == -1:
                bears = case.part.get((k, s))
                need(bears is not None, f"shares: nothing pays for {s} at row {k}")
                if case.parts[bears][3]:
                    continue  # paid for already
                purse, key = left, bears
            else:
                purse, key = hold, (k, payer)
                need(key in hold, f"shares: {payer} is no need at row {k}")
            if payer not in (-1, s):
                need(rows.again(s) and payer in p.reads[p.writer[s]], f"shares: {s} does not need {payer}")
                if s in p.moves:
                    bears = rows.stretch(k, s)
                    limit = 0 if bears is None else rows.more[bears] if bears < tails else rows.tail_cost(s)[1]
                    more.setdefault(bears, limit << scale)
                    need(amount <= more[bears], f"shares: a load of {s} does not cost so much more")
                    more[bears] -= amount
            need(amount <= purse[key] and amount <= save[k, s], f"shares: nothing can pay for {s} at row {k}")
            purse[key] -= amount
            save[k, s] -= amount
        return sum(save.values())

    cases = proof["cases"]
    open_cases = [(0, ())]
    while open_cases:
        at, path = open_cases.pop()
        case = cases[at]
        if "row" in case:
            k = whole(case["row"], rows.count, f"cases[{at}]")
            need(size_at(k, Case(rows, path)) < rows.excess[k], f"cases[{at}]: the row can be covered")
        elif "prices" in case:
            number = whole(case["prices"], len(proof["prices"]), f"cases[{at}]")
            need(bound != NONE, f"cases[{at}]: prices rule nothing out")
            need(bound == 0 or value(number, Case(rows, path)) > (bound - 1) // p.unit * p.unit << scale,
                 f"cases[{at}]: does not reach the bound")
        else:
            s, first, last = case["storage"], case["first"], case["last"]
            found = [span for span in rows.open.get(s, []) if span[1] <= first <= last <= span[2]]
            need(found, f"cases[{at}]: decides rows of no open gap or tail")
            need(not p.moves or (first, last) == found[0][1:], f"cases[{at}]: decides a part of what can be loaded")
            again = case.get("again", False)
            need(not again or found[0][0] < tails and (first, last) == found[0][1:], f"cases[{at}]: decides no whole gap")
            for key in ("absent", "present"):
                need(at < whole(case[key], len(cases), f"cases[{at}]"), f"cases[{at}]: lacks a case")
            open_cases += [(case[key], path + ((found[0][0], first, last, key == "absent", again),)) for key in ("present", "absent")]
    return bound


def bound_of(p, graph, result):
    """The bound of a result's proof, of either kind."""
    if "weighed" in result["certificate"]:
        return proven_by_orders(p, graph, result)
    return proven(p, result["certificate"], result["budget"])


def judge(graph, result):
    """Returns a sentence on what a result proves."""
    p = Graph(graph, result["firing"], result["inplace"], result.get("offload"))
    if result.get("reruns") is False:
        p.pure = [False] * len(p.ops)
    peak, extra = p.play(result["executions"], result.get("loads", []))
    need(peak == result["peak"], f"peak: the executions take {peak}")
    need(extra == result["extra_cost"], f"extra_cost: the executions cost {extra} more")
    bound = bound_of(p, graph, result)
    scope = result["certificate"]["scope"]
    if bound == NONE:
        need(peak > result["budget"], "bound: there are executions within the budget")
        return f"no executions within {result['budget']}, {scope}"
    need(peak > result["budget"] or bound <= extra, f"bound: {bound} is above the cost of executions")
    return f"peak {peak}, extra cost {extra}, proven bound {bound} ({scope})" + (": optimal" if bound == extra else "")


if __name__ == "__main__":
    sys.exit(check.main(__doc__, lambda path: json.loads(path.read_bytes()), judge))
