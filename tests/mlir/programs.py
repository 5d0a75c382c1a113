"""Random programs in MLIR for shuffle.py: memrefs and tensors that name them, in regions and blocks, on heap and stack.

Every program is one function of memrefs of the caller, and prints nothing: main shows what it leaves in them. Behaviour is
defined: everything is written before it is read, nothing is used after its deallocation or the end of its stack, and a
buffer has at most one `to_tensor`, as `restrict` promises. Values shrink, so that nothing overflows.

FEATURES counts what happened, so that a test can ask whether it ever did.
"""
import collections
import random

N = 8  # elements of every buffer and tensor
MEMREF, TENSOR = "memref<%dxf32>" % N, "tensor<%dxf32>" % N
HALF = "memref<%dxf32, strided<[1], offset: %d>>"
SHOWN = 64  # elements of what a program shows
CALLERS = "callers"  # the root of arguments and globals: any two may be one

FEATURES = """if for while nested_regions views select constant_global mutable_global call dealloc alloca stacksave
alloca_around_stacksave_in_a_later_block alloca_that_a_region_yields to_tensor writable_to_tensor to_tensor_stored_to_later
captured_tensor captured_tensor_stored_to_later inner_tensor_from_outside inner_tensor_from_outside_stored_to_later
tensor_cast extract_slice insert_slice carried_tensor tensor_that_a_region_yields tensor_that_a_call_returns
tensor_argument_of_a_buffer memref_that_a_region_yields carried_memref memref_block_argument blocks diamond block_loop
arguments_alias asynchronous_task buffer_that_leaks local_buffer_across_call kept_by_a_call kept_as_a_number kept_deallocated
memref_that_a_call_returns memref_in_memory memref_from_memory memory_of_memrefs_in_a_call recursive_call
kept_by_a_recursive_call external_call private_space memref_that_a_block_hands_to_itself local_buffer_in_a_block_loop""".split()

HELPERS = """
  memref.global "private" @state : memref<8xf32> = dense<[1.0, 0.5, 0.25, 2.0, 1.5, 0.75, 3.0, 0.125]>
  memref.global "private" constant @weights : memref<8xf32> = dense<[0.5, 1.0, 0.25, 0.75, 2.0, 0.5, 1.5, 1.0]>
  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
  func.func private @bump() {
    %i = arith.constant 3 : index
    %h = arith.constant 0.5 : f32
    %s = memref.get_global @state : memref<8xf32>
    %x = memref.load %s[%i] : memref<8xf32>
    %y = arith.mulf %x, %h : f32
    %z = arith.addf %y, %h : f32
    memref.store %z, %s[%i] : memref<8xf32>
    return
  }
  func.func private @total(%m: memref<8xf32>) -> f32 {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %8 = arith.constant 8 : index
    %z = arith.constant 0.0 : f32
    %t = arith.constant 0.125 : f32
    %r = scf.for %i = %0 to %8 step %1 iter_args(%a = %z) -> f32 {
      %x = memref.load %m[%i] : memref<8xf32>
      %y = arith.mulf %x, %t : f32
      %s = arith.addf %a, %y : f32
      scf.yield %s : f32
    }
    return %r : f32
  }
  func.func private @blend(%m: memref<8xf32>, %x: f32) {
    %i = arith.constant 5 : index
    %h = arith.constant 0.5 : f32
    %o = memref.load %m[%i] : memref<8xf32>
    %s = arith.addf %o, %x : f32
    %y = arith.mulf %s, %h : f32
    memref.store %y, %m[%i] : memref<8xf32>
    return
  }
  memref.global "private" @kept : memref<1xindex> = dense<0>
  func.func private @keep(%m: memref<8xf32>) {
    %i = arith.constant 0 : index
    %k = memref.get_global @kept : memref<1xindex>
    %p = memref.extract_aligned_pointer_as_index %m : memref<8xf32> -> index
    memref.store %p, %k[%i] : memref<1xindex>
    return
  }
  func.func private @keep_deep(%m: memref<8xf32>, %n: index) {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %p = arith.cmpi eq, %n, %0 : index
    scf.if %p {
      func.call @keep(%m) : (memref<8xf32>) -> ()
    } else {
      %d = arith.subi %n, %1 : index
      func.call @keep_deep(%m, %d) : (memref<8xf32>, index) -> ()
    }
    return
  }
  func.func private @blend_deep(%m: memref<8xf32>, %x: f32, %n: index) -> f32 {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1 : index
    %p = arith.cmpi eq, %n, %0 : index
    %r = scf.if %p -> f32 {
      func.call @blend(%m, %x) : (memref<8xf32>, f32) -> ()
      %y = func.call @total(%m) : (memref<8xf32>) -> f32
      scf.yield %y : f32
    } else {
      %d = arith.subi %n, %1 : index
      %y = func.call @blend_deep(%m, %x, %d) : (memref<8xf32>, f32, index) -> f32
      scf.yield %y : f32
    }
    return %r : f32
  }
  func.func private @touch(memref<8xf32>) -> f32 attributes {llvm.emit_c_interface}
  func.func private @change_kept() -> f32 {
    %i = arith.constant 0 : index
    %h = arith.constant 0.5 : f32
    %k = memref.get_global @kept : memref<1xindex>
    %n = memref.load %k[%i] : memref<1xindex>
    %j = arith.index_cast %n : index to i64
    %p = llvm.inttoptr %j : i64 to !llvm.ptr
    %e = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %x = llvm.load %e : !llvm.ptr -> f32
    %y = arith.mulf %x, %h : f32
    %z = arith.addf %y, %h : f32
    llvm.store %z, %e : f32, !llvm.ptr
    return %z : f32
  }
  func.func private @blend_in(%t: memref<1xmemref<8xf32>>, %x: f32) {
    %i = arith.constant 0 : index
    %m = memref.load %t[%i] : memref<1xmemref<8xf32>>
    call @blend(%m, %x) : (memref<8xf32>, f32) -> ()
    return
  }
  func.func private @same(%m: memref<8xf32>) -> memref<8xf32> {
    return %m : memref<8xf32>
  }
  func.func private @as_tensor(%m: memref<8xf32>) -> tensor<8xf32> {
    %t = bufferization.to_tensor %m restrict : memref<8xf32> to tensor<8xf32>
    return %t : tensor<8xf32>
  }
"""


