// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t dry-run=true})' %s | FileCheck-22 %s --check-prefix=STAYS
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{pure=t min-gain=1961})' %s | FileCheck-22 %s --check-prefix=STAYS
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{pure=t.wide,t.widest,t.narrow,t.join})' %s | FileCheck-22 %s --check-prefix=MOVES
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s --check-prefix=UNKNOWN

// Given: wide 2000 and widest 4000 stand together. Better: each is narrowed before the next starts, the larger one first,
// while nothing else is there; then 40 + 2000 + 20.
// CHECK: @branches{{.*}}memsched.peak = 4080 : i64, memsched.peak_before = 6040 : i64
// CHECK-NEXT: t.widest
// CHECK-NEXT: t.narrow
// CHECK-NEXT: t.wide
// CHECK-NEXT: t.narrow
// CHECK-NEXT: t.join
// A gain below min-gain moves nothing, nor does a dry run.
// STAYS: @branches
// STAYS-NEXT: t.wide
// STAYS-NEXT: t.widest
// MOVES: t.widest
// MOVES-NEXT: t.narrow
// Unknown operations are barriers.
// UNKNOWN: @branches{{.*}}memsched.peak = 6040 : i64, memsched.peak_before = 6040 : i64
func.func @branches(%x: tensor<8xf32>) -> tensor<10xf32> {
  %a = "t.wide"(%x) : (tensor<8xf32>) -> tensor<500xf32>
  %b = "t.widest"(%x) : (tensor<8xf32>) -> tensor<1000xf32>
  %c = "t.narrow"(%a) : (tensor<500xf32>) -> tensor<10xf32>
  %d = "t.narrow"(%b) : (tensor<1000xf32>) -> tensor<20xf32>
  %e = "t.join"(%c, %d) : (tensor<10xf32>, tensor<20xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}
