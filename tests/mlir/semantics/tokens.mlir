// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true})' %s | FileCheck-22 %s
// RUN: %opt --pass-pipeline='builtin.module(memsched-reorder{annotate=true opaque=refuse})' %s --mlir-diagnostic-verbosity-level=remarks 2>&1 | FileCheck-22 %s --check-prefix=REFUSE
// A buffer whose operation runs on after its place lives until the wait: the order as it stands counts both. (%b, which no wait
// can reach, then moves after it.)
// REFUSE: remark: the size of a value of type !async.token is unknown
module attributes {gpu.container_module} {
func.func private @tick()

// %a (400) is read until the wait, so %b stands beside it, and nothing frees either.
// CHECK: @async{{.*}}memsched.peak_before = 800 : i64
func.func @async(%x: memref<100xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = async.execute {
    memref.copy %a, %x : memref<100xf32> to memref<100xf32>
    async.yield
  }
  %b = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  async.await %t : !async.token
  return
}

// After the wait the buffer is free for the next.
// CHECK: @awaited{{.*}}memsched.peak_before = 800 : i64
func.func @awaited(%x: memref<100xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = async.execute {
    memref.copy %a, %x : memref<100xf32> to memref<100xf32>
    async.yield
  }
  async.await %t : !async.token
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  return
}

// A deallocation stays after the wait, even if the token of the second follows from the first.
// CHECK: @chain{{.*}}memsched.peak_before = 1200 : i64
// CHECK: async.await
// CHECK-NEXT: memref.dealloc
func.func @chain(%x: memref<100xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = async.execute {
    memref.copy %a, %x : memref<100xf32> to memref<100xf32>
    async.yield
  }
  %u = async.execute [%t] {
    async.yield
  }
  %b = memref.alloc() : memref<200xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<200xf32>)
  memref.dealloc %b : memref<200xf32>
  async.await %u : !async.token
  memref.dealloc %a : memref<100xf32>
  return
}

// Memory that a task allocates lives until the wait: 800 beside %b (400), which the wait could spare.
// CHECK: @inside{{.*}}memsched.peak_before = 1200 : i64
func.func @inside(%x: memref<200xf32>, %z: f32) {
  %t = async.execute {
    %a = memref.alloc() : memref<200xf32>
    linalg.fill ins(%z : f32) outs(%a : memref<200xf32>)
    memref.copy %a, %x : memref<200xf32> to memref<200xf32>
    memref.dealloc %a : memref<200xf32>
    async.yield
  }
  %b = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  func.call @tick() : () -> ()
  memref.dealloc %b : memref<100xf32>
  async.await %t : !async.token
  return
}

// A group holds the tokens that were added to it.
// CHECK: @group{{.*}}memsched.peak_before = 800 : i64
func.func @group(%x: memref<100xf32>, %z: f32) {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = async.execute {
    memref.copy %a, %x : memref<100xf32> to memref<100xf32>
    async.yield
  }
  %n = async.add_to_group %t, %g : !async.token
  %b = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  async.await_all %g
  return
}

// Nothing waits for it: the buffer stays to the end.
// CHECK: @forgotten{{.*}}memsched.peak_before = 800 : i64
func.func @forgotten(%x: memref<100xf32>, %z: f32) {
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = async.execute {
    memref.copy %a, %x : memref<100xf32> to memref<100xf32>
    async.yield
  }
  %b = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<100xf32>)
  return
}

// On a device: allocation, copy and launch by tokens; the buffers of 400 bytes live to the wait of the host.
// CHECK: @device{{.*}}memsched.peak_before = 800 : i64
// CHECK: gpu.launch_func async
// CHECK: gpu.wait
func.func @device(%h: memref<100xf32>) {
  %c1 = arith.constant 1 : index
  %t0 = gpu.wait async
  %a, %t1 = gpu.alloc async [%t0] () : memref<100xf32>
  %t2 = gpu.memcpy async [%t1] %a, %h : memref<100xf32>, memref<100xf32>
  %t3 = gpu.launch_func async [%t2] @kernels::@double blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<100xf32>)
  %t4 = gpu.memcpy async [%t3] %h, %a : memref<100xf32>, memref<100xf32>
  %b, %t5 = gpu.alloc async [%t0] () : memref<100xf32>
  %t6 = gpu.dealloc async [%t5] %b : memref<100xf32>
  %t7 = gpu.dealloc async [%t4] %a : memref<100xf32>
  gpu.wait [%t6, %t7]
  return
}
gpu.module @kernels {
  gpu.func @double(%a: memref<100xf32>) kernel {
    gpu.return
  }
}

// Copies into the memory of a workgroup: the source lives until the wait of their group, and to the end where the newest
// groups may run on.
// CHECK: @copies{{.*}}memsched.peak_before = 1600 : i64
// CHECK: nvgpu.device_async_wait
// CHECK-NEXT: memref.alloc
func.func @copies(%x: memref<100xf32>, %s: memref<100xf32, 3>, %z: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = nvgpu.device_async_copy %a[%c0], %s[%c0], 4 : memref<100xf32> to memref<100xf32, 3>
  %g = nvgpu.device_async_create_group %t
  nvgpu.device_async_wait %g
  %b = memref.alloc() : memref<400xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<400xf32>)
  return
}
// CHECK: @newest{{.*}}memsched.peak_before = 2000 : i64
func.func @newest(%x: memref<100xf32>, %s: memref<100xf32, 3>, %z: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<100xf32>
  linalg.fill ins(%z : f32) outs(%a : memref<100xf32>)
  %t = nvgpu.device_async_copy %a[%c0], %s[%c0], 4 : memref<100xf32> to memref<100xf32, 3>
  %g = nvgpu.device_async_create_group %t
  nvgpu.device_async_wait %g {numGroups = 1 : i32}
  %b = memref.alloc() : memref<400xf32>
  linalg.fill ins(%z : f32) outs(%b : memref<400xf32>)
  return
}
}
