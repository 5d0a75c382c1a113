// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s
// Memory that is allocated on the stack before the stack is saved outlives its restoration.

// CHECK-LABEL: @saved{{.*}}memsched.peak = 3072 : i64, memsched.peak_before = 3072 : i64
// CHECK: memref.alloca
// CHECK: llvm.intr.stacksave
// CHECK: llvm.intr.stackrestore
// CHECK: memref.alloca
func.func @saved(%one: f32, %two: f32) -> f32 {
  %i = arith.constant 0 : index
  cf.br ^b
^b:
  %a = memref.alloca() : memref<256xf32>
  %sp = llvm.intr.stacksave : !llvm.ptr
  %h = memref.alloc() : memref<512xf32>
  linalg.fill ins(%one : f32) outs(%h : memref<512xf32>)
  %q = memref.load %h[%i] : memref<512xf32>
  memref.dealloc %h : memref<512xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<256xf32>)
  llvm.intr.stackrestore %sp : !llvm.ptr
  %b = memref.alloca() : memref<256xf32>
  linalg.fill ins(%two : f32) outs(%b : memref<256xf32>)
  %x = memref.load %a[%i] : memref<256xf32>
  %y = memref.load %b[%i] : memref<256xf32>
  %xy = arith.mulf %x, %y : f32
  %r = arith.addf %xy, %q : f32
  return %r : f32
}

// A branch is no scope of the stack: what it yields was allocated in the function's.
// CHECK-LABEL: @yielded{{.*}}memsched.peak = 3072 : i64, memsched.peak_before = 3072 : i64
// CHECK: scf.if
// CHECK: llvm.intr.stacksave
func.func @yielded(%c: i1, %one: f32, %two: f32) -> f32 {
  %i = arith.constant 0 : index
  cf.br ^b
^b:
  %a = scf.if %c -> memref<256xf32> {
    %s = memref.alloca() : memref<256xf32>
    scf.yield %s : memref<256xf32>
  } else {
    %s = memref.alloca() : memref<256xf32>
    scf.yield %s : memref<256xf32>
  }
  %sp = llvm.intr.stacksave : !llvm.ptr
  %h = memref.alloc() : memref<512xf32>
  linalg.fill ins(%one : f32) outs(%h : memref<512xf32>)
  %q = memref.load %h[%i] : memref<512xf32>
  memref.dealloc %h : memref<512xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<256xf32>)
  llvm.intr.stackrestore %sp : !llvm.ptr
  %b = memref.alloca() : memref<256xf32>
  linalg.fill ins(%two : f32) outs(%b : memref<256xf32>)
  %x = memref.load %a[%i] : memref<256xf32>
  %y = memref.load %b[%i] : memref<256xf32>
  %xy = arith.mulf %x, %y : f32
  %r = arith.addf %xy, %q : f32
  return %r : f32
}
