// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// Tensors that name a buffer, read in regions: what reads them stays before what changes the buffer.

// The branches capture %t; after the second fill, 2,064 bytes would become 1,040.
// CHECK-LABEL: @branch{{.*}}memsched.peak = 2064 : i64, memsched.peak_before = 2064 : i64
// CHECK: scf.if
// CHECK: linalg.fill
// CHECK: memref.alloc() : memref<256xf32>
func.func @branch(%c: i1) -> f32 {
  %i = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %m = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%m : memref<4xf32>)
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %big = scf.if %c -> tensor<256xf32> {
    %e = tensor.extract %t[%i] : tensor<4xf32>
    %s = tensor.splat %e : tensor<256xf32>
    scf.yield %s : tensor<256xf32>
  } else {
    %s = tensor.splat %two : tensor<256xf32>
    scf.yield %s : tensor<256xf32>
  }
  linalg.fill ins(%two : f32) outs(%m : memref<4xf32>)
  %h = memref.alloc() : memref<256xf32>
  %m1 = memref.load %m[%i] : memref<4xf32>
  linalg.fill ins(%m1 : f32) outs(%h : memref<256xf32>)
  %p = memref.load %h[%i] : memref<256xf32>
  memref.dealloc %h : memref<256xf32>
  %j = arith.fptosi %p : f32 to i32
  %k = arith.index_cast %j : i32 to index
  %x = tensor.extract %big[%k] : tensor<256xf32>
  %y = arith.mulf %x, %p : f32
  memref.dealloc %m : memref<4xf32>
  return %y : f32
}

// In a loop's body whose tensor comes from outside, likewise.
// CHECK-LABEL: @body{{.*}}memsched.peak = 2064 : i64, memsched.peak_before = 2064 : i64
// CHECK: scf.for
// CHECK-NEXT: t.widen
// CHECK: memref.store
func.func @body() -> f32 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2 = arith.constant 2 : index
  %one = arith.constant 1.0 : f32
  %m = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%m : memref<4xf32>)
  %t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
  %r = scf.for %i = %0 to %2 step %1 iter_args(%sum = %one) -> f32 {
    %b = "t.widen"(%t) : (tensor<4xf32>) -> tensor<256xf32>
    memref.store %sum, %m[%0] : memref<4xf32>
    %h = memref.alloc() : memref<256xf32>
    linalg.fill ins(%sum : f32) outs(%h : memref<256xf32>)
    %p = memref.load %h[%i] : memref<256xf32>
    memref.dealloc %h : memref<256xf32>
    %j = arith.fptosi %p : f32 to i32
  %k = arith.index_cast %j : i32 to index
  %x = tensor.extract %b[%k] : tensor<256xf32>
    %y = arith.addf %x, %p : f32
    scf.yield %y : f32
  }
  memref.dealloc %m : memref<4xf32>
  return %r : f32
}

// A call that takes a memref may give a tensor of it.
// CHECK-LABEL: @called{{.*}}memsched.peak = 2064 : i64, memsched.peak_before = 2064 : i64
// CHECK: t.widen
// CHECK: memref.store
func.func private @view(memref<4xf32>) -> tensor<4xf32>
func.func @called(%one: f32) -> f32 {
  %i = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%m : memref<4xf32>)
  %t = func.call @view(%m) : (memref<4xf32>) -> tensor<4xf32>
  %b = "t.widen"(%t) : (tensor<4xf32>) -> tensor<256xf32>
  memref.store %one, %m[%i] : memref<4xf32>
  %h = memref.alloc() : memref<256xf32>
  linalg.fill ins(%one : f32) outs(%h : memref<256xf32>)
  %p = memref.load %h[%i] : memref<256xf32>
  memref.dealloc %h : memref<256xf32>
  %j = arith.fptosi %p : f32 to i32
  %k = arith.index_cast %j : i32 to index
  %x = tensor.extract %b[%k] : tensor<256xf32>
  %y = arith.addf %x, %p : f32
  memref.dealloc %m : memref<4xf32>
  return %y : f32
}

// A region may yield such a tensor.
// CHECK-LABEL: @yielded{{.*}}memsched.peak = 2064 : i64, memsched.peak_before = 2064 : i64
// CHECK: scf.if
// CHECK: t.widen
// CHECK: memref.store
func.func @yielded(%c: i1, %one: f32, %n: memref<4xf32>) -> f32 {
  %i = arith.constant 0 : index
  %m = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%m : memref<4xf32>)
  %t = scf.if %c -> tensor<4xf32> {
    %u = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  } else {
    %u = bufferization.to_tensor %n restrict : memref<4xf32> to tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  %b = "t.widen"(%t) : (tensor<4xf32>) -> tensor<256xf32>
  memref.store %one, %m[%i] : memref<4xf32>
  %h = memref.alloc() : memref<256xf32>
  linalg.fill ins(%one : f32) outs(%h : memref<256xf32>)
  %p = memref.load %h[%i] : memref<256xf32>
  memref.dealloc %h : memref<256xf32>
  %j = arith.fptosi %p : f32 to i32
  %k = arith.index_cast %j : i32 to index
  %x = tensor.extract %b[%k] : tensor<256xf32>
  %y = arith.addf %x, %p : f32
  memref.dealloc %m : memref<4xf32>
  return %y : f32
}

// A caller may hand in one buffer as a tensor and as a memref.
// CHECK-LABEL: @handed_in{{.*}}memsched.peak = 2048 : i64, memsched.peak_before = 2048 : i64
// CHECK: t.widen
// CHECK: memref.store
func.func @handed_in(%t: tensor<4xf32>, %m: memref<4xf32>, %one: f32) -> f32 {
  %i = arith.constant 0 : index
  %b = "t.widen"(%t) : (tensor<4xf32>) -> tensor<256xf32>
  memref.store %one, %m[%i] : memref<4xf32>
  %h = memref.alloc() : memref<256xf32>
  %o = memref.load %m[%i] : memref<4xf32>
  linalg.fill ins(%o : f32) outs(%h : memref<256xf32>)
  %p = memref.load %h[%i] : memref<256xf32>
  memref.dealloc %h : memref<256xf32>
  %y = "t.take"(%b, %p) : (tensor<256xf32>, f32) -> f32
  return %y : f32
}

// Before anything is written to what the caller hands in, its tensors are read in any order: the wide one first.
// CHECK-LABEL: @results{{.*}}memsched.peak = 840 : i64, memsched.peak_before = 1240 : i64
// CHECK: tensor<200xf32>
func.func @results(%x: tensor<10xf32>, %o: memref<10xf32>) {
  %u = "t.make"(%x) : (tensor<10xf32>) -> tensor<100xf32>
  %v = "t.make"(%x) : (tensor<10xf32>) -> tensor<200xf32>
  %k = "t.sum"(%u) : (tensor<100xf32>) -> tensor<10xf32>
  %l = "t.sum"(%v) : (tensor<200xf32>) -> tensor<10xf32>
  %s = "t.add"(%k, %l) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  bufferization.materialize_in_destination %s in writable %o : (tensor<10xf32>, memref<10xf32>) -> ()
  return
}
