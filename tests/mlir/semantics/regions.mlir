// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true pure=t})' %s | FileCheck-22 %s

// The if reads %w, which its branches use; they need 400 bytes of their own beside the result. The larger branch counts.
// While it runs: 400 + 40 + 400. Given, %u (800) stands beside.
// CHECK: @captured{{.*}}memsched.peak = 880 : i64, memsched.peak_before = 1640 : i64
// CHECK: t.wide
// CHECK: scf.if
// CHECK: t.other
func.func @captured(%x: tensor<100xf32>, %p: i1) -> tensor<10xf32> {
  %w = "t.wide"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %u = "t.other"(%x) : (tensor<100xf32>) -> tensor<200xf32>
  %r = scf.if %p -> tensor<10xf32> {
    %k = "t.step"(%w) : (tensor<100xf32>) -> tensor<100xf32>
    %l = "t.sum"(%k) : (tensor<100xf32>) -> tensor<10xf32>
    scf.yield %l : tensor<10xf32>
  } else {
    %l = "t.sum"(%w) : (tensor<100xf32>) -> tensor<10xf32>
    scf.yield %l : tensor<10xf32>
  }
  %v = "t.sum"(%u) : (tensor<200xf32>) -> tensor<10xf32>
  %o = "t.add"(%r, %v) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %o : tensor<10xf32>
}

// Inner blocks are put into order as well, and first: 4080 within the if, which made 6040.
// CHECK: @inner{{.*}}memsched.peak = 4080 : i64, memsched.peak_before = 4080 : i64
// CHECK: scf.if
// CHECK-NEXT: t.widest
// CHECK-NEXT: t.narrow
func.func @inner(%x: tensor<8xf32>, %p: i1) -> tensor<10xf32> {
  %r = scf.if %p -> tensor<10xf32> {
    %a = "t.wide"(%x) : (tensor<8xf32>) -> tensor<500xf32>
    %b = "t.widest"(%x) : (tensor<8xf32>) -> tensor<1000xf32>
    %c = "t.narrow"(%a) : (tensor<500xf32>) -> tensor<10xf32>
    %d = "t.narrow"(%b) : (tensor<1000xf32>) -> tensor<20xf32>
    %e = "t.join"(%c, %d) : (tensor<10xf32>, tensor<20xf32>) -> tensor<10xf32>
    scf.yield %e : tensor<10xf32>
  } else {
    %e = "t.join"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<10xf32>
    scf.yield %e : tensor<10xf32>
  }
  return %r : tensor<10xf32>
}

// A value that a loop carries has one storage, and the new value is made beside it: 800.
// CHECK: @loop{{.*}}memsched.peak = 800 : i64, memsched.peak_before = 800 : i64
func.func @loop(%x: tensor<100xf32>) -> tensor<100xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %i = "t.init"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%t = %i) -> tensor<100xf32> {
    %n = "t.step"(%t) : (tensor<100xf32>) -> tensor<100xf32>
    scf.yield %n : tensor<100xf32>
  }
  return %r : tensor<100xf32>
}

// A parallel loop writes into what it shares (400), and each turn makes 40 bytes.
// CHECK: @forall{{.*}}memsched.peak = 440 : i64, memsched.peak_before = 440 : i64
func.func @forall(%x: tensor<100xf32>) -> tensor<100xf32> {
  %i = "t.init"(%x) : (tensor<100xf32>) -> tensor<100xf32>
  %r = scf.forall (%k) = (0) to (100) step (10) shared_outs(%o = %i) -> tensor<100xf32> {
    %s = "t.part"(%x, %k) : (tensor<100xf32>, index) -> tensor<10xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%k] [10] [1] : tensor<10xf32> into tensor<100xf32>
    }
  }
  return %r : tensor<100xf32>
}

// A region of an unknown operation may have no order: nothing in it moves.
// CHECK: @strange
// CHECK: t.region
// CHECK-NEXT: t.wide
// CHECK-NEXT: t.widest
func.func @strange(%x: tensor<8xf32>) {
  "t.region"() ({
    %a = "t.wide"(%x) : (tensor<8xf32>) -> tensor<500xf32>
    %b = "t.widest"(%x) : (tensor<8xf32>) -> tensor<1000xf32>
    %c = "t.narrow"(%a) : (tensor<500xf32>) -> tensor<10xf32>
    %d = "t.narrow"(%b) : (tensor<1000xf32>) -> tensor<20xf32>
    "t.end"(%c, %d) : (tensor<10xf32>, tensor<20xf32>) -> ()
  }) : () -> ()
  return
}
