// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t,func})' %s | FileCheck-22 %s --check-prefix=PURE
func.func private @small(tensor<100xf32>) -> tensor<10xf32>
func.func private @large(tensor<200xf32>) -> tensor<10xf32>
memref.global constant @weights : memref<100xf32> = dense<1.0>
memref.global @state : memref<100xf32> = dense<1.0>

// One buffer written twice: the first copy reads before the second fill writes.
// CHECK: @turns{{.*}}memsched.peak = 400 : i64, memsched.peak_before = 400 : i64
// CHECK: linalg.fill
// CHECK-NEXT: memref.copy %{{.*}}, %arg0
// CHECK-NEXT: linalg.fill
// CHECK-NEXT: memref.copy %{{.*}}, %arg1
func.func @turns(%x: memref<100xf32>, %y: memref<100xf32>) {
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  memref.copy %a, %y : memref<100xf32> to memref<100xf32>
  memref.dealloc %a : memref<100xf32>
  return
}

// Arguments may be one and the same, and a global that changes may be handed in: these copies keep their order, although the
// other one would spare 400 bytes.
// CHECK: @arguments{{.*}}memsched.peak = 1200 : i64, memsched.peak_before = 1200 : i64
func.func @arguments(%x: memref<100xf32>, %y: memref<200xf32>, %w: memref<200xf32>) {
  %s = memref.get_global @state : memref<100xf32>
  %a = memref.alloc() : memref<100xf32>
  memref.copy %s, %a : memref<100xf32> to memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  memref.copy %y, %b : memref<200xf32> to memref<200xf32>
  memref.copy %b, %w : memref<200xf32> to memref<200xf32>
  memref.dealloc %b : memref<200xf32>
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  memref.dealloc %a : memref<100xf32>
  return
}

// A constant global cannot change: its copy sinks below what is written.
// CHECK: @constant{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 1200 : i64
func.func @constant(%x: memref<100xf32>, %y: memref<200xf32>, %w: memref<200xf32>) {
  %s = memref.get_global @weights : memref<100xf32>
  %a = memref.alloc() : memref<100xf32>
  memref.copy %s, %a : memref<100xf32> to memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  memref.copy %y, %b : memref<200xf32> to memref<200xf32>
  memref.copy %b, %w : memref<200xf32> to memref<200xf32>
  memref.dealloc %b : memref<200xf32>
  memref.copy %a, %x : memref<100xf32> to memref<100xf32>
  memref.dealloc %a : memref<100xf32>
  return
}

// Calls have effects unless they are declared pure: the one that frees %u (800) may go before the other only then.
// CHECK: @calls{{.*}}memsched.peak = 1240 : i64, memsched.peak_before = 1240 : i64
// PURE: @calls{{.*}}memsched.peak = 880 : i64, memsched.peak_before = 1240 : i64
func.func @calls(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %u = "t.make"(%x) : (tensor<10xf32>) -> tensor<200xf32>
  %k = "t.sum"(%u) : (tensor<200xf32>) -> tensor<10xf32>
  %v = "t.make"(%k) : (tensor<10xf32>) -> tensor<100xf32>
  %c = func.call @small(%v) : (tensor<100xf32>) -> tensor<10xf32>
  %d = func.call @large(%u) : (tensor<200xf32>) -> tensor<10xf32>
  return %c, %d : tensor<10xf32>, tensor<10xf32>
}

// Memory effects on nothing in particular are barriers for buffers.
// CHECK: @barrier{{.*}}memsched.peak = 0 : i64
// CHECK: memref.load
// CHECK-NEXT: memref.store
// CHECK-NEXT: "u.unknown"
// CHECK-NEXT: memref.load
func.func @barrier(%m: memref<64xf32>, %v: f32) -> f32 {
  %i = arith.constant 0 : index
  %old = memref.load %m[%i] : memref<64xf32>
  memref.store %v, %m[%i] : memref<64xf32>
  "u.unknown"() : () -> ()
  %new = memref.load %m[%i] : memref<64xf32>
  %sum = arith.addf %old, %new : f32
  return %sum : f32
}