class Value:
    """A memref or a tensor: its type, where its storage may lie (roots), and whether a tensor does name a buffer."""

    def __init__(self, name, type_, roots, writable=True, names_buffer=False):
        self.name, self.type, self.roots, self.writable = name, type_, frozenset(roots), writable
        self.names_buffer = names_buffer


class Table:
    """A buffer that holds a memref: where that may point. It ends with the first such buffer that is freed."""

    def __init__(self, name):
        self.name, self.roots, self.ended = name, set(), False


class Scope:
    """The values at hand in one block: a copy of those outside, and those that this block made."""

    def __init__(self, outer=None):
        self.memrefs = list(outer.memrefs) if outer else []
        self.tensors = list(outer.tensors) if outer else []
        self.scalars = list(outer.scalars) if outer else []
        self.outside = set(outer.tensors) if outer else set()
        self.own, self.captured = set(), set()  # roots allocated here; tensors that only regions of this block used
        self.used_from_outside = set()

    def forget(self, roots):
        self.memrefs = [v for v in self.memrefs if not v.roots & roots]
        self.tensors = [v for v in self.tensors if not v.roots & roots]


class Program:
    def __init__(self, name, seed, counts):
        self.name, self.r, self.counts = name, random.Random(seed), counts
        self.lines, self.number, self.indent, self.depth = [], 0, "    ", 0
        self.tensored = set()  # roots behind a to_tensor
        self.heap, self.kept, self.tables = {CALLERS}, {CALLERS}, []  # roots that nothing but dealloc ends; may be kept
        self.later_block = False
        self.inner = []  # further functions
        self.scopes = []

    # what is written

    def line(self, text):
        self.lines.append(self.indent + text)

    def new(self, text):
        self.number += 1
        name = "%%v%d" % self.number
        self.line("%s = %s" % (name, text))
        return name

    def note(self, feature):
        self.counts[feature] += 1

    @property
    def here(self):
        return self.scopes[-1]

    def scalar(self):
        return self.r.choice(self.here.scalars[-8:])

    def add_scalar(self, name):
        self.here.scalars.append(name)
        return name

    def index(self, n=N):
        return "%%c%d" % self.r.randrange(n)

    def condition(self):
        return self.new("arith.cmpf %s, %s, %s : f32" % (self.r.choice(["olt", "ogt"]), self.scalar(), self.scalar()))

    def memref(self, writable=False, whole=True):
        found = [m for m in self.here.memrefs if (m.writable or not writable) and (not whole or m.type == MEMREF)]
        return self.r.choice(found[-7:] + found[:2])

    def tensor(self):
        return self.r.choice(self.here.tensors[-6:]) if self.here.tensors else None

    def use_tensor(self, t):
        """Called for each use. Tensors that inner blocks take from outside are captured by the operations around them."""
        if not t.names_buffer:
            return
        for scope, outer in zip(self.scopes[1:], self.scopes):
            if t in scope.outside and t in outer.tensors:
                self.note("captured_tensor")
                outer.captured.add(t)
        if t in self.here.outside:
            self.note("inner_tensor_from_outside")
            self.here.used_from_outside.add(t)

    def stored(self, m):
        """Called for each write of a memref: counts what tensors the block at hand has used before."""
        for tensors, feature in ((self.here.tensors, "to_tensor"), (self.here.captured, "captured_tensor"),
                                 (self.here.used_from_outside, "inner_tensor_from_outside")):
            if any(t.names_buffer and t.roots & m.roots for t in tensors):
                self.note(feature + "_stored_to_later")

    # statements on memrefs

    def half(self, a, b):
        """0.5 a + 0.5 b"""
        return self.new("arith.mulf %s, %%half : f32" % self.new("arith.addf %s, %s : f32" % (a, b)))

    def make_fill(self, m, x=None):
        self.line("linalg.fill ins(%s : f32) outs(%s : %s)" % (x or self.scalar(), m.name, m.type))

    def make_buffer(self):
        stack = self.r.random() < 0.35
        name = self.new("memref.%s() : %s" % ("alloca" if stack else "alloc", MEMREF))
        m = Value(name, MEMREF, {name})
        self.make_fill(m)
        self.here.memrefs.append(m)
        self.here.own.add(("stack" if stack else "heap", name))
        if not stack:
            self.heap.add(name)
        if stack:
            self.note("alloca")
        if self.r.random() < 0.7:
            self.store(m)
        return m

    def store(self, m=None):
        m = m or self.memref(True, whole=False)
        index = self.index(N if m.type == MEMREF else N // 2)
        self.line("memref.store %s, %s[%s] : %s" % (self.scalar(), m.name, index, m.type))
        self.stored(m)

    def load(self):
        m = self.memref(whole=False)
        x = self.new("memref.load %s[%s] : %s" % (m.name, self.index(N if m.type == MEMREF else N // 2), m.type))
        self.add_scalar(self.half(x, self.scalar()))

    def fill(self, m=None):
        m = m or self.memref(True, whole=False)
        self.make_fill(m)
        self.stored(m)

    def copy(self):
        a, b = self.memref(), self.memref(True)
        if a.roots & b.roots:
            return self.store(b)
        self.line("memref.copy %s, %s : %s to %s" % (a.name, b.name, a.type, b.type))
        self.stored(b)

    def combine(self):
        m, a = self.memref(True), self.memref()
        self.line("linalg.max ins(%s, %s : %s, %s) outs(%s : %s)" % (a.name, m.name, MEMREF, MEMREF, m.name, MEMREF))
        self.stored(m)

    def view(self, m=None):
        m, kind = m or self.memref(), self.r.randrange(4)
        self.note("views")
        if kind == 0:
            offset = self.r.choice([0, 2, 4])
            type_ = HALF % (N // 2, offset)
            name = self.new("memref.subview %s[%d] [%d] [1] : %s to %s" % (m.name, offset, N // 2, MEMREF, type_))
        elif kind == 1:
            type_ = MEMREF
            name = self.new("memref.cast %s : %s to memref<?xf32>" % (m.name, MEMREF))
            name = self.new("memref.cast %s : memref<?xf32> to %s" % (name, MEMREF))
        elif kind == 2:
            type_ = MEMREF
            square = self.new("memref.expand_shape %s [[0, 1]] output_shape [2, %d] : %s into memref<2x%dxf32>" % (
                m.name, N // 2, MEMREF, N // 2))
            name = self.new("memref.collapse_shape %s [[0, 1]] : memref<2x%dxf32> into %s" % (square, N // 2, MEMREF))
        else:
            type_ = HALF % (N // 2, 3)
            name = self.new("memref.reinterpret_cast %s to offset: [3], sizes: [%d], strides: [1] : %s to %s" % (
                m.name, N // 2, MEMREF, type_))
        self.here.memrefs.append(Value(name, type_, m.roots, m.writable))
        return self.here.memrefs[-1]

    def select(self):
        a, b = self.memref(), self.memref()
        name = self.new("arith.select %s, %s, %s : %s" % (self.condition(), a.name, b.name, MEMREF))
        self.here.memrefs.append(Value(name, MEMREF, a.roots | b.roots, a.writable and b.writable))
        self.note("select")

    def dealloc(self):
        roots = [name for kind, name in self.here.own if kind == "heap"]
        if not roots:
            return
        kept = [root for root in roots if root in self.kept]
        self.free(self.r.choice(sorted(kept or roots)))

    def free(self, root):
        """Frees a buffer. One that a callee has kept is used right before, and the callee forgets it after."""
        kept = root in self.kept
        if kept:
            self.change_kept()
        self.line("memref.dealloc %s : %s" % (root, MEMREF))
        if kept:
            self.line("func.call @keep(%%o) : (%s) -> ()" % MEMREF)
            self.kept.discard(root)
            self.note("kept_deallocated")
        for table in self.tables:
            table.ended |= root in table.roots
        self.here.own.discard(("heap", root))
        self.here.forget({root})
        self.note("dealloc")

    def global_(self):
        constant = self.r.random() < 0.5
        name = self.new("memref.get_global @%s : %s" % ("weights" if constant else "state", MEMREF))
        self.here.memrefs.append(Value(name, MEMREF, {"weights"} if constant else {CALLERS}, not constant))
        self.note("constant_global" if constant else "mutable_global")

    def call(self):
        self.note("call")
        kind = self.r.randrange(6)
        if kind == 5:
            return self.touch(self.memref(True))
        if kind == 4:
            m = self.memref(True)
            x = self.new("func.call @blend_deep(%s, %s, %s) : (%s, f32, index) -> f32" % (
                m.name, self.scalar(), self.index(3), MEMREF))
            self.add_scalar(self.half(x, self.scalar()))
            self.stored(m)
            self.note("recursive_call")
        elif kind == 3:
            m = self.memref()
            name = self.new("func.call @same(%s) : (%s) -> %s" % (m.name, MEMREF, MEMREF))
            self.here.memrefs.append(Value(name, MEMREF, m.roots, m.writable))
            self.note("memref_that_a_call_returns")
        elif kind == 0:
            self.line("func.call @bump() : () -> ()")
            self.stored(Value("", MEMREF, {CALLERS}))
        elif kind == 1:
            x = self.new("func.call @total(%s) : (%s) -> f32" % (self.memref().name, MEMREF))
            self.add_scalar(self.half(x, self.scalar()))
        else:
            m = self.memref(True)
            self.line("func.call @blend(%s, %s) : (%s, f32) -> ()" % (m.name, self.scalar(), MEMREF))
            self.stored(m)

    def touch(self, m):
        """A function that the module does not hold reads and writes a buffer, and keeps no pointer to it."""
        x = self.new("func.call @touch(%s) : (%s) -> f32" % (m.name, MEMREF))
        self.add_scalar(self.half(x, self.scalar()))
        self.stored(m)
        self.note("external_call")

    def heap_memref(self):
        found = [m for m in self.here.memrefs if m.writable and m.type == MEMREF and m.roots <= self.heap]
        return self.r.choice(found[-6:])

    def keep(self):
        """The address of a buffer goes to where a callee finds it: by a call, or as a number."""
        fresh = [m for m in self.here.memrefs if m.type == MEMREF and ("heap", m.name) in self.here.own]
        m = self.r.choice(fresh) if fresh and self.r.random() < 0.7 else self.heap_memref()
        self.kept |= m.roots
        if self.r.random() < 0.5:
            self.line("func.call @keep(%s) : (%s) -> ()" % (m.name, MEMREF))
            self.note("kept_by_a_call")
            return self.statements(self.r.randrange(3))
        number = self.new("memref.extract_aligned_pointer_as_index %s : %s -> index" % (m.name, MEMREF))
        where = self.new("memref.get_global @kept : memref<1xindex>")
        self.line("memref.store %s, %s[%%c0] : memref<1xindex>" % (number, where))
        self.note("kept_as_a_number")
        if self.r.random() < 0.5:
            self.store(m)
            self.change_kept()
            self.load()

    def change_kept(self):
        x = self.new("func.call @change_kept() : () -> f32")
        self.stored(Value("", MEMREF, self.kept))
        self.add_scalar(self.half(x, self.scalar()))

    def table(self):
        """A memref is put into memory, and taken from it or changed there by a callee."""
        type_ = "memref<1x%s>" % MEMREF
        table = Table(self.new("memref.alloc() : " + type_))
        self.tables.append(table)
        for _ in range(self.r.randrange(1, 3)):
            m = self.heap_memref()
            table.roots |= m.roots
            self.line("memref.store %s, %s[%%c0] : %s" % (m.name, table.name, type_))
            self.note("memref_in_memory")
            self.statements(self.r.randrange(3))
        if table.ended:
            return
        if self.r.random() < 0.6:
            name = self.new("memref.load %s[%%c0] : %s" % (table.name, type_))
            self.here.memrefs.append(Value(name, MEMREF, table.roots))
            self.note("memref_from_memory")
        else:
            self.line("func.call @blend_in(%s, %s) : (%s, f32) -> ()" % (table.name, self.scalar(), type_))
            self.stored(Value("", MEMREF, table.roots))
            self.note("memory_of_memrefs_in_a_call")

    def local(self):
        """A buffer that only this function knows is written before a call and read after it."""
        name = self.new("memref.alloc() : %s" % MEMREF)
        m = Value(name, MEMREF, {name})
        self.heap.add(name)
        self.make_fill(m)
        self.here.memrefs.append(m)
        self.here.own.add(("heap", name))
        if self.r.random() < 0.5:
            self.view(m)
        if self.r.random() < 0.3:
            self.touch(m)
        self.statements(self.r.randrange(3))
        self.r.choice([self.call, self.change_kept])()
        alive = [v for v in self.here.memrefs if name in v.roots]
        if alive:
            v = self.r.choice(alive)
            index = self.index(N if v.type == MEMREF else N // 2)
            x = self.new("memref.load %s[%s] : %s" % (v.name, index, v.type))
            self.add_scalar(self.half(x, self.scalar()))
        if ("heap", name) in self.here.own and self.r.random() < 0.6:
            self.free(name)
        self.note("local_buffer_across_call")

    def private(self):
        """A buffer of another memory space, which one thread has alone: stored to, and read or freed after a call."""
        type_ = "memref<%dxf32, 1>" % N
        name = self.new("memref.alloc() : " + type_)
        self.line("linalg.fill ins(%s : f32) outs(%s : %s)" % (self.scalar(), name, type_))
        self.line("memref.store %s, %s[%s] : %s" % (self.scalar(), name, self.index(), type_))
        for _ in range(self.r.randrange(1, 3)):
            self.statements(self.r.randrange(3))
            self.r.choice([self.call, self.change_kept])()
            x = self.new("memref.load %s[%s] : %s" % (name, self.index(), type_))
            self.add_scalar(self.half(x, self.scalar()))
            self.line("memref.store %s, %s[%s] : %s" % (self.scalar(), name, self.index(), type_))
        default = self.new("memref.memory_space_cast %s : %s to %s" % (name, type_, MEMREF))  # what the runner can free
        self.line("memref.dealloc %s : %s" % (default, MEMREF))
        self.note("private_space")

    def leak(self):
        """A buffer whose pointer gets away in one way, through which it changes: read before, and read or freed after."""
        name = self.new("memref.alloc() : %s" % MEMREF)
        m = Value(name, MEMREF, {name})
        self.heap.add(name)
        self.here.own.add(("heap", name))
        self.make_fill(m)
        change = self.r.choice([self.leak_to_callee, self.leak_as_number, self.leak_to_memory, self.leak_by_return,
                                self.leak_by_loop, self.leak_by_selection])(m)
        for _ in range(self.r.randrange(1, 3)):
            self.load_from(m, 2)
            change()
            self.load_from(m, 2)
        if self.r.random() < 0.7:
            self.free(name)
        else:
            self.here.memrefs.append(m)
        self.note("buffer_that_leaks")

    def load_from(self, m, index):
        x = self.new("memref.load %s[%%c%d] : %s" % (m.name, index, m.type))
        self.add_scalar(self.half(x, self.scalar()))

    def leak_to_callee(self, m):
        self.kept |= m.roots
        if self.r.random() < 0.5:
            self.line("func.call @keep(%s) : (%s) -> ()" % (m.name, MEMREF))
        else:
            self.line("func.call @keep_deep(%s, %s) : (%s, index) -> ()" % (m.name, self.index(3), MEMREF))
            self.note("kept_by_a_recursive_call")
        return self.change_kept

    def leak_as_number(self, m):
        self.kept |= m.roots
        number = self.new("memref.extract_aligned_pointer_as_index %s : %s -> index" % (m.name, MEMREF))
        where = self.new("memref.get_global @kept : memref<1xindex>")
        self.line("memref.store %s, %s[%%c0] : memref<1xindex>" % (number, where))
        return self.change_kept

    def leak_to_memory(self, m):
        type_ = "memref<1x%s>" % MEMREF
        table = self.new("memref.alloc() : " + type_)
        self.line("memref.store %s, %s[%%c0] : %s" % (m.name, table, type_))
        return lambda: self.write(self.new("memref.load %s[%%c0] : %s" % (table, type_)))

    def leak_by_return(self, m):
        name = self.new("func.call @same(%s) : (%s) -> %s" % (m.name, MEMREF, MEMREF))
        return lambda: self.write(name)

    def leak_by_loop(self, m):
        self.number += 1
        n = self.number
        name = self.place("scf.for %%i%d = %%c0 to %%c2 step %%c1 iter_args(%%a%d = %s) -> %s {" % (n, n, m.name, MEMREF))
        self.line("  memref.store %s, %%a%d[%%c2] : %s" % (self.scalar(), n, MEMREF))
        self.line("  scf.yield %%a%d : %s" % (n, MEMREF))
        self.line("}")
        return lambda: self.write(name)

    def leak_by_selection(self, m):
        name = self.new("arith.select %s, %s, %s : %s" % (self.condition(), m.name, self.memref(True).name, MEMREF))
        return lambda: self.write(name)

    def write(self, name):
        self.line("memref.store %s, %s[%%c2] : %s" % (self.scalar(), name, MEMREF))

    def task(self):
        """A task takes its time, then copies a buffer that nothing else uses before the wait for its token, or for a second
        task after it. After the wait the copy is read, and the buffer is freed or written."""
        self.number += 1
        t, u = "%%t%d" % self.number, "%%u%d" % self.number
        read, written = [Value(self.new("memref.alloc() : %s" % MEMREF), MEMREF, ()) for _ in range(2)]
        self.make_fill(read)
        self.make_fill(written)
        follows = self.r.random() < 0.4
        for token, after in [(t, "")] + [(u, " [%s]" % t)] * follows:
            x = "%%x%s" % token[1:]
            self.line("%s = async.execute%s {" % (token, after))
            self.line("  %sn = arith.constant 20000 : index" % x)
            self.line("  %sw = scf.for %si = %%c0 to %sn step %%c1 iter_args(%sa = %%half) -> f32 {" % (x, x, x, x))
            self.line("    %sl = memref.load %s[%%c3] : %s" % (x, read.name, MEMREF))
            self.line("    %sb = arith.addf %sa, %sl : f32" % (x, x, x))
            self.line("    %sm = arith.mulf %sb, %%half : f32" % (x, x))
            self.line("    scf.yield %sm : f32" % x)
            self.line("  }")
            self.line("  memref.store %sw, %s[%%c2] : %s" % (x, written.name, MEMREF))
            self.line("  async.yield")
            self.line("}")
        self.statements(self.r.randrange(3))
        self.line("async.await %s : !async.token" % (u if follows else t))
        if self.r.random() < 0.5:
            self.line("memref.dealloc %s : %s" % (read.name, MEMREF))
        else:
            self.store(read)
        self.load_from(written, 2)
        self.note("asynchronous_task")

    def stacksave(self):
        """The stack is saved and restored around statements, with an allocation before, one within and one after; the first
        is written late, or is what a region yields."""
        if self.depth > 1:
            return
        early = self.alloca_of_region() if self.r.random() < 0.4 else self.alloca()
        saved = self.new("llvm.intr.stacksave : !llvm.ptr")
        own = set(self.here.own)
        self.statements(self.r.randrange(1, 4))
        inner = self.alloca()
        self.make_fill(inner)
        self.store(inner)
        late = self.r.random() < 0.5
        if not late:
            self.make_fill(early)
        self.line("llvm.intr.stackrestore %s : !llvm.ptr" % saved)
        ended = {(kind, name) for kind, name in self.here.own - own if kind == "stack"}
        self.here.own -= ended
        self.here.forget({name for _, name in ended} | {inner.name})
        if late:
            self.make_fill(early)
        behind = self.alloca()  # where what was freed lay
        self.make_fill(behind)
        for m in early, behind:
            self.here.memrefs.append(m)
            self.here.own.add(("stack", m.name))
        self.note("stacksave")
        if self.later_block:
            self.note("alloca_around_stacksave_in_a_later_block")

    def alloca(self):
        """Not yet at hand: nothing is in it."""
        name = self.new("memref.alloca() : %s" % MEMREF)
        self.note("alloca")
        return Value(name, MEMREF, {name})

    def alloca_of_region(self):
        name = self.place("scf.if %s -> %s {" % (self.condition(), MEMREF))
        for branch in range(2):
            if branch:
                self.line("} else {")
            self.region(0)
            m = self.alloca()
            self.make_fill(m)
            self.line("scf.yield %s : %s" % (m.name, MEMREF))
            self.close()
        self.line("}")
        self.note("alloca_that_a_region_yields")
        return Value(name, MEMREF, {name})

    # statements on tensors

    def keep_tensor(self, name, roots, names_buffer=False):
        t = Value(name, TENSOR, roots, names_buffer=names_buffer)
        self.here.tensors.append(t)
        return t

    def to_tensor(self):
        found = [m for m in self.here.memrefs
                 if m.type == MEMREF and not m.roots & self.tensored and "weights" not in m.roots]
        if not found:
            return None
        m = self.r.choice(found)
        self.tensored |= m.roots
        self.note("to_tensor")
        if self.r.random() < 0.25:
            self.note("tensor_that_a_call_returns")
            name = self.new("func.call @as_tensor(%s) : (%s) -> %s" % (m.name, MEMREF, TENSOR))
            return self.keep_tensor(name, m.roots, True)
        writable = m.writable and self.r.random() < 0.3
        if writable:
            self.note("writable_to_tensor")
        return self.keep_tensor(self.new("bufferization.to_tensor %s restrict%s : %s to %s" % (
            m.name, " writable" if writable else "", MEMREF, TENSOR)), m.roots, True)

    def some_tensor(self):
        t = self.tensor()
        if not t or self.r.random() < 0.3:
            t = self.to_tensor() or t
        if not t:
            name = self.new("tensor.splat %s : %s" % (self.scalar(), TENSOR))
            t = self.keep_tensor(name, {name})
        return t

    def extract(self, t=None):
        t = t or self.some_tensor()
        self.use_tensor(t)
        self.add_scalar(self.half(self.new("tensor.extract %s[%s] : %s" % (t.name, self.index(), TENSOR)), self.scalar()))

    def tensor_op(self):
        t, kind = self.some_tensor(), self.r.randrange(6)
        self.use_tensor(t)
        if kind == 0:
            dynamic = self.new("tensor.cast %s : %s to tensor<?xf32>" % (t.name, TENSOR))
            name = self.new("tensor.cast %s : tensor<?xf32> to %s" % (dynamic, TENSOR))
            self.note("tensor_cast")
            return self.keep_tensor(name, t.roots, t.names_buffer)
        elif kind == 1:
            part = "tensor<%dxf32>" % (N // 2)
            slice_ = self.new("tensor.extract_slice %s[%d] [%d] [1] : %s to %s" % (
                t.name, self.r.choice([0, 4]), N // 2, TENSOR, part))
            self.note("extract_slice")
            if self.r.random() < 0.5:
                x = self.new("tensor.extract %s[%s] : %s" % (slice_, self.index(N // 2), part))
                return self.add_scalar(self.half(x, self.scalar()))
            other = self.some_tensor()
            self.use_tensor(other)
            name = self.new("tensor.insert_slice %s into %s[2] [%d] [1] : %s into %s" % (
                slice_, other.name, N // 2, part, TENSOR))
            self.note("insert_slice")
            return self.keep_tensor(name, t.roots | other.roots)
        elif kind == 2:
            name = self.new("tensor.insert %s into %s[%s] : %s" % (self.scalar(), t.name, self.index(), TENSOR))
        elif kind == 3:
            empty = self.new("tensor.empty() : " + TENSOR)
            name = self.new("linalg.abs ins(%s : %s) outs(%s : %s) -> %s" % (t.name, TENSOR, empty, TENSOR, TENSOR))
        elif kind == 4:
            other = self.some_tensor()
            self.use_tensor(other)
            name = self.new("linalg.max ins(%s, %s : %s, %s) outs(%s : %s) -> %s" % (
                t.name, other.name, TENSOR, TENSOR, t.name, TENSOR, TENSOR))
            return self.keep_tensor(name, t.roots | other.roots)
        else:
            name = self.new("linalg.fill ins(%s : f32) outs(%s : %s) -> %s" % (self.scalar(), t.name, TENSOR, TENSOR))
        self.keep_tensor(name, t.roots)

    def hazard(self):
        """Reads a tensor that names a buffer, in itself, in a branch or in a loop, and writes the buffer afterwards."""
        pairs = [(t, m) for t in self.here.tensors if t.names_buffer for m in self.here.memrefs
                 if m.writable and m.type == MEMREF and t.roots & m.roots]
        if not pairs:
            return self.to_tensor()
        t, m = self.r.choice(pairs[-8:])
        kind = self.r.randrange(3) if self.depth < 2 else 0
        if kind == 0:
            self.extract(t)
        elif kind == 1:
            self.if_(lambda: self.extract(t))
        else:
            self.for_(lambda: (self.extract(t), self.store(m)))
        self.fill(m) if self.r.random() < 0.7 else self.store(m)

    def inner_function(self):
        """A function that is handed one buffer as a memref and as a tensor, and reads the tensor."""
        found = [m for m in self.here.memrefs if m.type == MEMREF and m.writable and not m.roots & self.tensored]
        if not found:
            return
        m = self.r.choice(found)
        self.tensored |= m.roots
        f = Program("%s_%d" % (self.name, len(self.inner)), self.r.random(), self.counts)
        f.tensored = {CALLERS}
        f.begin()
        f.here.memrefs.append(Value("%o", MEMREF, {CALLERS}))
        t = Value("%t", TENSOR, {CALLERS}, names_buffer=True)
        f.here.tensors.append(t)
        for _ in range(4):
            kind = f.r.randrange(3)
            if kind == 0:
                f.extract(t)
            elif kind == 1:
                f.if_(lambda: f.extract(t))
            else:
                empty = f.new("tensor.empty() : " + TENSOR)
                name = f.new("linalg.abs ins(%%t : %s) outs(%s : %s) -> %s" % (TENSOR, empty, TENSOR, TENSOR))
                f.extract(Value(name, TENSOR, {name}))
            f.store(f.here.memrefs[0])
        text = "\n".join(f.lines)
        self.inner.append("  func.func private @%s(%%t: %s, %%o: %s, %%s: f32) -> f32 {\n%s\n    return %s : f32\n  }\n" % (
            f.name, TENSOR, MEMREF, text, f.scalar()))
        name = self.new("bufferization.to_tensor %s restrict : %s to %s" % (m.name, MEMREF, TENSOR))
        x = self.new("func.call @%s(%s, %s, %s) : (%s, %s, f32) -> f32" % (
            f.name, name, m.name, self.scalar(), TENSOR, MEMREF))
        self.stored(m)
        self.add_scalar(self.half(x, self.scalar()))
        self.note("tensor_argument_of_a_buffer")

    # regions

    def region(self, n, more=None):
        """Statements of an inner block; scalars, and what else was made there, are its own."""
        self.scopes.append(Scope(self.here))
        self.indent, self.depth = self.indent + "  ", self.depth + 1
        if self.depth > 1:
            self.note("nested_regions")
        if more:
            more()
        self.statements(n)

    def close(self):
        self.indent, self.depth = self.indent[2:], self.depth - 1
        return self.scopes.pop()

    def place(self, text):
        """Names what a structured operation gives: its text stands before its regions."""
        self.number += 1
        name = "%%v%d" % self.number
        self.line(name + " = " + text)
        return name

    def if_(self, only=None):
        """A branch; with `only` both sides do that and nothing else."""
        self.note("if")
        condition, gives = self.condition(), self.r.choice(["f32", "f32", TENSOR, TENSOR, MEMREF])
        name, roots = self.place("scf.if %s -> %s {" % (condition, gives)), frozenset()
        writable, names_buffer = True, False
        for branch in range(2):
            if branch:
                self.line("} else {")
            self.region(0 if only else self.r.randrange(0, 4), only)
            if gives == "f32":
                result = self.here.scalars[-1] if only else self.scalar()
            elif gives == TENSOR:
                t = self.fresh_tensor() if only or self.r.random() < 0.4 else self.some_tensor()
                self.use_tensor(t)
                result, roots, names_buffer = t.name, roots | t.roots, names_buffer or t.names_buffer
            else:
                m = self.memref()
                if self.r.random() < 0.3:
                    m = self.make_buffer()
                    if ("stack", m.name) in self.here.own:
                        self.note("alloca_that_a_region_yields")
                result, roots, writable = m.name, roots | m.roots, writable and m.writable
            self.line("scf.yield %s : %s" % (result, gives))
            stacks = {s for s in self.close().own if s[0] == "stack" and s[1] in roots}
            self.here.own |= stacks
        self.line("}")
        if gives == "f32":
            self.add_scalar(name)
        elif gives == TENSOR:
            if names_buffer:
                self.note("tensor_that_a_region_yields")
            self.keep_tensor(name, roots, names_buffer)
        else:
            self.note("memref_that_a_region_yields")
            self.here.memrefs.append(Value(name, MEMREF, roots, writable))

    def fresh_tensor(self):
        name = self.new("tensor.splat %s : %s" % (self.here.scalars[-1], TENSOR))
        return Value(name, TENSOR, {name})

    def for_(self, only=None):
        """A loop; with `only` its body does that and nothing else."""
        self.note("for")
        self.number += 1
        i, carried = "%%i%d" % self.number, "%%a%d" % self.number
        kind, init = self.r.choice(["f32", "f32", TENSOR, MEMREF]), None
        if kind == "f32":
            init, roots = self.scalar(), frozenset()
        elif kind == TENSOR:
            t = self.some_tensor()
            self.use_tensor(t)
            init, roots = t.name, t.roots
            if t.names_buffer:
                self.note("carried_tensor")
        else:
            first, second = self.memref(True), self.memref(True)
            init, roots = first.name, first.roots | second.roots
            self.note("carried_memref")
        name = self.place("scf.for %s = %%c0 to %%c%d step %%c1 iter_args(%s = %s) -> %s {" % (
            i, self.r.randrange(2, 4), carried, init, kind))
        outer = self.here

        def enter():
            if kind == "f32":
                self.here.scalars.append(carried)
            else:
                made = Value(carried, kind, roots, names_buffer=kind == TENSOR and t.names_buffer)
                (self.here.tensors if kind == TENSOR else self.here.memrefs).append(made)
            m = self.memref(True)
            x = self.new("memref.load %s[%s] : %s" % (m.name, i, MEMREF))
            self.add_scalar(self.half(x, self.scalar()))
            if only:
                only()

        self.region(0 if only else self.r.randrange(2, 6), enter)
        if kind == "f32":
            last = self.here.scalars[-1] if only else self.scalar()
        elif kind == TENSOR:
            found = [t for t in self.here.tensors if t.roots <= roots and t not in outer.tensors]
            last = self.r.choice(found).name if found else carried
        else:
            last = second.name if self.r.random() < 0.5 else carried
        self.line("scf.yield %s : %s" % (last, kind))
        self.close()
        self.line("}")
        if kind == "f32":
            self.add_scalar(name)
        elif kind == TENSOR:
            self.keep_tensor(name, roots, t.names_buffer)
        else:
            self.here.memrefs.append(Value(name, MEMREF, roots))

    def while_(self):
        self.note("while")
        self.number += 1
        n = self.number
        name = "%%v%d" % n
        self.line("%s:2 = scf.while (%%n%d = %%c0, %%x%d = %s) : (index, f32) -> (index, f32) {" % (
            name, n, n, self.scalar()))
        more = lambda: self.here.scalars.append("%%x%d" % n)
        self.region(self.r.randrange(0, 3), more)
        on = self.new("arith.cmpi slt, %%n%d, %%c%d : index" % (n, self.r.randrange(2, 4)))
        self.line("scf.condition(%s) %%n%d, %s : index, f32" % (on, n, self.scalar()))
        self.close()
        self.line("} do {")
        self.line("^bb0(%%m%d: index, %%y%d: f32):" % (n, n))
        self.region(self.r.randrange(1, 4), lambda: self.here.scalars.append("%%y%d" % n))
        after = self.new("arith.addi %%m%d, %%c1 : index" % n)
        self.line("scf.yield %s, %s : index, f32" % (after, self.scalar()))
        self.close()
        self.line("}")
        self.add_scalar(name + "#1")

    # blocks

    def next_block(self):
        """Ends the block at hand and begins another, which it dominates."""
        self.number += 1
        n, kind = self.number, self.r.randrange(3)
        self.later_block = True
        self.note("blocks")
        if kind == 0:
            self.line("cf.br ^b%d" % n)
            self.lines.append("  ^b%d:" % n)
        elif kind == 1:
            m, other = self.memref(True), self.memref(True)
            self.line("cf.cond_br %s, ^l%d, ^r%d" % (self.condition(), n, n))
            for side, given in ("l", m), ("r", other):
                self.lines.append("  ^%s%d:" % (side, n))
                outer = self.scopes.pop()
                self.scopes.append(Scope(outer))
                self.statements(3)
                self.line("cf.br ^j%d(%s, %s : f32, %s)" % (n, self.scalar(), given.name, MEMREF))
                self.scopes[-1] = outer
            self.lines.append("  ^j%d(%%x%d: f32, %%m%d: %s):" % (n, n, n, MEMREF))
            self.add_scalar("%%x%d" % n)
            self.here.memrefs.append(Value("%%m%d" % n, MEMREF, m.roots | other.roots))
            self.note("diamond"), self.note("memref_block_argument")
        else:
            m = self.memref(True)
            self.line("cf.br ^h%d(%%c0, %s, %s : index, f32, %s)" % (n, self.scalar(), m.name, MEMREF))
            self.lines.append("  ^h%d(%%n%d: index, %%x%d: f32, %%m%d: %s):" % (n, n, n, n, MEMREF))
            outer = self.scopes.pop()
            self.scopes.append(Scope(outer))
            self.here.own = set()
            self.add_scalar("%%x%d" % n)
            handed = Value("%%m%d" % n, MEMREF, m.roots | {"%%m%d" % n})
            self.here.memrefs.append(handed)
            self.statements(3)
            if self.r.random() < 0.7:
                self.local()
                self.note("local_buffer_in_a_block_loop")
            self.statements(3)
            again = self.handed_on(handed)
            after = self.new("arith.addi %%n%d, %%c1 : index" % n)
            on = self.new("arith.cmpi slt, %s, %%c3 : index" % after)
            last = self.scalar()
            self.line("cf.cond_br %s, ^h%d(%s, %s, %s : index, f32, %s), ^e%d" % (on, n, after, last, again.name, MEMREF, n))
            self.lines.append("  ^e%d:" % n)
            self.scopes[-1] = outer
            self.add_scalar(last)
            self.note("block_loop")
        # what the earlier blocks allocated stays: nothing frees it in another block
        inside = self.scopes.pop()
        inside.own = set()
        inside.outside, inside.captured, inside.used_from_outside = set(inside.tensors), set(), set()
        self.scopes.append(inside)

    def handed_on(self, handed):
        """Returns the buffer that a block gives to its next run: one of its own that nothing else may change, or the one it got."""
        others = {root for table in self.tables for root in table.roots} | self.kept | self.tensored
        found = [m for m in self.here.memrefs if m.type == MEMREF and ("heap", m.name) in self.here.own and not m.roots & others]
        if not found or self.r.random() < 0.2:
            return handed
        self.note("memref_that_a_block_hands_to_itself")
        return self.r.choice(found)

    def statements(self, n):
        leaves = [(self.store, 5), (self.load, 4), (self.fill, 2), (self.copy, 2), (self.combine, 1), (self.make_buffer, 3),
                  (self.view, 2), (self.select, 0.5), (self.dealloc, 1.5), (self.global_, 0.7), (self.call, 0.6),
                  (self.stacksave, 0.7), (self.hazard, 1.5), (self.to_tensor, 0.8), (self.extract, 2.5),
                  (self.tensor_op, 2.5), (self.inner_function, 0.3),
                  (self.keep, 0.5), (self.change_kept, 0.5), (self.table, 0.8), (self.local, 1.0),
                  (self.private, 0.4), (self.leak, 1.5), (self.task, 0.6)]
        trees = [(self.if_, 1.6), (self.for_, 1.0), (self.while_, 0.4)] if self.depth < 2 else []
        some, weights = zip(*(leaves + trees))
        for _ in range(n):
            self.r.choices(some, weights)[0]()

    def show(self):
        """Stores what is at hand for main to print: numbers, and elements of buffers and tensors."""
        found = self.here.scalars[-20:]
        for m in self.here.memrefs[-20:]:
            found.append(self.new("memref.load %s[%s] : %s" % (m.name, self.index(N // 2), m.type)))
        for t in self.here.tensors[-12:]:
            found.append(self.new("tensor.extract %s[%s] : %s" % (t.name, self.index(), TENSOR)))
        for i, x in enumerate(found):
            place = self.new("arith.constant %d : index" % i)
            self.line("memref.store %s, %%shown[%s] : memref<%dxf32>" % (x, place, SHOWN))

    def begin(self):
        self.scopes = [Scope()]
        for i in range(N):
            self.line("%%c%d = arith.constant %d : index" % (i, i))
        self.line("%half = arith.constant 0.5 : f32")
        self.here.scalars = ["%s", "%half"]

    def text(self):
        self.begin()
        self.here.memrefs = [Value("%o", MEMREF, {CALLERS}), Value("%q", MEMREF, {CALLERS})]
        self.line("func.call @keep(%%o) : (%s) -> ()" % MEMREF)
        self.make_buffer()
        for i in range(self.r.randrange(1, 4)):
            if i:
                self.next_block()
                self.make_buffer()
            self.statements(self.r.randrange(6, 14))
        self.show()
        head = "  func.func private @%s(%%o: %s, %%q: %s, %%shown: memref<%dxf32>, %%s: f32) {\n" % (
            self.name, MEMREF, MEMREF, SHOWN)
        return "".join(self.inner) + head + "\n".join(self.lines) + "\n    return\n  }\n"


def module(programs, aliased):
    """Functions (name, text) and a main that runs each and prints its buffers; those of `aliased` get one buffer twice."""
    main = ["    %z = arith.constant 0.0 : f32", "    %s = arith.constant 0.75 : f32"]
    shown = "memref<%dxf32>" % SHOWN
    for name, _ in programs:
        buffers = [("o", MEMREF, "%s"), ("q", MEMREF, "%z"), ("shown", shown, "%z")]
        for m, type_, x in buffers:
            main += ["    %%%s_%s = memref.alloc() : %s" % (m, name, type_),
                     "    linalg.fill ins(%s : f32) outs(%%%s_%s : %s)" % (x, m, name, type_)]
        second = "o" if name in aliased else "q"
        main.append("    call @%s(%%o_%s, %%%s_%s, %%shown_%s, %%s) : (%s, %s, %s, f32) -> ()" % (
            name, name, second, name, name, MEMREF, MEMREF, shown))
        for m, type_, _ in buffers:
            main += ["    %%u%s_%s = memref.cast %%%s_%s : %s to memref<*xf32>" % (m, name, m, name, type_),
                     "    call @printMemrefF32(%%u%s_%s) : (memref<*xf32>) -> ()" % (m, name)]
    return "module {\n%s%s  func.func @main() {\n%s\n    return\n  }\n}\n" % (
        HELPERS, "".join(text for _, text in programs), "\n".join(main))


def program(seed, counts=None):
    """(name, text) of one program."""
    name = "p%d" % seed
    return name, Program(name, seed, counts if counts is not None else collections.Counter()).text()
