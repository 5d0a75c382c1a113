"""HLO text as XLA prints it: the module, its computations, their instructions and shapes. Nothing here knows of buffers.

read(text) gives a Module or raises Unreadable, which has a line and a reason.
"""
import re
from bisect import bisect_left
from collections import namedtuple

BITS = {"pred": 8, "token": 0, "c64": 64, "c128": 128, "bf16": 16, "f4e2m1fn": 4}
BITS.update({kind + str(bits): bits for kind in "su" for bits in (1, 2, 4, 8, 16, 32, 64)})
BITS.update({"f%d" % bits: bits for bits in (16, 32, 64)})
BITS.update(dict.fromkeys("f8e3m4 f8e4m3 f8e4m3fn f8e4m3b11fnuz f8e4m3fnuz f8e5m2 f8e5m2fnuz f8e8m0fnu".split(), 8))

DEEPEST = 64  # of tuples within tuples
CLOSES = {"(": ")", "{": "}", "[": "]"}
TABLES = re.compile(r"(FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*(\n[ \t]*[0-9]+ [^\n]*)*(?=\n|$)")
QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
STRING = re.compile(QUOTED, re.S)
COMMENT = re.compile(QUOTED + r"|/\*.*?\*/|//[^\n]*", re.S)
BRACKET = re.compile(QUOTED + r"|[][(){}]", re.S)
SPACE, BLANK, ARROW = re.compile(r"\s*"), re.compile(r"[ \t\r]*"), re.compile(r"\s*->\s*")
MODULE = re.compile(r"HloModule\s+([\w.-]+)")
KIND, CODE = re.compile(r"([a-z][a-z0-9]*)(?=[(\[])"), re.compile(r"\s*([a-z][\w-]*)(?=\()")
DIMENSION = re.compile(r"(<=)?([0-9]{1,18})")
HEAD = re.compile(r"(ROOT\s+)?%?([\w.-]+)\s*=\s*")
COMPUTATION = re.compile(r"(ENTRY\s+)?%?([\w.-]+)\s*(?=[({])")
ATTRIBUTE = re.compile(r"\s*,\s*([\w-]+)\s*=[ \t]*")
PLAIN = re.compile(r'[^\n"(){}\[\],]+')
TILE = re.compile(r"\(([0-9]{1,9}(?:,[0-9]{1,9})*)\)")
LAYOUT_PART = re.compile(r"T((?:\([0-9,]*\))+)|([SEL])\(([0-9]{1,18})\)")

Array = namedtuple("Array", "kind dims dynamic order tiles bits tail space")  # a tuple is a list of shapes
Instruction = namedtuple("Instruction", "root name shape code argument operands attributes line begin end")
Computation = namedtuple("Computation", "name instructions line begin end")
Module = namedtuple("Module", "name attributes spans computations entry text head")


class Reason(Exception):
    """Why something cannot be read, without a place."""


class Unreadable(Exception):
    def __init__(self, line, reason):
        super().__init__("line %d: %s" % (line, reason))
        self.line = line


def need(condition, reason):
    if not condition:
        raise Reason(reason)


def subshapes(shape, at=()):
    """The shape and all shapes within it, each with its path of tuple positions."""
    yield at, shape
    if isinstance(shape, list):
        for k, inner in enumerate(shape):
            yield from subshapes(inner, at + (k,))


