// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t views=t.reshape overwrites=t.relu})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s --check-prefix=PLAIN
// Views and operations in place of dialects that do not say so. Without: relu beside its input, then reshape likewise.
// CHECK: @declared{{.*}}memsched.peak = 400 : i64
// PLAIN: @declared{{.*}}memsched.peak = 800 : i64
func.func @declared(%x: tensor<1xf32>) -> tensor<10x10xf32> {
  %a = "t.make"(%x) : (tensor<1xf32>) -> tensor<100xf32>
  %b = "t.relu"(%a) : (tensor<100xf32>) -> tensor<100xf32>
  %c = "t.reshape"(%b) : (tensor<100xf32>) -> tensor<10x10xf32>
  return %c : tensor<10x10xf32>
}
