// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t opaque=refuse})' --mlir-diagnostic-verbosity-level=remarks %s 2>&1 | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t dynamic-dim=8})' %s | FileCheck-22 %s --check-prefix=SIZED
// A value without a size is refused where it stands, and its function stays as it is.
// CHECK: sizes.mlir:[[#@LINE+11]]:{{.*}}remark: the size of a value of type tensor<?x4xf32> is unknown
// CHECK: func.func @dynamic
// CHECK-NOT: memsched.peak
// CHECK-NEXT: t.f
// CHECK-NEXT: t.g
// SIZED: @dynamic{{.*}}memsched.peak = 256 : i64
// CHECK: @small{{.*}}memsched.peak = 30 : i64
// SIZED: @small{{.*}}memsched.peak = 30 : i64
// CHECK: @foreign(
// CHECK-NOT: memsched.peak
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %a = "t.f"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = "t.g"(%a) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %b : tensor<?x4xf32>
}
// Elements of less than a byte take one; vectors and scalars are registers.
func.func @small(%x: tensor<10xi4>) -> (tensor<10xi1>, vector<64xf32>) {
  %a = "t.f"(%x) : (tensor<10xi4>) -> tensor<10xi4>
  %b = "t.g"(%x) : (tensor<10xi4>) -> tensor<10xi4>
  %c = "t.h"(%a, %b) : (tensor<10xi4>, tensor<10xi4>) -> tensor<10xi1>
  %v = "t.v"(%c) : (tensor<10xi1>) -> vector<64xf32>
  return %c, %v : tensor<10xi1>, vector<64xf32>
}
func.func @foreign(%x: tensor<4xf32>) -> !t.thing {
  %a = "t.f"(%x) : (tensor<4xf32>) -> !t.thing
  return %a : !t.thing
}
