// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s

// Allocations sink, deallocations rise: 400 + 800 + 1200 become 1200.
// CHECK: @lifetimes{{.*}}memsched.peak = 1200 : i64, memsched.peak_before = 2400 : i64
// CHECK: memref.dealloc
// CHECK: memref.dealloc
// CHECK: memref.alloc() : memref<300xf32>
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: memref.copy
// CHECK-NEXT: memref.dealloc
func.func @lifetimes(%x: memref<100xf32>, %y: memref<200xf32>, %w: memref<300xf32>) {
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  %c = memref.alloc() : memref<300xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  linalg.fill ins(%z : f32) outs(%b : memref<200xf32>)
  linalg.fill ins(%z : f32) outs(%c : memref<300xf32>)
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  memref.copy %b, %y : memref<200xf32> to memref<200xf32>
  memref.copy %c, %w : memref<300xf32> to memref<300xf32>
  memref.dealloc %a : memref<100xf32>
  memref.dealloc %b : memref<200xf32>
  memref.dealloc %c : memref<300xf32>
  return
}

// Without deallocations a buffer dies with its last reader; what is returned does not.
// CHECK: @unfreed{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 800 : i64
func.func @unfreed(%x: memref<100xf32>) -> memref<100xf32> {
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  linalg.exp ins(%x : memref<100xf32>) outs(%b : memref<100xf32>)
  %c = memref.alloc() : memref<100xf32>
  linalg.exp ins(%b : memref<100xf32>) outs(%c : memref<100xf32>)
  return %c : memref<100xf32>
}

// One of two buffers is chosen: both live to the end, since nothing says when they die. Memory on the stack stays as well, and
// moves after the third buffer.
// CHECK: @chosen{{.*}}memsched.peak = 1200 : i64, memsched.peak_before = 1240 : i64
func.func @chosen(%x: memref<100xf32>, %p: i1) {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  memref.copy %x, %a : memref<100xf32> to memref<100xf32>
  memref.copy %x, %b : memref<100xf32> to memref<100xf32>
  %s = arith.select %p, %a, %b : memref<100xf32>
  memref.copy %s, %x : memref<100xf32> to memref<100xf32>
  %k = memref.alloca() : memref<10xf32>
  %v = memref.cast %k : memref<10xf32> to memref<?xf32>
  %c = memref.alloc() : memref<100xf32>
  memref.copy %x, %c : memref<100xf32> to memref<100xf32>
  memref.dealloc %c : memref<100xf32>
  return
}
