// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t fold-constants=true})' %s | FileCheck-22 %s --check-prefix=FOLD
// Constants take nothing; a transposed one takes its 256 bytes, unless it is folded. The fill is written over: it counts,
// and the product takes it over.
// CHECK: @constants{{.*}}memsched.peak = 512 : i64
// FOLD: @constants{{.*}}memsched.peak = 256 : i64
func.func @constants(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %w = arith.constant dense<2.0> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%x, %t : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}
// Constants of dialects that are not loaded: no operand, and the elements of the result.
// CHECK: @unregistered{{.*}}memsched.peak = 80 : i64
func.func @unregistered(%x: tensor<10xf32>) -> tensor<10xf32> {
  %c = "t.constant"() {value = dense<1.0> : tensor<10xf32>} : () -> tensor<10xf32>
  %r = "t.random"() {shape = dense<10> : tensor<1xi64>} : () -> tensor<10xf32>
  %s = "t.add"(%c, %r) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %s : tensor<10xf32>
}
