// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true budget=2400 pure=t})' %s --mlir-diagnostic-verbosity-level=remarks 2>&1 | FileCheck-22 %s --check-prefix=FITS
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true budget=2399 pure=t})' %s --mlir-diagnostic-verbosity-level=remarks 2>&1 | FileCheck-22 %s --check-prefix=SOME
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true budget=1199 pure=t})' %s --mlir-diagnostic-verbosity-level=remarks 2>&1 | FileCheck-22 %s --check-prefix=LEAST
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s --mlir-diagnostic-verbosity-level=remarks 2>&1 | FileCheck-22 %s --check-prefix=BEST

// 400 + 800 + 1200 bytes, each of which may stand alone. An order that fits stays; 2,399 bytes take few moves;
// 1,199 do not do, and the least is tried.
// FITS-NOT: remark
// FITS: memsched.peak = 2400 : i64, memsched.peak_before = 2400 : i64
// SOME: remark: memsched-reorder: peak 2400 -> 2000 bytes, bound 1200; {{[1-3]}} of 12 operations moved
// SOME: memsched.peak = 2000 : i64
// LEAST: remark: memsched-reorder: peak 2400 -> 1200 bytes
// LEAST: warning: memsched-reorder: no order was found within 1199 bytes: peak 1200, bound 1200
// BEST: remark: memsched-reorder: peak 2400 -> 1200 bytes
// BEST-NOT: warning
func.func @lifetimes(%x: memref<100xf32>, %y: memref<200xf32>, %w: memref<300xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  %c = memref.alloc() : memref<300xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  linalg.fill ins(%z : f32) outs(%b : memref<200xf32>)
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  memref.copy %b, %y : memref<200xf32> to memref<200xf32>
  linalg.fill ins(%z : f32) outs(%c : memref<300xf32>)
  memref.copy %c, %w : memref<300xf32> to memref<300xf32>
  memref.dealloc %a : memref<100xf32>
  memref.dealloc %b : memref<200xf32>
  memref.dealloc %c : memref<300xf32>
  return
}
