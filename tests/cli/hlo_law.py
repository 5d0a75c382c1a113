"""Random HLO modules, and their buffers worked out by a simulation that knows how each module was made and reads no text.

Maker(draw, size).text is a module of about `size` instructions, with nested tuples, loops, calls, branches, asynchronous calls,
fusions, aliases and memory spaces; .entry are its steps, .simulation their buffers and peak.
"""
WIDTH = {"f32": 4, "u32": 4, "s32": 4, "s8": 1, "token": 0}
counted = 0  # the memory space whose bytes count
FREE = {"tuple", "get-tuple-element", "bitcast", "opt-barrier", "add-dependency", "after-all"}


class V:
    """A value that one instruction writes at one place of its result. `at`: the step that writes it; None for parameters and constants."""

    def __init__(self, s, at, constant=False):
        self.size, self.room = 0 if constant else shape_size(s), room_of(s)
        self.at, self.constant, self.uses = at, constant, []


class B:
    def __init__(self, v, whole=False):
        self.values, self.whole = [v], whole


def shape_text(s):
    if isinstance(s, list):
        return "(%s)" % ", ".join(("/*index=%d*/" % k if k and k % 5 == 0 else "") + shape_text(part) for k, part in enumerate(s))
    count, kind, space = s
    return "token[]" if kind == "token" else "%s[%d]{0%s}" % (kind, count, ":S(%d)" % space if space else "")


def room_of(s):
    """Bytes and memory space."""
    return (8 * len(s), 0) if isinstance(s, list) else (s[0] * WIDTH[s[1]], s[2])


def shape_size(s):
    size, space = room_of(s)
    return size if space == counted else 0


def of_shape(s, at, constant=False):
    """New values of a shape: the value itself and the trees within."""
    return V(s, at, constant), [of_shape(part, at, constant) for part in s] if isinstance(s, list) else []


def flat(tree):
    return [tree[0]] + [v for part in tree[1] for v in flat(part)]


def leaves(tree, s):
    return [v for part, inner in zip(tree[1], s) for v in leaves(part, inner)] if isinstance(s, list) else [tree[0]]


def named_arrays(tree, s, at):
    """The same arrays under new tables."""
    return (V(s, at), [named_arrays(part, inner, at) for part, inner in zip(tree[1], s)]) if isinstance(s, list) else tree


class Body:
    """A computation: lines of text, and of each step what it writes, reads and calls."""

    def __init__(self, name, parameters):
        self.name, self.lines, self.steps, self.scope = name, [], [], {}
        self.parameters = []
        for k, s in enumerate(parameters):
            tree = of_shape(s, None)
            self.parameters.append((tree, s))
            self.put("p%d" % k, s, "parameter(%d)" % k, tree)

    def put(self, name, s, what, tree):
        self.lines.append("%%%s.%s = %s %s" % (self.name, name, shape_text(s), what))
        self.scope[self.name + "." + name] = (tree, s)
        return self.name + "." + name

    def step(self, name, s, code, operands, tree, attributes="", reads=None, homes=(), alike=(), inner=(), changes=(), control=()):
        """`homes`: pairs of a new value and an old one whose buffer it has if that clobbers nothing. `alike`: pairs of a result and
        an operand that an elementwise operation may read and write at once."""
        t = len(self.steps)
        reads = [v for o in operands for v in flat(self.scope[o][0])] if reads is None else reads
        for v in reads:
            v.uses.append(t)
        wrote = list(dict.fromkeys(v for v in flat(tree) if v.at == t))
        full = self.put(name, s, "%s(%s)%s%s" % (code, ", ".join("%" + o for o in operands), attributes,
                                                ", control-predecessors={%s}" % ", ".join("%" + c for c in control) if control else ""), tree)
        self.steps.append(dict(name=full, code=code, operands=operands, control=list(control), reads=reads, wrote=wrote, homes=list(homes),
                               alike=list(alike), inner=list(inner), changes=list(changes)))
        return full

    def start_of(self, step):
        """The start that an asynchronous step is the end of."""
        steps = {other["name"]: other for other in self.steps}
        while step["code"].endswith(("-done", "-update")):
            step = steps[step["operands"][0]]
            if step["code"].endswith("-start"):
                return step["name"]
        return None

    def text(self, entry=False):
        head = "%s%%%s (%s) -> %s {\n" % ("ENTRY " if entry else "", self.name, ", ".join("p%d: %s" % (k, shape_text(s)) for k, (_, s) in enumerate(self.parameters)), shape_text(self.scope[self.root][1]))
        return head + "".join("  %s%s\n" % ("ROOT " if line.startswith("%%%s " % self.root) else "", line) for line in self.lines) + "}\n\n"


