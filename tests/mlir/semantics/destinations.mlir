// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s
#id = affine_map<(i) -> (i)>

// tensor.empty takes nothing, fill makes the storage, the matrix product takes it over.
// CHECK: @chain{{.*}}memsched.peak = 256 : i64, memsched.peak_before = 256 : i64
func.func @chain(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m : tensor<8x8xf32>
}

// Both results of one operation take their destinations over: 2 x 400, not 3 or 4.
// CHECK: @both{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 800 : i64
func.func @both(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %p = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %q = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<100xf32>) outs(%p, %q : tensor<100xf32>, tensor<100xf32>) {
  ^bb0(%i: f32, %s: f32, %t: f32):
    %u = arith.addf %i, %s : f32
    %v = arith.mulf %i, %t : f32
    linalg.yield %u, %v : f32, f32
  } -> (tensor<100xf32>, tensor<100xf32>)
  return %r#0, %r#1 : tensor<100xf32>, tensor<100xf32>
}

// One destination for two operations: only the last of them takes it over.
// CHECK: @shared{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 800 : i64
func.func @shared(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>) {
  %p = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %r = linalg.negf ins(%x : tensor<100xf32>) outs(%p : tensor<100xf32>) -> tensor<100xf32>
  %s = linalg.exp ins(%x : tensor<100xf32>) outs(%p : tensor<100xf32>) -> tensor<100xf32>
  return %r, %s : tensor<100xf32>, tensor<100xf32>
}

// insert_slice writes over the whole into which it inserts: 400 + 40.
// CHECK: @insert{{.*}}memsched.peak = 440 : i64, memsched.peak_before = 440 : i64
func.func @insert(%x: tensor<100xf32>) -> tensor<100xf32> {
  %p = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %s = "t.part"(%x) : (tensor<100xf32>) -> tensor<10xf32>
  %r = tensor.insert_slice %s into %p[20] [10] [1] : tensor<10xf32> into tensor<100xf32>
  return %r : tensor<100xf32>
}

// A part keeps the whole alive: what is written into the slice of %p takes storage of its own here, although %p has no other
// reader. 400 + 40 while it is made; then 40 + 360.
// CHECK: @part{{.*}}memsched.peak = 440 : i64, memsched.peak_before = 440 : i64
func.func @part(%x: tensor<100xf32>, %y: tensor<10xf32>) -> (tensor<10xf32>, tensor<90xf32>) {
  %p = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %s = tensor.extract_slice %p[0] [10] [1] : tensor<100xf32> to tensor<10xf32>
  %r = linalg.negf ins(%y : tensor<10xf32>) outs(%s : tensor<10xf32>) -> tensor<10xf32>
  %q = "t.next"(%r) : (tensor<10xf32>) -> tensor<90xf32>
  return %r, %q : tensor<10xf32>, tensor<90xf32>
}
