// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// A tensor that is a buffer is read before the buffer changes. Its users and what follows keep their order, although 840 would do
// if nothing changed the buffer.
// CHECK: @mixed{{.*}}memsched.peak = 1240 : i64, memsched.peak_before = 1240 : i64
// CHECK: t.use
// CHECK: linalg.fill
func.func @mixed(%m: memref<100xf32>, %x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %z = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %w = "t.make"(%x) : (tensor<10xf32>) -> tensor<200xf32>
  %t = bufferization.to_tensor %m restrict : memref<100xf32> to tensor<100xf32>
  %u = "t.use"(%t) : (tensor<100xf32>) -> tensor<100xf32>
  linalg.fill ins(%z : f32) outs(%m : memref<100xf32>)
  %s = memref.load %m[%i] : memref<100xf32>
  %l = "t.take"(%w, %s) : (tensor<200xf32>, f32) -> tensor<10xf32>
  %k = "t.sum"(%u) : (tensor<100xf32>) -> tensor<10xf32>
  return %k, %l : tensor<10xf32>, tensor<10xf32>
}