class Simulation:
    """Places the values of a body in buffers, in the order of its steps, and adds up what is alive at each step."""

    def __init__(self, body, pairs=(), fixed=()):
        self.body, self.end = body, len(body.steps)
        self.root = flat(body.scope[body.root][0])
        for v in self.root:
            v.uses.append(self.end)
        self.buffer = {}
        self.given = [v for tree, _ in body.parameters for v in flat(tree)]
        for v in self.given:
            self.buffer[v] = B(v, True)
        takes = {}
        for step in body.steps:
            for new, old in step["homes"]:
                takes.setdefault(new, old)
        pairs = [(new, p) for root, p in pairs for new in self.chain(root, takes)]  # what a result is in, is in the parameter
        for t, step in enumerate(body.steps):
            step["extra"], step["lost"] = 0, []
            for v in step["wrote"]:
                self.place(v, t, [(old, True) for new, old in step["homes"] if new is v] + [(p, False) for r, p in pairs if r is v], fixed,
                           [old for new, old in step["alike"] if new is v])
            for v in step["changes"]:
                b = self.buffer.get(v)
                returned = b is not None and any(w in b.values for w in step["wrote"])
                if not returned:
                    if v.constant or v in fixed or any(u > t for u in v.uses) or b.values[-1] is not v:
                        step["extra"] += v.size
                    else:
                        b.values.append(V((0, "s8", 0), t))
                        step["lost"].append(v)
        self.must = dict(self.buffer)
        self.share()

    def chain(self, v, takes):
        found = [v]
        while found[-1] in takes:
            found.append(takes[found[-1]])
        return found

    def place(self, v, t, homes, fixed, shared):
        for old, own in homes:
            b = self.buffer.get(old)
            if old.constant or old in fixed or b is None or old.room != v.room:
                continue
            old = old if own else b.values[-1]
            clobbers = any(u > t for w in b.values for u in w.uses) or any(w.at == t for w in b.values)
            if not clobbers and (own or t not in old.uses or old in shared):
                b.values.append(v)
                self.buffer[v] = b
                if t not in old.uses:
                    old.uses.append(t)
                return
        self.buffer[v] = B(v)

    def share(self):
        """An elementwise result takes the buffer of an operand that ends with it; neither has another value in its buffer."""
        alone = {v for v, b in self.buffer.items() if len(b.values) == 1 and v.at is not None}
        for t, step in enumerate(self.body.steps):
            taken = set()
            for v in step["wrote"]:
                for old in [old for new, old in step["alike"] if new is v and v in alone]:
                    direct = old.at is not None and self.body.steps[old.at]["name"] in step["operands"]
                    if direct and old in alone and old not in taken and max(old.uses) == t:
                        taken.add(old)
                        self.buffer[old].values.append(v)
                        self.buffer[v] = self.buffer[old]
                        break

    def needs(self, step, one):
        """A branch whose result goes into an older buffer needs bytes for its own."""
        return one if isinstance(one, int) else one[step["wrote"][0].at != self.must[step["wrote"][0]].values[0].at]

    def alive(self, b):
        return (-1, self.end) if b.whole else (min(v.at for v in b.values), max([v.at for v in b.values] + [u for v in b.values for u in v.uses]))

    def peak(self):
        sizes = {b: max(v.size for v in b.values) for b in self.buffer.values()}
        change = [0] * (self.end + 3)
        for b, size in sizes.items():
            first, last = self.alive(b)
            change[first + 1] += size
            change[last + 2] -= size
        alive, sums = 0, []
        for c in change:
            alive += c
            sums.append(alive)
        inner = [max([self.needs(step, one) for one in step["inner"]] + [0]) + step["extra"] for step in self.body.steps]
        return max(sums + [sums[t + 1] + inner[t] for t in range(self.end)])

    def above(self, with_results=True):
        """The peak above parameters and, unless a caller keeps no bytes for them, results."""
        kept = {self.buffer[v] for v in self.given}
        kept |= {self.buffer[v] for v in self.root if not v.constant} if with_results else set()
        return max(0, self.peak() - sum(max(v.size for v in b.values) for b in kept))

    def source(self, v):
        """The value of a parameter in whose buffer a result is."""
        b = self.buffer.get(v)
        return next((p for p in self.given if self.buffer[p] is b), None)

    def changed(self):
        roots = {self.buffer.get(r) for r in self.root}
        return [p for p in self.given if len(self.buffer[p].values) > 1 and self.buffer[p] not in roots]

    def runs_in(self, names):
        """Whether an order reads what it should: of each buffer the value that was written last, and nothing before its time."""
        steps = {step["name"]: step for step in self.body.steps}
        holds, done = {}, set(self.body.scope) - set(steps)
        for name in names:
            step = steps[name]
            if not set(step["operands"] + step["control"]) <= done:
                return False
            for v in step["reads"]:
                if v in self.must and holds.get(self.must[v], self.must[v].values[0]) is not v:
                    return False
            holds.update({self.must[v]: v for v in step["wrote"]})
            holds.update({self.must[v]: None for v in step["lost"]})
            done.add(name)
        return all(holds.get(self.must[v], v) is v for v in self.root if v in self.must)


