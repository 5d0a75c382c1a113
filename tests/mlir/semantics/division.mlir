// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// The division, undefined for a divisor of zero, stays after the assertion that there is none. So does what frees %w (400
// bytes): it stands while %u (800) does.
// CHECK: @division{{.*}}memsched.peak = 1240 : i64, memsched.peak_before = 1240 : i64
// CHECK: cf.assert
// CHECK: arith.divsi
func.func @division(%x: tensor<10xf32>, %n: i32, %d: i32) -> (tensor<10xf32>, tensor<10xf32>) {
  %w = "t.make"(%x) : (tensor<10xf32>) -> tensor<100xf32>
  %s = "t.sum"(%w) : (tensor<100xf32>) -> tensor<10xf32>
  %u = "t.make"(%s) : (tensor<10xf32>) -> tensor<200xf32>
  %k = "t.sum"(%u) : (tensor<200xf32>) -> tensor<10xf32>
  %p = "t.test"(%k) : (tensor<10xf32>) -> i1
  cf.assert %p, "zero"
  %q = arith.divsi %n, %d : i32
  %c = "t.take"(%w, %q) : (tensor<100xf32>, i32) -> tensor<10xf32>
  return %c, %k : tensor<10xf32>, tensor<10xf32>
}
// A subtraction is defined for all operands: it and the use of %w rise above the assertion.
// CHECK: @subtraction{{.*}}memsched.peak = 880 : i64, memsched.peak_before = 1240 : i64
func.func @subtraction(%x: tensor<10xf32>, %n: i32, %d: i32) -> (tensor<10xf32>, tensor<10xf32>) {
  %w = "t.make"(%x) : (tensor<10xf32>) -> tensor<100xf32>
  %s = "t.sum"(%w) : (tensor<100xf32>) -> tensor<10xf32>
  %u = "t.make"(%s) : (tensor<10xf32>) -> tensor<200xf32>
  %k = "t.sum"(%u) : (tensor<200xf32>) -> tensor<10xf32>
  %p = "t.test"(%k) : (tensor<10xf32>) -> i1
  cf.assert %p, "zero"
  %q = arith.subi %n, %d : i32
  %c = "t.take"(%w, %q) : (tensor<100xf32>, i32) -> tensor<10xf32>
  return %c, %k : tensor<10xf32>, tensor<10xf32>
}