def round_up(size, to):
    return -(-size // to) * to


def size_of(shape, pointer):
    """Bytes of an array, or of the table of pointers of a tuple.

    An element has whole bytes unless the layout packs it into E(n) bits. Tiles round the dimensions up, as on TPUs; only the
    outermost tile counts. A bounded dynamic array has its bound, and four bytes for each dimension in front of its elements.
    """
    if isinstance(shape, list):
        return pointer * len(shape)
    if shape.kind == "opaque":
        return pointer
    sides = [shape.dims[d] for d in shape.order]  # the innermost first
    tile = shape.tiles[0][::-1] if shape.tiles else ()
    sides += [1] * (len(tile) - len(sides))
    count = 1
    for k, side in enumerate(sides):
        count *= round_up(side, tile[k]) if k < len(tile) else side
    bits = shape.bits or round_up(BITS[shape.kind], 8)
    count = round_up(count, shape.tail) if tile else count
    size = round_up(count * bits, 8) // 8 + (4 * len(shape.dims) if any(shape.dynamic) else 0)
    need(size < 2 ** 61, "has more than 2^61 bytes")
    return size


class Reader:
    """A position in a text whose comments are blanked, so that places in both are the same."""

    def __init__(self, text):
        blank = lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])
        self.source = text
        self.text = COMMENT.sub(blank, text)
        self.ends = [found.start() for found in re.finditer("\n", self.text.rstrip())]
        self.at = 0
        self.closing, open_ones = {}, []
        for found in BRACKET.finditer(self.text):
            if found[0] in CLOSES:
                open_ones.append(found.start())
            elif found[0][0] != '"':
                if not open_ones or CLOSES[self.text[open_ones[-1]]] != found[0]:
                    self.wrong_bracket = found.start()
                    break
                self.closing[open_ones.pop()] = found.start()
        else:
            self.wrong_bracket = open_ones[-1] if open_ones else None

    def line(self, at=None):
        return bisect_left(self.ends, self.at if at is None else at) + 1

    def need(self, condition, reason, at=None):
        if not condition:
            raise Unreadable(self.line(at), reason)

    def close(self, at):
        """The position of the bracket that closes the one at `at`."""
        self.need(at in self.closing, "brackets do not match", self.wrong_bracket)
        return self.closing[at]

    def skip(self):
        self.at = SPACE.match(self.text, self.at).end()

    def take(self, pattern):
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def shape(self, depth=0):
        self.skip()
        self.need(depth < DEEPEST, "has tuples within tuples, more than %d deep" % DEEPEST)
        if not self.text.startswith("(", self.at):
            return self.array()
        end, parts = self.close(self.at), []
        self.at += 1
        self.skip()
        while self.at < end:
            parts.append(self.shape(depth + 1))
            self.skip()
            self.need(self.at == end or self.text[self.at] == ",", "has a tuple shape without a comma or an end")
            self.at += self.at < end
        self.at = end + 1
        return parts

    def array(self):
        begin = self.at
        found = self.take(KIND)
        self.need(found, "has no shape")
        kind = found[1]
        self.need(self.text[self.at] == "[" or kind == "b", "has no shape", begin)
        self.need(kind in BITS or kind == "opaque", "has elements of type %s, which is unknown" % kind, begin)
        end = self.close(self.at)
        dims, dynamic = self.dimensions(self.text[self.at + 1:end])
        self.at = end + 1
        order, parts, bits, tail, space = None, (), 0, 1, 0
        if self.text.startswith("{", self.at):
            end = self.close(self.at)
            order, parts, bits, tail, space = self.layout(self.text[self.at + 1:end], len(dims))
            self.at = end + 1
        order = tuple(range(len(dims) - 1, -1, -1)) if order is None else order
        self.need(kind not in ("token", "opaque") or not dims, "is a %s with dimensions" % kind, begin)
        return Array(kind, dims, dynamic, order, parts, bits, tail, space)

    def dimensions(self, text):
        dims, dynamic = [], []
        for part in [p.strip() for p in text.split(",")] if text.strip() else []:
            size = DIMENSION.fullmatch(part)
            self.need(size, "has the dimension '%s', which has no bound" % part[:40])
            dynamic.append(bool(size[1]))
            dims.append(int(size[2]))
        return tuple(dims), tuple(dynamic)

    def layout(self, text, rank):
        text = "".join(text.split())
        numbers, _, rest = text.partition(":")
        self.need(re.fullmatch(r"([0-9]{1,9}(,[0-9]{1,9})*)?", numbers), "has the layout {%s}" % text[:60])
        order = tuple(int(n) for n in numbers.split(",")) if numbers else None
        fits = order is None or sorted(order) == list(range(rank))
        self.need(fits, "has the layout {%s}, which is none of its dimensions" % text[:60])
        tiles, given, at = (), {}, 0
        while at < len(rest):
            part = LAYOUT_PART.match(rest, at)
            self.need(part, "has the layout {%s}, of which '%s' is not understood" % (text[:60], rest[at:at + 20]))
            if part[1]:
                tiles = tuple(tuple(int(n) for n in t.split(",")) for t in TILE.findall(part[1]))
                self.need(tiles and all(map(all, tiles)), "has the tile %s" % part[1][:60])
            else:
                given[part[2]] = int(part[3])
            at = part.end()
        return order, tiles, given.get("E", 0), given.get("L", 1) or 1, given.get("S", 0)

    def attributes(self):
        """Reads ", key=value" as often as it stands here. Gives the values, and the place of each from its comma to its end."""
        found, spans = {}, {}
        while True:
            begin = self.at
            key = self.take(ATTRIBUTE)
            if not key:
                return found, spans
            self.need(key[1] not in found, "has the attribute %s twice" % key[1])
            start = self.at
            while self.at < len(self.text) and self.text[self.at] not in ",\n)]}":
                if self.text[self.at] == '"':
                    self.need(self.take(STRING), "has a string without an end")
                elif self.text[self.at] in CLOSES:
                    self.at = self.close(self.at) + 1
                else:
                    self.take(PLAIN)
            found[key[1]] = self.text[start:self.at].strip()
            self.need(found[key[1]], "has the attribute %s without a value" % key[1])
            spans[key[1]] = (begin, self.at)

    def split(self, begin, end):
        """The parts between commas outside of all brackets."""
        parts, start, at = [], begin, begin
        while at < end:
            if self.text[at] in CLOSES:
                at = self.close(at)
            elif self.text[at] == ",":
                parts.append(self.text[start:at].strip())
                start = at + 1
            at += 1
        last = self.text[start:end].strip()
        return parts + [last] if parts or last else []

    def instruction(self):
        begin, head = self.at, self.take(HEAD)
        self.need(head, "is no instruction: '%s'" % self.text[self.at:self.at + 40].split("\n")[0])
        line = self.line(begin)
        try:
            return self.behind(begin, line, bool(head[1]), head[2])
        except Unreadable as e:
            raise Unreadable(e.line, "%s: %s" % (head[2], str(e).partition(": ")[2])) from None

    def behind(self, begin, line, root, name):
        shape = self.shape()
        code = self.take(CODE)
        self.need(code, "has no operation")
        end = self.close(self.at)
        argument, operands = self.text[self.at + 1:end].strip(), []
        if code[1] not in ("parameter", "constant"):
            for part in self.split(self.at + 1, end):
                operand = re.fullmatch(r"(?:.*\s)?%?([\w.-]+)", part, re.S)
                self.need(operand, "has the operand '%s', which is no name" % part[:40])
                operands.append(operand[1])
        self.at = end + 1
        attributes, _ = self.attributes()
        return Instruction(root, name, shape, code[1], argument, operands, attributes, line, begin, self.at)

    def computation(self):
        begin, head = self.at, self.take(COMPUTATION)
        self.need(head, "is no computation: '%s'" % self.text[self.at:self.at + 40].split("\n")[0])
        if self.text[self.at] == "(":
            self.at = self.close(self.at) + 1
            self.need(self.take(ARROW), "%s has no result" % head[2])
            self.shape()
            self.skip()
            self.need(self.text.startswith("{", self.at), "%s has no body" % head[2])
        end, found, names = self.close(self.at), [], set()
        self.at += 1
        inside = self.at
        self.skip()
        while self.at < end:
            found.append(self.instruction())
            self.need(found[-1].name not in names, "%s: is defined twice" % found[-1].name, found[-1].begin)
            names.add(found[-1].name)
            rest = BLANK.match(self.text, self.at).end()
            follows = self.text[rest:rest + 20].split("\n")[0]
            self.need(rest >= end or not follows, "%s: is followed by '%s'" % (found[-1].name, follows))
            self.skip()
        roots = sum(i.root for i in found)
        self.need(roots == 1, "%s has %s ROOT instructions" % (head[2], roots or "no"), end)
        self.at = end + 1
        self.attributes()
        return bool(head[1]), Computation(head[2], found, self.line(begin), inside, end)

    def module(self):
        self.skip()
        head = self.take(MODULE)
        self.need(head, "does not begin with HloModule and a name")
        after_name = self.at
        attributes, spans = self.attributes()
        self.skip()
        computations, entry = {}, None
        while self.at < len(self.text):
            if not self.take(TABLES):
                line = self.line()
                is_entry, found = self.computation()
                self.need(found.name not in computations, "computation %s is defined twice" % found.name, found.begin)
                self.need(not (is_entry and entry), "has a second ENTRY computation, %s" % found.name, found.begin)
                computations[found.name] = found
                entry = found.name if is_entry else entry
            self.skip()
        self.need(entry, "has no ENTRY computation")
        return Module(head[1], attributes, spans, computations, entry, self.source, after_name)


def read(text):
    return Reader(text).module()


def names_in(text):
    """The names in a list as {%a, %b}, %a or a, b."""
    return re.findall(r"[\w.-]+", text)


def path_in(text):
    """The path in a text as 1,0."""
    return tuple(int(n) for n in re.findall(r"[0-9]{1,9}", text))
