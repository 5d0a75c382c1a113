// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s

// collapse_shape and extract_slice name the storage of %p (1024 bytes); the negation makes 256 more.
// CHECK: @tensors{{.*}}memsched.peak = 1280 : i64, memsched.peak_before = 1280 : i64
func.func @tensors(%x: tensor<4x64xf32>) -> tensor<64xf32> {
  %p = "t.make"(%x) : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = tensor.collapse_shape %p [[0, 1]] : tensor<4x64xf32> into tensor<256xf32>
  %s = tensor.extract_slice %c[64] [64] [1] : tensor<256xf32> to tensor<64xf32>
  %n = "t.neg"(%s) : (tensor<64xf32>) -> tensor<64xf32>
  return %n : tensor<64xf32>
}

// A select names one of two tensors, which one is unknown: it counts as a third.
// CHECK: @select{{.*}}memsched.peak = 1200 : i64, memsched.peak_before = 1200 : i64
func.func @select(%x: tensor<100xf32>, %p: i1) -> tensor<100xf32> {
  %a = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %b = "t.make"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %s = arith.select %p, %a, %b : tensor<100xf32>
  return %s : tensor<100xf32>
}

// Views of a buffer are the buffer, and the size of one of dynamic shape is not asked: the fills stay before the copy.
// CHECK: @buffers{{.*}}memsched.peak = 4096 : i64, memsched.peak_before = 4096 : i64
// CHECK: linalg.fill
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: memref.dealloc
func.func @buffers(%x: memref<?xf32>) {
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<1024xf32>
  %s = memref.subview %a[0] [512] [1] : memref<1024xf32> to memref<512xf32, strided<[1]>>
  %t = memref.subview %a[512] [512] [1] : memref<1024xf32> to memref<512xf32, strided<[1], offset: 512>>
  linalg.fill ins(%z : f32) outs(%s : memref<512xf32, strided<[1]>>)
  linalg.fill ins(%z : f32) outs(%t : memref<512xf32, strided<[1], offset: 512>>)
  %d = memref.cast %a : memref<1024xf32> to memref<?xf32>
  memref.copy %d, %x : memref<?xf32> to memref<?xf32>
  memref.dealloc %a : memref<1024xf32>
  return
}

// Accesses through views of two buffers are no more ordered than the buffers are: %a is filled when %b is gone.
// CHECK: @apart{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 1200 : i64
func.func @apart(%x: memref<50xf32>, %y: memref<100xf32>) {
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<200xf32>
  %s = memref.subview %a[0] [50] [1] : memref<100xf32> to memref<50xf32, strided<[1]>>
  %t = memref.subview %b[0] [100] [1] : memref<200xf32> to memref<100xf32, strided<[1]>>
  linalg.fill ins(%z : f32) outs(%s : memref<50xf32, strided<[1]>>)
  linalg.fill ins(%z : f32) outs(%t : memref<100xf32, strided<[1]>>)
  memref.copy %t, %y : memref<100xf32, strided<[1]>> to memref<100xf32>
  memref.dealloc %b : memref<200xf32>
  memref.copy %s, %x : memref<50xf32, strided<[1]>> to memref<50xf32>
  memref.dealloc %a : memref<100xf32>
  return
}
