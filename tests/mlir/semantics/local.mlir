// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true borrows=func.call private-spaces=2,3})' %s | FileCheck-22 %s --check-prefix=TOLD
// Buffers that a call cannot reach cross it; all others do not.
func.func private @tick()
func.func private @keep(memref<256xf32>)
func.func private @read(%m: memref<256xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %x = memref.load %m[%c0] : memref<256xf32>
  return %x : f32
}
func.func private @keeps(%m: memref<256xf32>) -> f32 {
  call @keep(%m) : (memref<256xf32>) -> ()
  %x = call @read(%m) : (memref<256xf32>) -> f32
  return %x : f32
}
// Three functions that call each other, of which one keeps the pointer, and two that do not.
func.func private @zig(%m: memref<256xf32>, %p: i1) -> f32 {
  %x = call @zog(%m, %p) : (memref<256xf32>, i1) -> f32
  %y = call @zag(%m, %p) : (memref<256xf32>, i1) -> f32
  return %y : f32
}
func.func private @zag(%m: memref<256xf32>, %p: i1) -> f32 {
  %x = scf.if %p -> f32 {
    %y = func.call @zig(%m, %p) : (memref<256xf32>, i1) -> f32
    scf.yield %y : f32
  } else {
    %y = func.call @read(%m) : (memref<256xf32>) -> f32
    scf.yield %y : f32
  }
  return %x : f32
}
func.func private @zog(%m: memref<256xf32>, %p: i1) -> f32 {
  %x = call @zig(%m, %p) : (memref<256xf32>, i1) -> f32
  %c0 = arith.constant 0 : index
  %t = memref.get_global @table : memref<1xmemref<256xf32>>
  memref.store %m, %t[%c0] : memref<1xmemref<256xf32>>
  return %x : f32
}
memref.global "private" @table : memref<1xmemref<256xf32>>
func.func private @down(%m: memref<256xf32>, %p: i1) -> f32 {
  %x = scf.if %p -> f32 {
    %y = func.call @up(%m, %p) : (memref<256xf32>, i1) -> f32
    scf.yield %y : f32
  } else {
    %y = func.call @read(%m) : (memref<256xf32>) -> f32
    scf.yield %y : f32
  }
  return %x : f32
}
func.func private @up(%m: memref<256xf32>, %p: i1) -> f32 {
  %x = call @down(%m, %p) : (memref<256xf32>, i1) -> f32
  return %x : f32
}

// Its deallocation goes before the call, or what the second one needs goes after it.
// CHECK: @local{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @local(%o: memref<256xf32>, %z: f32) {
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %a, %o : memref<256xf32> to memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  linalg.add ins(%o, %b : memref<256xf32>, memref<256xf32>) outs(%o : memref<256xf32>)
  memref.dealloc %b : memref<256xf32>
  return
}

// The same through views, in a loop, and with a dimension asked for.
// CHECK: @views{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @views(%o: memref<256xf32>, %z: f32) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  %v = memref.cast %a : memref<256xf32> to memref<?xf32>
  %d = memref.dim %v, %c0 : memref<?xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    memref.store %z, %v[%i] : memref<?xf32>
  }
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  %w = memref.collapse_shape %v [[0]] : memref<?xf32> into memref<?xf32>
  %x = memref.load %w[%c1] : memref<?xf32>
  memref.store %x, %o[%c0] : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %v : memref<?xf32>
  linalg.add ins(%o, %b : memref<256xf32>, memref<256xf32>) outs(%o : memref<256xf32>)
  memref.dealloc %b : memref<256xf32>
  return %d : index
}

// Loops, branches and selections hand it on among the values of the function.
// CHECK: @handed_on{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @handed_on(%o: memref<256xf32>, %z: f32, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  %l = scf.for %i = %c0 to %c2 step %c1 iter_args(%c = %a) -> memref<256xf32> {
    func.call @tick() : () -> ()
    linalg.fill ins(%z : f32) outs(%c : memref<256xf32>)
    scf.yield %c : memref<256xf32>
  }
  %i = scf.if %p -> memref<256xf32> {
    scf.yield %l : memref<256xf32>
  } else {
    scf.yield %a : memref<256xf32>
  }
  %s = arith.select %p, %i, %a : memref<256xf32>
  memref.copy %s, %o : memref<256xf32> to memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  linalg.add ins(%o, %b : memref<256xf32>, memref<256xf32>) outs(%o : memref<256xf32>)
  memref.dealloc %b : memref<256xf32>
  return
}

// A function with a body shows that it keeps nothing.
// CHECK: @borrowed{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @borrowed(%o: memref<256xf32>, %z: f32) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @read(%a) : (memref<256xf32>) -> f32
  func.call @tick() : () -> ()
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}
// One that hands it to another that may does not, unless the options say that the other keeps nothing.
// CHECK: @kept{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
// TOLD: @kept{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @kept(%o: memref<256xf32>, %z: f32) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @keeps(%a) : (memref<256xf32>) -> f32
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}
// Functions that call each other keep nothing if none of them does.
// CHECK: @recursive{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
// TOLD: @recursive{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @recursive(%o: memref<256xf32>, %z: f32, %p: i1) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @down(%a, %p) : (memref<256xf32>, i1) -> f32
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}
// CHECK: @recursive_second{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
// TOLD: @recursive_second{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @recursive_second(%o: memref<256xf32>, %z: f32, %p: i1) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @up(%a, %p) : (memref<256xf32>, i1) -> f32
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}
// CHECK: @recursive_kept{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
// TOLD: @recursive_kept{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
func.func @recursive_kept(%o: memref<256xf32>, %z: f32, %p: i1) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @zig(%a, %p) : (memref<256xf32>, i1) -> f32
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  return %x : f32
}
// The second is asked about on behalf of the first, and by itself.
// CHECK: @recursive_kept_both{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
// TOLD: @recursive_kept_both{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
func.func @recursive_kept_both(%o: memref<256xf32>, %z: f32, %p: i1) -> f32 {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  %x = func.call @zig(%a, %p) : (memref<256xf32>, i1) -> f32
  memref.dealloc %a : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  %y = func.call @zag(%b, %p) : (memref<256xf32>, i1) -> f32
  %c = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<256xf32>)
  memref.copy %c, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %c : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %b : memref<256xf32>
  return %y : f32
}

