"""Graphs and networks in MLIR, made rather than kept: linalg on tensors, with a main function that runs them.

Every function is called with constant tensors; main prints what it returns, and what it took of the heap (heap.c).
"""
import os
import random


def tensor(shape):
    return "tensor<" + "x".join(map(str, shape)) + "xf32>"


class Function:
    """Builds one function; values are (name, shape)."""

    def __init__(self, name, inputs):
        self.name, self.lines, self.count = name, [], 0
        self.inputs = [("%%x%d" % i, tuple(s)) for i, s in enumerate(inputs)]
        self.line("%z = arith.constant 0.0 : f32")

    def line(self, text):
        self.lines.append("    " + text)

    def value(self, shape, text):
        name = "%%v%d" % self.count
        self.count += 1
        self.line(name + " = " + text)
        return name, tuple(shape)

    def constant(self, shape, number):
        return self.value(shape, "arith.constant dense<%.6e> : %s" % (number, tensor(shape)))

    def empty(self, shape):
        return self.value(shape, "tensor.empty() : " + tensor(shape))

    def zeros(self, shape):
        e = self.empty(shape)
        return self.value(shape, "linalg.fill ins(%%z : f32) outs(%s : %s) -> %s" % (e[0], tensor(shape), tensor(shape)))

    def op(self, op, inputs, out, extra=""):
        """A named operation of linalg with one destination."""
        names, types = ", ".join(v[0] for v in inputs), ", ".join(tensor(v[1]) for v in inputs)
        result = " -> " + tensor(out[1]) if not extra.startswith(" permutation") else ""
        return self.value(out[1], "linalg.%s ins(%s : %s) outs(%s : %s)%s%s" % (op, names, types, out[0], tensor(out[1]),
                                                                               extra, result))

    def pointwise(self, op, inputs, out=None):
        return self.op(op, inputs, out or self.empty(inputs[0][1]))

    def matmul(self, a, b):
        return self.op("matmul", [a, b], self.zeros((a[1][0], b[1][1])))

    def transpose(self, a):
        return self.op("transpose", [a], self.empty(a[1][::-1]), " permutation = [1, 0]")

    def generic(self, inputs, by_channel, text):
        """Element by element over inputs of one shape and others of one number a channel; the text computes %r from %a, %b..."""
        shape, out = inputs[0][1], self.empty(inputs[0][1])
        whole = ", ".join("d%d" % i for i in range(len(shape)))
        maps = ["affine_map<(%s) -> (%s)>" % (whole, m) for m in [whole] * len(inputs) + ["d1"] * len(by_channel) + [whole]]
        values = inputs + by_channel
        return self.value(shape, "linalg.generic {indexing_maps = [%s], iterator_types = [%s]} ins(%s : %s) outs(%s : %s) {\n"
                          "    ^bb0(%s, %%o: f32):\n%s\n      linalg.yield %%r : f32\n    } -> %s" % (
                              ", ".join(maps), ", ".join(['"parallel"'] * len(shape)), ", ".join(v[0] for v in values),
                              ", ".join(tensor(v[1]) for v in values), out[0], tensor(shape),
                              ", ".join("%%%s: f32" % n for n in "abcd"[:len(values)]),
                              "\n".join("      " + line for line in text), tensor(shape)))

    def slice(self, a, shape):
        return self.value(shape, "tensor.extract_slice %s[0, 0] [%d, %d] [1, 1] : %s to %s" %
                          (a[0], *shape, tensor(a[1]), tensor(shape)))

    def insert(self, part, whole, offset):
        n = len(whole[1])
        sizes = ", ".join(map(str, part[1]))
        return self.value(whole[1], "tensor.insert_slice %s into %s[%s] [%s] [%s] : %s into %s" % (
            part[0], whole[0], ", ".join(map(str, offset)), sizes, ", ".join(["1"] * n), tensor(part[1]), tensor(whole[1])))

    def text(self, results):
        """Arguments are not written: main would copy its constants first, in the heap that is counted."""
        types = ", ".join(tensor(r[1]) for r in results)
        self.results = results
        head = "  func.func @%s(%s) -> (%s) {\n" % (self.name, ", ".join(
            "%s: %s {bufferization.writable = false}" % (n, tensor(s)) for n, s in self.inputs), types)
        return head + "\n".join(self.lines) + "\n    return %s : %s\n  }\n" % (", ".join(r[0] for r in results), types)


