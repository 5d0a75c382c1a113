// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t arguments=held})' %s | FileCheck-22 %s --check-prefix=HELD
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t arguments=donated})' %s | FileCheck-22 %s --check-prefix=GIVEN
// The argument has 400 bytes: the caller's, or here to the end, or here until it is read.
// CHECK: memsched.peak = 480 : i64
// HELD: memsched.peak = 880 : i64
// GIVEN: memsched.peak = 480 : i64
func.func @arguments(%x: tensor<100xf32>) -> tensor<20xf32> {
  %a = "t.sum"(%x) : (tensor<100xf32>) -> tensor<10xf32>
  %b = "t.make"(%a) : (tensor<10xf32>) -> tensor<100xf32>
  %c = "t.sum"(%b) : (tensor<100xf32>) -> tensor<20xf32>
  return %c : tensor<20xf32>
}