// A callee may have kept a buffer that it was handed, unless the options say that it has not.
// TOLD: @handed{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
// CHECK: @handed{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
func.func @handed(%o: memref<256xf32>, %z: f32) {
  %a = memref.alloc() : memref<256xf32>
  func.call @keep(%a) : (memref<256xf32>) -> ()
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32>)
  memref.copy %b, %o : memref<256xf32> to memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  return
}

// So it may where the pointer was stored, or is a number, whatever the options say.
// TOLD: @stored{{.*}}
// TOLD: call @tick
// TOLD-NEXT: memref.dealloc
// CHECK: @stored{{.*}}
// CHECK: call @tick
// CHECK-NEXT: memref.dealloc
func.func @stored(%table: memref<1xmemref<256xf32>>) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  memref.store %a, %table[%c0] : memref<1xmemref<256xf32>>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  %b = memref.alloc() : memref<512xf32>
  memref.dealloc %b : memref<512xf32>
  return
}
// TOLD: @number{{.*}}memsched.peak = 3072 : i64, memsched.peak_before = 3072 : i64
// CHECK: @number{{.*}}memsched.peak = 3072 : i64, memsched.peak_before = 3072 : i64
func.func @number(%where: memref<1xindex>, %o: memref<512xf32>, %z: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  %p = memref.extract_aligned_pointer_as_index %a : memref<256xf32> -> index
  memref.store %p, %where[%c0] : memref<1xindex>
  %b = memref.alloc() : memref<512xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<512xf32>)
  memref.copy %b, %o : memref<512xf32> to memref<512xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  memref.dealloc %b : memref<512xf32>
  return
}

// A store does not go before a call that may not return, and a second deallocation neither.
// CHECK: @stops{{.*}}
// CHECK: call @tick
// CHECK: memref.store
func.func @stops(%o: memref<256xf32>, %z: f32, %i: index) {
  %a = memref.alloc() : memref<256xf32>
  func.call @tick() : () -> ()
  memref.store %z, %a[%i] : memref<256xf32>
  memref.dealloc %a : memref<256xf32>
  %b = memref.alloc() : memref<512xf32>
  memref.dealloc %b : memref<512xf32>
  return
}
// CHECK: @twice{{.*}}
// CHECK: memref.dealloc
// CHECK: call @tick
// CHECK: memref.dealloc
func.func @twice(%o: memref<256xf32>, %z: f32) {
  %a = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  memref.dealloc %a : memref<256xf32>
  func.call @tick() : () -> ()
  memref.dealloc %a : memref<256xf32>
  %b = memref.alloc() : memref<512xf32>
  memref.dealloc %b : memref<512xf32>
  return
}

// Memory of a space of its own may be shared between threads: a barrier orders it, unless the options say that it is not.
// TOLD: @workgroup{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
// CHECK: @workgroup{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
func.func @workgroup(%o: memref<256xf32>, %z: f32) {
  %a = memref.alloc() : memref<256xf32, 3>
  %b = memref.alloc() : memref<256xf32, 3>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32, 3>)
  linalg.fill ins(%z : f32) outs(%b : memref<256xf32, 3>)
  memref.copy %a, %o : memref<256xf32, 3> to memref<256xf32>
  gpu.barrier
  memref.dealloc %a : memref<256xf32, 3>
  linalg.add ins(%o, %b : memref<256xf32>, memref<256xf32, 3>) outs(%o : memref<256xf32>)
  memref.dealloc %b : memref<256xf32, 3>
  return
}

// Branches between blocks hand it on, and a block that runs again has another one; in the last case it is also stored there.
// CHECK: @blocks{{.*}}memsched.peak = 1024 : i64, memsched.peak_before = 2048 : i64
func.func @blocks(%o: memref<256xf32>, %z: f32, %p: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %g = memref.alloc() : memref<256xf32>
  cf.br ^loop(%g : memref<256xf32>)
^loop(%last: memref<256xf32>):
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  func.call @keep(%b) : (memref<256xf32>) -> ()
  memref.dealloc %b : memref<256xf32>
  cf.cond_br %p, ^loop(%a : memref<256xf32>), ^end(%a : memref<256xf32>)
^end(%m: memref<256xf32>):
  %x = memref.load %m[%c0] : memref<256xf32>
  return %x : f32
}
// CHECK: @blocks_stored{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
func.func @blocks_stored(%o: memref<256xf32>, %t: memref<1xmemref<256xf32>>, %z: f32, %p: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<256xf32>)
  func.call @keep(%b) : (memref<256xf32>) -> ()
  memref.dealloc %b : memref<256xf32>
  cf.br ^end(%a : memref<256xf32>)
^end(%m: memref<256xf32>):
  memref.store %m, %t[%c0] : memref<1xmemref<256xf32>>
  %x = memref.load %m[%c0] : memref<256xf32>
  return %x : f32
}
