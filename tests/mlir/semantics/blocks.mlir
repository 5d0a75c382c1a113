// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// Of several blocks each has its own order, and the function the largest peak. %k, which another block uses, lives to the end
// of the first: %w goes before it.
// CHECK: @blocks{{.*}}memsched.peak = 440 : i64, memsched.peak_before = 440 : i64
// CHECK: t.wide
// CHECK-NEXT: t.use
// CHECK-NEXT: t.keep
func.func @blocks(%x: tensor<10xf32>, %p: i1) -> tensor<10xf32> {
  %k = "t.keep"(%x) : (tensor<10xf32>) -> tensor<10xf32>
  %w = "t.wide"(%x) : (tensor<10xf32>) -> tensor<100xf32>
  "t.use"(%w) : (tensor<100xf32>) -> ()
  cf.cond_br %p, ^a(%k : tensor<10xf32>), ^b
^a(%m: tensor<10xf32>):
  %n = "t.make"(%m) : (tensor<10xf32>) -> tensor<100xf32>
  %o = "t.make"(%n) : (tensor<100xf32>) -> tensor<10xf32>
  return %o : tensor<10xf32>
^b:
  %l = "t.last"(%k) : (tensor<10xf32>) -> tensor<10xf32>
  return %l : tensor<10xf32>
}
