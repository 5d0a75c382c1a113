// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s --check-prefix=SUM
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true space=3})' %s | FileCheck-22 %s --check-prefix=THREE
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true space=0})' %s | FileCheck-22 %s --check-prefix=ZERO
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true budget=0=1K,3=400})' %s 2>&1 | FileCheck-22 %s --check-prefix=BUDGET
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true budget=0=4K,3=400})' %s 2>&1 | FileCheck-22 %s --check-prefix=ENOUGH
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{budget=0=x})' %s 2>&1 | FileCheck-22 %s --check-prefix=WRONG
// WRONG: memsched-reorder: budget=0=x is neither BYTES nor SPACE=BYTES

// Two buffers of the default space, of which one may die before the other is there, and two of space 3 likewise.
// SUM: @apart{{.*}}memsched.peak = 400 : i64, memsched.peak_before = 1600 : i64, memsched.peaks = {"0" = 400 : i64, "3" = 400 : i64}, memsched.peaks_before = {"0" = 800 : i64, "3" = 800 : i64}
// THREE: @apart{{.*}}memsched.peak = 400 : i64, memsched.peak_before = 800 : i64, memsched.peaks = {{{.*}}"3" = 400 : i64}, memsched.peaks_before = {"0" = 800 : i64, "3" = 800 : i64}
// ZERO: @apart{{.*}}memsched.peak = 400 : i64, memsched.peak_before = 800 : i64, memsched.peaks = {"0" = 400 : i64{{.*}}}
// BUDGET: @apart{{.*}}memsched.peaks = {"0" = {{.*}}, "3" = 400 : i64}
func.func @apart(%x: memref<100xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  %s = memref.alloc() : memref<100xf32, 3>
  %t = memref.alloc() : memref<100xf32, 3>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  linalg.fill ins(%z : f32) outs(%s : memref<100xf32, 3>)
  linalg.fill ins(%z : f32) outs(%t : memref<100xf32, 3>)
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  memref.copy %b, %x : memref<100xf32> to memref<100xf32>
  memref.copy %s, %x : memref<100xf32, 3> to memref<100xf32>
  memref.copy %t, %x : memref<100xf32, 3> to memref<100xf32>
  memref.dealloc %a : memref<100xf32>
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %s : memref<100xf32, 3>
  memref.dealloc %t : memref<100xf32, 3>
  return
}

// Less of space 3 (400 for 800) costs 2,000 bytes more of the default one, so nothing moves, unless there are 4,096.
// %s goes where it was copied into %p, of which an element is read that is known only after %q.
// THREE: @against{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 800 : i64, memsched.peaks = {"0" = 2000 : i64, "3" = 800 : i64}
// BUDGET: @against{{.*}}memsched.peaks = {"0" = 2000 : i64, "3" = 800 : i64}
// ENOUGH: @against{{.*}}memsched.peaks = {"0" = 4000 : i64, "3" = 400 : i64}
func.func @against(%x: memref<1xf32>, %z: f32) {
  %c0 = arith.constant 0 : index
  %s = memref.alloc() : memref<100xf32, 3>
  linalg.fill ins(%z : f32) outs(%s : memref<100xf32, 3>)
  %e = memref.load %s[%c0] : memref<100xf32, 3>
  %u = memref.alloc() : memref<100xf32, 3>
  linalg.fill ins(%e : f32) outs(%u : memref<100xf32, 3>)
  %q = memref.alloc() : memref<500xf32>
  %qs = memref.subview %q[0] [100] [1] : memref<500xf32> to memref<100xf32, strided<[1]>>
  memref.copy %u, %qs : memref<100xf32, 3> to memref<100xf32, strided<[1]>>
  memref.dealloc %u : memref<100xf32, 3>
  %y = memref.load %qs[%c0] : memref<100xf32, strided<[1]>>
  memref.dealloc %q : memref<500xf32>
  %n = arith.fptosi %y : f32 to i32
  %k = arith.index_cast %n : i32 to index
  %p = memref.alloc() : memref<500xf32>
  %ps = memref.subview %p[0] [100] [1] : memref<500xf32> to memref<100xf32, strided<[1]>>
  memref.copy %s, %ps : memref<100xf32, 3> to memref<100xf32, strided<[1]>>
  memref.dealloc %s : memref<100xf32, 3>
  %r = memref.load %ps[%k] : memref<100xf32, strided<[1]>>
  memref.dealloc %p : memref<500xf32>
  memref.store %r, %x[%c0] : memref<1xf32>
  return
}