def calls(functions, seed=1):
    """Returns a main that calls functions of (name, shapes of arguments, of results) with constants, and prints their results."""
    r, main, n = random.Random(seed), [], 0

    def elements(dims):
        if not dims:
            return "%.4f" % r.uniform(-1, 1)
        return "[" + ", ".join(elements(dims[1:]) for _ in range(dims[0])) + "]"

    for name, inputs, outputs in functions:
        arguments = ["%%c%d_%d" % (n, i) for i in range(len(inputs))]
        for argument, shape in zip(arguments, inputs):
            main.append("    %s = arith.constant dense<%s> : %s" % (argument, elements(shape), tensor(shape)))
        main.append("    call @heap_begin() : () -> ()")
        main.append("    %%r%d:%d = call @%s(%s) : (%s) -> (%s)" % (n, len(outputs), name, ", ".join(arguments), ", ".join(
            map(tensor, inputs)), ", ".join(map(tensor, outputs))))
        main.append("    call @heap_end() : () -> ()")
        for i, shape in enumerate(outputs):
            main.append("    %%u%d_%d = tensor.cast %%r%d#%d : %s to tensor<*xf32>" % (n, i, n, i, tensor(shape)))
            main.append("    call @printMemrefF32(%%u%d_%d) : (tensor<*xf32>) -> ()" % (n, i))
        n += 1
    return ("  func.func private @heap_begin()\n  func.func private @heap_end()\n  func.func private @tick()\n"
            "  func.func private @printMemrefF32(tensor<*xf32> {bufferization.access = \"read\"})\n"
            "      attributes {llvm.emit_c_interface}\n"
            "  func.func @main() {\n" + "\n".join(main) + "\n    return\n  }\n")


def module(functions, bodies):
    """All functions, and main."""
    rows = [(f.name, [s for _, s in f.inputs], [s for _, s in f.results]) for f in functions]
    return "module {\n" + "".join(bodies) + calls(rows) + "}\n"


def branches(sizes, name="branches"):
    """n branches of a 1 x 8 input: widened to w columns, then narrowed to 4, and all added up. The file widens all first.

    Given: all wide tensors and the first narrow one. Best: narrow each before the next is widened, the widest first.
    """
    f = Function(name, [(1, 8)])
    wide = [f.matmul(f.inputs[0], f.constant((8, w), 0.01 * (i + 1))) for i, w in enumerate(sizes)]
    narrow = [f.matmul(v, f.constant((w, 4), 0.02)) for v, w in zip(wide, sizes)]
    total = narrow[0]
    for v in narrow[1:]:
        total = f.pointwise("add", [total, v], total)
    given = sum(4 * w for w in sizes) + 16
    order = sorted(sizes, reverse=True)
    best = max(4 * w + 16 * min(i + 1, len(sizes)) for i, w in enumerate(order))
    return f, f.text([total]), given, best


def one_call(n=256):
    """Operations on buffers of one size, and a call, which no store and no deallocation crosses. Two buffers die before the
    call; one that is made first is used after it. Four stand at once if all die at the end; the least is two."""
    f = Function("one_call", [(n,)])
    late = f.pointwise("negf", [f.inputs[0]])
    first = f.pointwise("exp", [f.inputs[0]])
    out = f.pointwise("abs", [first])
    second = f.pointwise("exp", [out])
    out = f.pointwise("add", [out, second], out)
    f.line("func.call @tick() : () -> ()")
    return f, f.text([f.pointwise("add", [out, late], out)])


