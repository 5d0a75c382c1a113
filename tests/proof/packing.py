"""The rules of packing proofs (docs/proofs.md, section 10): which buffers do not fit into an arena."""
import math

from check import need


class Buffer:
    """Bytes that are needed for some time: levels are (moment, size), ever later and ever smaller."""

    def __init__(self, lower, upper, size, alignment=1, fixed=None, drops=()):
        self.lower, self.upper, self.size, self.alignment, self.fixed = lower, upper, size, alignment, fixed
        self.levels = [(lower, size)] + [tuple(d) for d in drops]
        self.grid = alignment if fixed is None else fixed
        self.kind = (lower, upper, alignment, tuple(self.levels)) if fixed is None else None

    def at(self, moment):
        return [size for from_, size in self.levels if from_ <= moment][-1]

    def empty(self):
        return self.size == 0 or self.lower == self.upper


class Ranges:
    """The least and the most that each offset can be, and which of two buffers that meet is known to be below."""

    def __init__(self, buffers, capacity):
        self.buffers = buffers
        self.least, self.most, self.height, self.below = {}, {}, {}, set()
        for i, b in buffers.items():
            self.least[i] = 0 if b.fixed is None else b.fixed
            most = (capacity - b.size) // b.alignment * b.alignment
            self.most[i] = most if b.fixed is None else min(most, b.fixed)

    def list_pairs(self):
        kinds = {}
        for i, a in self.buffers.items():
            for j, b in self.buffers.items():
                shared = max(a.lower, b.lower)
                if i != j and shared < min(a.upper, b.upper):
                    self.height[i, j] = a.at(shared)
            if a.kind:
                self.below.update((j, i) for j in kinds.setdefault(a.kind, []))
                kinds[a.kind].append(i)

    def fork(self, a, b):
        """Returns a copy of these ranges for the case that a is below b."""
        r = Ranges({}, 0)
        r.buffers, r.height = self.buffers, self.height
        r.least, r.most, r.below = dict(self.least), dict(self.most), self.below | {(a, b)}
        return r

    def follow(self):
        """Narrows the ranges by what is known; False where no offsets are left."""
        changed = True
        while changed:
            changed = False
            for i in self.buffers:
                if self.least[i] > self.most[i]:
                    return False
            for (a, b), height in self.height.items():
                if self.least[a] + height > self.most[b]:
                    if (a, b) in self.below:
                        return False
                    if (b, a) not in self.below:
                        self.below.add((b, a))
                        changed = True
            for a, b in self.below:
                if (b, a) in self.below:
                    return False
                height, up, down = self.height[a, b], self.buffers[b].alignment, self.buffers[a].alignment
                least = -(-(self.least[a] + height) // up) * up
                most = (self.most[b] - height) // down * down
                if least > self.least[b]:
                    self.least[b], changed = least, True
                if most < self.most[a]:
                    self.most[a], changed = most, True
        return True

    def too_much(self, moment, chosen):
        """Whether buffers that are live at a moment take more than the room between their least and their most."""
        live = [self.buffers.get(i) for i in chosen]
        need(live and len(set(chosen)) == len(chosen) and all(live), "sum: must name buffers of the proof, each once")
        need(all(b.lower <= moment < b.upper for b in live), "sum: a buffer is not live then")
        sizes = [b.at(moment) for b in live]
        grid = math.gcd(*(b.grid for b in live)) or 1
        rounded = [-(-s // grid) * grid for s in sizes]
        low = min(self.least[i] for i in chosen)
        high = max(self.most[i] + s for i, s in zip(chosen, sizes))
        return sum(rounded) - max(r - s for r, s in zip(rounded, sizes)) > high - low


def refute(buffers, proof, capacity):
    """Whether a packing proof shows that its buffers do not fit; else `Wrong`."""
    names, steps = proof["buffers"], proof["steps"]
    need(all(isinstance(i, int) and 0 <= i < len(buffers) for i in names), "buffers: a number of none")
    need(all(a < b for a, b in zip(names, names[1:])), "buffers: must be ascending")
    known = Ranges({i: buffers[i] for i in names}, capacity)
    need(not any(b.empty() for b in known.buffers.values()), "buffers: one is empty")
    if len(steps) == 1 and isinstance(steps[0], dict) and known.too_much(steps[0]["at"], steps[0]["sum"]):
        return
    known.list_pairs()
    waiting, here = [known], 0
    while waiting:
        known = waiting.pop()
        if not known.follow():
            continue
        need(here < len(steps), "steps: a case is not refuted")
        step, here = steps[here], here + 1
        if isinstance(step, dict):
            need(known.too_much(step["at"], step["sum"]), f"steps[{here - 1}]: the sum is not too much")
            continue
        a, b = step if len(step) == 2 else (None, None)
        need((a, b) in known.height, f"steps[{here - 1}]: two that do not meet")
        waiting += [known.fork(b, a), known.fork(a, b)]
    need(here == len(steps), "steps: the proof ends before the last")