class Maker:
    """Draws a module."""

    def __init__(self, draw, size):
        self.draw, self.count, self.texts = draw, 0, []
        self.entry = Body("main", [self.shape(2) for _ in range(draw.randint(1, 3))])
        self.grow(self.entry, size, 0)
        self.entry.root = self.gather(self.entry)
        root, s = self.entry.scope[self.entry.root]
        pairs, said = [], []
        for at, v, part in positions(root, s):
            for k, (tree, whole) in enumerate(self.entry.parameters):
                for path, p, other in positions(tree, whole):
                    if part == other and not isinstance(part, list) and all(p is not q for _, q in pairs) and all(v is not w for w, _ in pairs) and draw.random() < 0.5:
                        pairs.append((v, p))
                        said.append("{%s}: (%d, {%s}%s)" % (", ".join(map(str, at)), k, ", ".join(map(str, path)), draw.choice(["", ", may-alias", ", must-alias"])))
        donated = {p for _, p in pairs}
        given = [p for tree, _ in self.entry.parameters for p in flat(tree)]
        self.simulation = Simulation(self.entry, pairs, set(given) - donated)
        header = draw.choice(["", ", is_scheduled=true"]) + (", input_output_alias={ %s }" % ", ".join(said) if said else "")
        self.text = "HloModule random%s\n\n" % header + "".join(self.texts) + self.entry.text(True)

    def name(self, kind):
        self.count += 1
        return "%s.%d" % (kind, self.count)

    def array(self):
        return (self.draw.choice([1, 2, 3, 5, 8, 13, 100]), "f32", self.draw.choice([0, 0, 0, 0, 1]))

    def shape(self, depth):
        if depth == 0 or self.draw.random() < 0.6:
            return self.array()
        return [self.shape(depth - 1) for _ in range(self.draw.choice([1, 2, 3, 7]))]

    def pick(self, body, want):
        found = [name for name, (_, s) in body.scope.items() if want(s)]
        return self.draw.choice(found) if found else None

    def some_array(self, body, s=None):
        name = self.pick(body, lambda other: not isinstance(other, list) and other[1] == "f32" and s in (None, other))
        return name or self.fresh(body, [], s or self.array())

    def fresh(self, body, operands, s):
        return body.step(self.name("make"), s, "custom-call", operands, of_shape(s, len(body.steps)), ', custom_call_target="f", metadata={op_name="({"}')

    def gather(self, body):
        chosen = [self.draw.choice(list(body.scope)) for _ in range(self.draw.choice([1, 2, 3, 6, 7]))]
        return self.tuple(body, chosen)

    def tuple(self, body, chosen):
        t = len(body.steps)
        s = [body.scope[name][1] for name in chosen]
        return body.step(self.name("tuple"), s, "tuple", chosen, (V(s, t), [body.scope[name][0] for name in chosen]))

    def element(self, body, whole, k):
        tree, s = body.scope[whole]
        return body.step(self.name("item"), s[k], "get-tuple-element", [whole], tree[1][k], ", index=%d" % k, reads=[tree[0]] + flat(tree[1][k]))

    def grow(self, body, size, depth):
        kinds = [self.make, self.make, self.unary, self.unary, self.binary, self.some_tuple, self.some_element, self.some_element, self.bitcast,
                 self.barrier, self.update, self.copy, self.aliasing, self.fusion, self.fused_update, self.copying, self.gathering, self.reducing,
                 self.asynchronous, self.constant, self.token] + ([self.loop, self.call, self.branch, self.wrapped] if depth < 2 else [])
        ends = []
        for _ in range(size):
            if ends and self.draw.random() < 0.3:
                ends.pop(self.draw.randrange(len(ends)))()
            end = self.draw.choice(kinds)(body, depth)
            if callable(end):
                ends.append(end)
        for end in ends:
            end()

    # The kinds of instructions.

    def make(self, body, depth):
        operands = [self.draw.choice(list(body.scope)) for _ in range(self.draw.randint(0, 2))] if body.scope else []
        t, s = len(body.steps), self.shape(2)
        control = [self.draw.choice(body.steps)["name"]] if body.steps and self.draw.random() < 0.2 else []
        body.step(self.name("make"), s, "custom-call", operands, of_shape(s, t), ', custom_call_target="f"', control=control)

    def unary(self, body, depth):
        x = self.some_array(body)
        tree, s = of_shape(body.scope[x][1], len(body.steps)), body.scope[x][1]
        body.step(self.name("negate"), s, "negate", [x], tree, alike=[(tree[0], body.scope[x][0][0])])

    def binary(self, body, depth):
        x = self.some_array(body)
        s = body.scope[x][1]
        y = self.some_array(body, s)
        tree = of_shape(s, len(body.steps))
        body.step(self.name("add"), s, "add", [x, y], tree, alike=[(tree[0], body.scope[name][0][0]) for name in (x, y)])

    def some_tuple(self, body, depth):
        names = [name for name, (_, s) in body.scope.items() if len(shape_text(s)) < 200]
        if names:
            self.tuple(body, [self.draw.choice(names) for _ in range(self.draw.choice([1, 2, 3, 6]))])

    def some_element(self, body, depth):
        whole = self.pick(body, lambda s: isinstance(s, list) and s)
        if whole:
            self.element(body, whole, self.draw.randrange(len(body.scope[whole][1])))

    def bitcast(self, body, depth):
        x = self.some_array(body)
        tree, s = body.scope[x]
        body.step(self.name("bitcast"), s, "bitcast", [x], tree)

    def barrier(self, body, depth):
        if body.scope:
            x = self.draw.choice(list(body.scope))
            tree, s = body.scope[x]
            body.step(self.name("barrier"), s, "opt-barrier", [x], tree)

    def constant(self, body, depth):
        s = self.array()[:2] + (0,)
        body.put(self.name("constant"), s, "constant({...})", of_shape(s, None, True))

    def token(self, body, depth):
        t = len(body.steps)
        token = body.step(self.name("all"), (0, "token", 0), "after-all", [self.some_array(body)] if len(body.steps) == t and body.scope else [],
                          of_shape((0, "token", 0), len(body.steps)))
        x = self.some_array(body)
        tree, s = body.scope[x]
        body.step(self.name("dependency"), s, "add-dependency", [x, token], tree)

    def update(self, body, depth):
        x, u = self.some_array(body), self.some_array(body)
        s = body.scope[x][1]
        tree = of_shape(s, len(body.steps))
        body.step(self.name("update"), s, "dynamic-update-slice", [x, u], tree, homes=[(tree[0], body.scope[x][0][0])])

    def copy(self, body, depth):
        if not body.scope:
            return
        x = self.draw.choice(list(body.scope))
        tree, s = body.scope[x]
        if not isinstance(s, list) and s[1] != "token" or isinstance(s, list):
            made = (V(s, len(body.steps)), tree[1])
            body.step(self.name("copy"), s, "copy", [x], made)

    def aliasing(self, body, depth):
        x = self.some_array(body)
        s, old = body.scope[x][1], body.scope[x][0][0]
        several = self.draw.random() < 0.5
        out = [self.array(), s] if several else s
        tree = of_shape(out, len(body.steps))
        new = tree[1][1][0] if several else tree[0]
        body.step(self.name("alias"), out, "custom-call", [self.some_array_of(body), x] if several else [x], tree,
                  ', custom_call_target="g", output_to_operand_aliasing={{%s}: (%d, {})}' % ((1, 1) if several else ("", 0)), homes=[(new, old)])

    def some_array_of(self, body):
        """An array that is there already: no further step."""
        return self.pick(body, lambda s: not isinstance(s, list) and s[1] == "f32")

    def fusion(self, body, depth):
        x = self.some_array(body)
        s = body.scope[x][1]
        alike = self.draw.random() < 0.7
        inner = self.name("fused")
        self.texts.append("%%%s (a: %s) -> %s {\n  %%a = %s parameter(0)\n  ROOT %%b = %s %s(%%a)\n}\n\n" % ((inner,) + (shape_text(s),) * 4 + ("tanh" if alike else "reverse",)))
        tree = of_shape(s, len(body.steps))
        body.step(self.name("fusion"), s, "fusion", [x], tree, ", kind=kLoop, calls=%" + inner,
                  alike=[(tree[0], body.scope[x][0][0])] if alike else [])

    def fused_update(self, body, depth):
        x, u = self.some_array(body), self.some_array(body)
        s, small = shape_text(body.scope[x][1]), shape_text(body.scope[u][1])
        inner = self.name("fused")
        self.texts.append("%%%s (u: %s, a: %s) -> %s {\n  %%u = %s parameter(0)\n  %%a = %s parameter(1)\n  %%v = %s negate(%%u)\n  %%d = %s dynamic-update-slice(%%a, %%v)\n"
                          "  ROOT %%b = %s bitcast(%%d)\n}\n\n" % (inner, small, s, s, small, s, small, s, s))
        tree = of_shape(body.scope[x][1], len(body.steps))
        body.step(self.name("fusion"), body.scope[x][1], "fusion", [u, x], tree, ", kind=kLoop, calls=%" + inner, homes=[(tree[0], body.scope[x][0][0])],
                  alike=[(tree[0], body.scope[x][0][0])] if x != u else [])

    def copying(self, body, depth):
        x = self.some_array(body)
        tree, s = body.scope[x]
        out = [(s[0], "f32", self.draw.choice([0, 1])), s, (1, "u32", 0)]
        made = of_shape(out, len(body.steps))
        made[1][1] = tree
        start = body.step(self.name("copy-start"), out, "copy-start", [x], made)
        return lambda: body.step(self.name("copy-done"), out[0], "copy-done", [start], made[1][0])

    def gathering(self, body, depth):
        xs = [self.some_array(body) for _ in range(self.draw.randint(1, 2))]
        shapes = [body.scope[x][1] for x in xs]
        wide = [(2 * s[0], "f32", 0) for s in shapes]
        out = [shapes, wide] if len(xs) > 1 else shapes + wide
        made = of_shape(out, len(body.steps))
        if len(xs) > 1:
            made[1][0] = (made[1][0][0], [body.scope[x][0] for x in xs])
        else:
            made[1][0] = body.scope[xs[0]][0]
        start = body.step(self.name("gather-start"), out, "all-gather-start", xs, made, ", dimensions={0}, replica_groups=[2,4]<=[4,2]T(1,0)")

        def end():
            done = made[1][1]
            body.step(self.name("gather-done"), out[1], "all-gather-done", [start], (V(out[1], len(body.steps)), done[1]) if len(xs) > 1 else done)
        return end

    def reducing(self, body, depth):
        x = self.some_array(body)
        s = body.scope[x][1]
        made = of_shape(s, len(body.steps))
        start = body.step(self.name("reduce-start"), s, "all-reduce-start", [x], made, homes=[(made[0], body.scope[x][0][0])])
        return lambda: body.step(self.name("reduce-done"), s, "all-reduce-done", [start], made)

    def asynchronous(self, body, depth):
        xs = [self.draw.choice(list(body.scope)) for _ in range(self.draw.randint(0, 2))] if body.scope else []
        shapes = [body.scope[x][1] for x in xs]
        out = [shapes, self.shape(1), (1, "u32", 0)]
        made = of_shape(out, len(body.steps))
        t = len(body.steps)
        made[1][0] = (made[1][0][0], [named_arrays(body.scope[x][0], s, t) for x, s in zip(xs, shapes)])
        start = body.step(self.name("start"), out, "custom-call-start", xs, made, ', custom_call_target="h"')
        return lambda: self.finish(body, start, out, made, "custom-call", [])

    def finish(self, body, start, out, made, base, held):
        if self.draw.random() < 0.5:
            made = named_arrays(made, out, len(body.steps))
            start = body.step(self.name("update"), out, base + "-update", [start], made, reads=flat(body.scope[start][0]) + held)
        t, done = len(body.steps), made[1][1]
        body.step(self.name("done"), out[1], base + "-done", [start], (V(out[1], t), done[1]) if isinstance(out[1], list) else done,
                  reads=flat(made) + held)

    # Called computations.

    def body(self, kind, shapes, depth, size=4):
        inner = Body(self.name(kind), shapes)
        self.grow(inner, self.draw.randint(0, size), depth + 1)
        return inner

    def loop(self, body, depth):
        state = self.pick(body, lambda s: isinstance(s, list) and s and all(not isinstance(p, list) and p[1] == "f32" for p in s))
        state = state or self.tuple(body, [self.some_array(body) for _ in range(self.draw.randint(1, 3))])
        tree, s = body.scope[state]
        condition, inner = self.body("condition", [s], depth), self.body("body", [s], depth)
        condition.root = self.fresh(condition, [condition.name + ".p0"], (1, "s8", 0))
        inner.root = self.tuple(inner, [self.next(inner, inner.name + ".p0", k) for k in range(len(s))])
        asks = Simulation(condition)
        does = Simulation(inner, list(zip(flat(inner.scope[inner.root][0]), flat(inner.parameters[0][0]))))
        self.texts += [condition.text(), inner.text()]
        made = of_shape(s, len(body.steps))
        body.step(self.name("while"), s, "while", [state], made, ", condition=%%%s, body=%%%s" % (condition.name, inner.name),
                  homes=list(zip(flat(made), flat(tree))), inner=[asks.above(False) + sum(v.size for v in asks.changed()), does.above(False)])

    def next(self, body, state, k):
        """The next value of the element k of a loop."""
        old = self.element(body, state, k)
        s = body.scope[old][1]
        how = self.draw.randrange(4)
        tree = of_shape(s, len(body.steps))
        if how == 0:
            return body.step(self.name("negate"), s, "negate", [old], tree, alike=[(tree[0], body.scope[old][0][0])])
        if how == 1:
            return body.step(self.name("update"), s, "dynamic-update-slice", [old, old], tree, homes=[(tree[0], body.scope[old][0][0])])
        return self.fresh(body, [old], s) if how == 2 else old

    def call(self, body, depth):
        if not body.scope:
            return
        xs = [self.draw.choice(list(body.scope)) for _ in range(self.draw.randint(1, 2))]
        inner = self.body("callee", [body.scope[x][1] for x in xs], depth)
        inner.root = self.draw.choice(list(inner.scope)) if self.draw.random() < 0.5 else self.gather(inner)
        does = Simulation(inner)
        self.texts.append(inner.text())
        operand_of = {p: v for x, (tree, _) in zip(xs, inner.parameters) for p, v in zip(flat(tree), flat(body.scope[x][0]))}
        t, homes, made = len(body.steps), [], {}
        root, s = inner.scope[inner.root]

        def result(tree, s):
            p = does.source(tree[0])
            if p is tree[0]:
                v = operand_of[p]
            elif p is not None:
                v = V(s, t)
                homes.append((v, operand_of[p]))
            else:
                v = made.setdefault(tree[0], V(s, t))
            return v, [result(part, inner_shape) for part, inner_shape in zip(tree[1], s)] if isinstance(s, list) else []
        body.step(self.name("call"), s, "call", xs, result(root, s), ", to_apply=%" + inner.name, homes=homes, inner=[does.above()],
                  changes=[operand_of[p] for p in does.changed()])

    def branch(self, body, depth):
        xs = [self.some_array(body) for _ in range(3)]
        s = body.scope[xs[1]][1]
        texts, inner, homes, changes = [], [], [], []
        for x in xs[1:]:
            one = self.body("branch", [body.scope[x][1]], depth)
            one.root = self.some_array(one, s) if self.draw.random() < 0.5 else self.fresh(one, [one.name + ".p0"], s)
            does = Simulation(one)
            texts.append(one)
            inner.append((does.above(), does.above(False)))
            p = does.source(one.scope[one.root][0][0])
            if p is not None and p is not one.scope[one.root][0][0]:
                homes.append(body.scope[x][0][0])
            changes += [body.scope[x][0][0] for _ in does.changed() if body.scope[x][0][0] not in changes]
        self.texts += [one.text() for one in texts]
        tree = of_shape(s, len(body.steps))
        names = [one.name for one in texts]
        attributes = ", true_computation=%%%s, false_computation=%%%s" if self.draw.random() < 0.5 else ", branch_computations={%%%s, %%%s}"
        body.step(self.name("conditional"), s, "conditional", xs, tree, attributes % tuple(names), inner=inner, changes=changes,
                  homes=[(tree[0], homes[0])] if len(set(homes)) == 1 else [])

    def wrapped(self, body, depth):
        """An asynchronous call of a computation."""
        x = self.some_array(body)
        tree, s = body.scope[x]
        inner = self.body("wrapped", [s], depth)
        inner.root = self.fresh(inner, [inner.name + ".p0"], self.array())
        does = Simulation(inner)
        self.texts.append(inner.text())
        out = [[s], inner.scope[inner.root][1]]
        t = len(body.steps)
        made = of_shape(out, t)
        made[1][0] = (made[1][0][0], [tree])
        held = V((does.above(), "s8", counted), t)
        start = body.step(self.name("async-start"), out, "async-start", [x], made, ", calls=%" + inner.name, changes=[tree[0] for _ in does.changed()])
        body.steps[-1]["wrote"].append(held)
        return lambda: self.finish(body, start, out, made, "async", [held])


def positions(tree, s, at=()):
    found = [(at, tree[0], s)]
    for k, part in enumerate(tree[1]):
        found += positions(part, s[k], at + (k,))
    return found