def attention(tokens=64, width=32, heads=8):
    """Self-attention of several heads as a front end writes it, stage by stage: all queries, keys and values, all scores, all
    their exponentials, all outputs, which are projected and added to the input. (Without the division by the sums of rows.)"""
    f = Function("attention", [(tokens, width)])
    x, size_ = f.inputs[0], width // 2
    weight = lambda rows, columns: f.constant((rows, columns), 0.01 * (1 + f.count % 7))
    queries, keys, values = ([f.matmul(x, weight(width, size_)) for _ in range(heads)] for _ in range(3))
    queries, keys, values = list(queries), list(keys), list(values)
    scores = [f.matmul(q, f.transpose(k)) for q, k in zip(queries, keys)]
    shares = [f.pointwise("exp", [s]) for s in scores]
    outputs = [f.matmul(s, v) for s, v in zip(shares, values)]
    for o in outputs:
        x = f.pointwise("add", [x, f.matmul(o, weight(size_, width))])
    return f, f.text([x])


def fire_network(size_=16, modules=4):
    """Convolutions that squeeze and expand, as in SqueezeNet: each module's two halves are put together by insertion."""
    f = Function("fire", [(1, size_, size_, 3)])

    def conv(x, k, out):
        n, h, w, c = x[1]
        if k > 1:
            shape = (n, h + k - 1, w + k - 1, c)
            x = f.value(shape, "tensor.pad %s low[0, %d, %d, 0] high[0, %d, %d, 0] {\n    ^bb0(%%i: index, %%j: index, %%k: index, "
                        "%%l: index):\n      tensor.yield %%z : f32\n    } : %s to %s" % (x[0], *(k // 2,) * 4, tensor(x[1]), tensor(shape)))
        weight = f.constant((k, k, c, out), 0.3 / (k * k * c) * (1 + f.count % 7))
        shape, dest = (n, h, w, out), f.zeros((n, h, w, out))
        return f.value(shape, "linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} "
                       "ins(%s, %s : %s, %s) outs(%s : %s) -> %s" % (x[0], weight[0], tensor(x[1]), tensor(weight[1]), dest[0],
                                                                     tensor(shape), tensor(shape)))

    x = conv(f.inputs[0], 3, 16)
    for _ in range(modules):
        squeezed = conv(x, 1, 4)
        one, three = conv(squeezed, 1, 8), conv(squeezed, 3, 8)
        whole = f.insert(one, f.empty((1, size_, size_, 16)), (0, 0, 0, 0))
        x = f.pointwise("abs", [f.insert(three, whole, (0, 0, 0, 8))])
    return f, f.text([conv(x, 1, 2)])


def mobilenet_v2(size=32, classes=1000):
    """MobileNetV2 (Sandler et al., 2018, Table 2) as a front end writes it: batch norm and ReLU6 stand alone, and the weights of
    the classifier are transposed where they are used. Weights are splats."""
    f = Function("mobilenet_v2", [(1, 3, size, size)])
    f.line("%six = arith.constant 6.0 : f32")

    def conv(x, kernel, channels, stride=1, depthwise=False, relu=True):
        n, c, h, w = x[1]
        if kernel > 1:
            padded = (n, c, h + 2, w + 2)
            x = f.value(padded, "tensor.pad %s low[0, 0, 1, 1] high[0, 0, 1, 1] {\n    ^bb0(%%i: index, %%j: index, %%k: index, "
                        "%%l: index):\n      tensor.yield %%z : f32\n    } : %s to %s" % (x[0], tensor(x[1]), tensor(padded)))
            h, w = (h - 1) // stride + 1, (w - 1) // stride + 1
        shape = (channels, kernel, kernel) if depthwise else (channels, c, kernel, kernel)
        weight = f.constant(shape, (1 + f.count % 5) / (kernel * kernel * (1 if depthwise else c)))
        op = "depthwise_conv_2d_nchw_chw" if depthwise else "conv_2d_nchw_fchw"
        x = f.op(op + " {strides = dense<%d> : tensor<2xi64>}" % stride, [x, weight], f.zeros((n, channels, h, w)))
        numbers = [f.constant((channels,), number) for number in (1.25, 0.125)]
        x = f.generic([x], numbers, ["%m = arith.mulf %a, %b : f32", "%r = arith.addf %m, %c : f32"])
        if relu:
            x = f.generic([x], [], ["%p = arith.maximumf %a, %z : f32", "%r = arith.minimumf %p, %six : f32"])
        return x

    x = conv(f.inputs[0], 3, 32, stride=2)
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for widen, channels, count, stride in rows:
        for i in range(count):
            inside = conv(x, 1, widen * x[1][1]) if widen > 1 else x
            inside = conv(inside, 3, inside[1][1], stride=1 if i else stride, depthwise=True)
            inside = conv(inside, 1, channels, relu=False)
            x = f.generic([x, inside], [], ["%r = arith.addf %a, %b : f32"]) if i else inside
    x = conv(x, 1, 1280)
    side = x[1][2]
    window = f.empty((side, side))
    x = f.op("pooling_nchw_sum", [x, window], f.zeros((1, 1280, 1, 1)))
    x = f.value((1, 1280), "tensor.collapse_shape %s [[0], [1, 2, 3]] : %s into %s" % (x[0], tensor(x[1]), tensor((1, 1280))))
    logits = f.matmul(x, f.transpose(f.constant((classes, 1280), 0.001)))
    return f, f.text([f.generic([logits], [f.constant((classes,), 0.01)], ["%r = arith.addf %a, %b : f32"])])


def random_function(seed, operations=24, calls=False, prints=False):
    """With calls, between the operations: of functions that take tensors and others, also in loops that carry tensors. With
    prints, tensors also go to a function that the module does not hold."""
    r = random.Random(seed)
    dims = [4, 8, 16, 32]
    shape = lambda: (r.choice(dims), r.choice(dims))
    f = Function("random%d" % seed, [shape(), shape()])
    values, empties = list(f.inputs), {}

    def some():
        return values[-1 - min(int(r.expovariate(0.25)), len(values) - 1)]

    def destination(s):
        if s not in empties or r.random() < 0.5:
            empties[s] = f.empty(s)
        return empties[s]

    def call(a):
        kind, type_ = r.randrange(4), tensor(a[1])
        if kind < 2:
            return f.line("func.call @tick() : () -> ()")
        if kind == 2:
            return values.append(f.value(a[1], "func.call @minus_%dx%d(%s) : (%s) -> %s" % (*a[1], a[0], type_, type_)))
        f.index = f.index if hasattr(f, "index") else [f.value((), "arith.constant %d : index" % i)[0] for i in range(3)]
        values.append(f.value(a[1], "scf.for %%i = %s to %s step %s iter_args(%%t = %s) -> (%s) {\n"
                              "      func.call @tick() : () -> ()\n"
                              "      %%u = linalg.abs ins(%%t : %s) outs(%%t : %s) -> %s\n"
                              "      scf.yield %%u : %s\n    }" % (f.index[0], f.index[2], f.index[1], a[0], *[type_] * 5)))

    while len(values) < operations:
        a, kind = some(), r.random()
        if calls and r.random() < 0.3:
            call(a)
            continue
        if prints and r.random() < 0.25:
            u = f.value((), "tensor.cast %s : %s to tensor<*xf32>" % (a[0], tensor(a[1])))
            f.line("func.call @printMemrefF32(%s) : (tensor<*xf32>) -> ()" % u[0])
            continue
        if kind < 0.25:
            values.append(f.op(r.choice(["negf", "abs"]), [a], destination(a[1])))
        elif kind < 0.45:
            others = [v for v in values if v[1] == a[1]]
            values.append(f.op(r.choice(["add", "sub"]), [a, r.choice(others)], destination(a[1])))
        elif kind < 0.7:
            b = next((v for v in reversed(values) if v[1][0] == a[1][1] and r.random() < 0.7), None)
            values.append(f.matmul(a, b or f.constant((a[1][1], r.choice(dims)), r.uniform(-0.2, 0.2))))
        elif kind < 0.8:
            values.append(f.transpose(a))
        elif kind < 0.9:
            values.append(f.slice(a, (max(a[1][0] // 2, 4), a[1][1])))
        else:
            part = some()
            if part[1][0] <= a[1][0] and part[1][1] <= a[1][1]:
                values.append(f.insert(part, a, (0, 0)))
    results = [values[-1]] + r.sample(values[len(values) // 2:-1], r.randrange(0, 3))
    results = [v for v in results if v not in f.inputs]
    return f, f.text(results)


def callees():
    """Returns the functions that random functions with calls may call."""
    text = ""
    for m in 4, 8, 16, 32:
        for n in 4, 8, 16, 32:
            type_ = tensor((m, n))
            text += "  func.func private @minus_%dx%d(%%x: %s) -> %s {\n" % (m, n, type_, type_)
            text += "    %%e = tensor.empty() : %s\n    %%r = linalg.negf ins(%%x : %s) outs(%%e : %s) -> %s\n" % (*[type_] * 4,)
            text += "    return %%r : %s\n  }\n" % type_
    return text


def many_operations(n):
    """About n operations: branches of several widths, eight at a time side by side."""
    f = Function("many", [(1, 8)])
    r, x = random.Random(5), f.inputs[0]
    total = f.zeros((1, 8))
    while f.count < n:
        wide = [f.matmul(x, f.constant((8, 8 * r.randrange(2, 40)), 0.01)) for _ in range(8)]
        for v in wide:
            narrow = f.matmul(v, f.constant((v[1][1], 8), 0.02))
            total = f.pointwise("add", [total, narrow], total)
        x = f.pointwise("abs", [total])
    return f, f.text([total])


PUBLIC = {"squeezenet1_0": 32, "inception_v3": 299}  # sides of images


def public(directory, name):
    """A network of other projects, and main. Constants lose their signs: each tensor of weights has one number all over, and
    with negative ones the outputs would be zeros."""
    text = open(os.path.join(directory, name + ".mlir")).read().rstrip().replace("dense<-", "dense<")
    return text[:-1] + calls([("forward", [(1, 3, PUBLIC[name], PUBLIC[name])], [(1, 1000)])]) + "}\n"


def many_buffers(n):
    """Returns many_operations(n) as bufferization and deallocation leave it. MLIR takes minutes for 10,000."""
    r, lines, allocated, widths = random.Random(5), [], [], set()
    kind = lambda *shape: tensor(shape).replace("tensor", "memref")

    def buffer(width, fill=True):
        name = "%%b%d" % len(allocated)
        allocated.append((name, kind(1, width)))
        lines.append("%s = memref.alloc() : %s" % allocated[-1])
        if fill:
            lines.append("linalg.fill ins(%%z : f32) outs(%s : %s)" % allocated[-1])
        return name

    def matmul(a, rows, columns):
        weights, out = "%%c%dx%d" % (rows, columns), buffer(columns)
        if (rows, columns) not in widths:
            lines.append("%s = memref.get_global @weights_%dx%d : %s" % (weights, rows, columns, kind(rows, columns)))
        widths.add((rows, columns))
        lines.append("linalg.matmul ins(%s, %s : %s, %s) outs(%s : %s)" % (
            a, weights, kind(1, rows), kind(rows, columns), out, kind(1, columns)))
        return out

    total, x, count = buffer(8), "%x0", 2
    while count < n:
        each = [8 * r.randrange(2, 40) for _ in range(8)]
        for wide, width in [(matmul(x, 8, w), w) for w in each]:
            narrow = matmul(wide, width, 8)
            lines.append("linalg.add ins(%s, %s : %s, %s) outs(%s : %s)" % (total, narrow, *[kind(1, 8)] * 2, total, kind(1, 8)))
        x = buffer(8, False)
        lines.append("linalg.abs ins(%s : %s) outs(%s : %s)" % (total, kind(1, 8), x, kind(1, 8)))
        count += 74
    lines += ["memref.dealloc %s : %s" % b for b in allocated if b[0] != total]
    globals_ = ["  memref.global \"private\" constant @weights_%dx%d : %s = dense<0.01>" % (*w, kind(*w)) for w in sorted(widths)]
    return "\n".join(globals_) + "\n  func.func @many(%%x0: %s) -> %s {\n    %%z = arith.constant 0.0 : f32\n    %s\n    return %s : %s\n  }\n" % (
        kind(1, 8), kind(1, 8), "\n    ".join(lines), total, kind(1, 8))
