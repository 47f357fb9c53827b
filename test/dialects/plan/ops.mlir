// Every op reads back as it prints.
// RUN: weft-opt %s | weft-opt | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
#scalar = #weft.layout<#mesh, []>
// CHECK-LABEL: plan.program @all
plan.program @all mesh #mesh arena 1024 {
  // CHECK: plan.buffer offset 0
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  %d = plan.buffer offset 192 : memref<4x8xf32>
  %e = plan.buffer offset 320 : memref<8x4xf32>
  %p = plan.buffer offset 448 : memref<8xi64>
  %x = plan.buffer offset 512 : memref<f32>
  %y = plan.buffer offset 576 : memref<f32>
  // CHECK: %[[SUM:.*]] = plan.start "all_reduce" #plan.combination<sum> (%{{.*}}) to (%{{.*}}) over #{{.*}} reason "a gradient" : (memref<4xf32>) to (memref<4xf32>)
  // CHECK-NEXT: plan.wait %[[SUM]]
  %0 = plan.start "all_reduce" #plan.combination<sum> (%a) to (%a) over #group reason "a gradient" : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %0
  // CHECK: plan.start "all_reduce" #plan.combination<max> (%{{.*}}, %{{.*}}) to (%{{.*}}, %{{.*}}) over #{{.*}} times 3 : (memref<4xf32>, memref<8xf32>) to (memref<4xf32>, memref<8xf32>)
  // CHECK-NEXT: plan.launch @sort
  // CHECK-NEXT: plan.wait
  %1 = plan.start "all_reduce" #plan.combination<max> (%a, %b) to (%c, %b) over #group times 3 : (memref<4xf32>, memref<8xf32>) to (memref<4xf32>, memref<8xf32>)
  plan.launch @sort(%d) : memref<4x8xf32>
  plan.wait %1
  // CHECK: plan.start "reduce_scatter" #plan.combination<prod dim 0> (%{{.*}}) to (%{{.*}}) over #{{.*}} times 0 : (memref<8xf32>) to (memref<4xf32>)
  %2 = plan.start "reduce_scatter" #plan.combination<prod dim 0> (%b) to (%a) over #group times 0 : (memref<8xf32>) to (memref<4xf32>)
  plan.wait %2
  // CHECK: plan.start "all_gather" #plan.movement<[8] from #{{.*}} to #{{.*}} ring> (%{{.*}}) to (%{{.*}}) over #{{.*}} : (memref<4xf32>) to (memref<8xf32>)
  %3 = plan.start "all_gather" #plan.movement<[8] from #group to #whole ring> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %3
  // CHECK: plan.start "exchange" #plan.movement<[8] from #{{.*}} to #{{.*}}> (%{{.*}}) to (%{{.*}}) over #{{.*}} reason "a move"
  %4 = plan.start "exchange" #plan.movement<[8] from #group to #whole> (%a) to (%b) over #group reason "a move" : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %4
  // CHECK: plan.start "exchange" #plan.movement<[] from #{{.*}} to #{{.*}}> (
  %5 = plan.start "exchange" #plan.movement<[] from #scalar to #scalar> (%x) to (%y) over #group : (memref<f32>) to (memref<f32>)
  plan.wait %5
  // CHECK: plan.start "fetch" #plan.fetching<dim 0 at[8, 4, 1, -2, 1, 0]> (%{{.*}}) to (%{{.*}}) over #{{.*}} : (memref<4xf32>) to (memref<8xf32>)
  %6 = plan.start "fetch" #plan.fetching<dim 0 at[8, 4, 1, -2, 1, 0]> (%a) to (%b) over #group : (memref<4xf32>) to (memref<8xf32>)
  plan.wait %6
  // CHECK: plan.start "pick" #plan.fetching<dim 0> (%{{.*}}, %{{.*}}) to (%{{.*}}) over #{{.*}} : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
  %7 = plan.start "pick" #plan.fetching<dim 0> (%a, %p) to (%b) over #group : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
  plan.wait %7
  // CHECK: plan.start "collective_permute" #plan.sending<[1, -1]> (%{{.*}}) to (%{{.*}}) over #{{.*}} reason "a turn" times 2 : (memref<4xf32>) to (memref<4xf32>)
  %8 = plan.start "collective_permute" #plan.sending<[1, -1]> (%a) to (%c) over #group reason "a turn" times 2 : (memref<4xf32>) to (memref<4xf32>)
  plan.wait %8
  // CHECK: plan.start "host_call" #plan.host_call<7> (%{{.*}}, %{{.*}}) to (%{{.*}}) over #{{.*}} times 4 : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
  %9 = plan.start "host_call" #plan.host_call<7> (%a, %p) to (%b) over #group times 4 : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
  plan.wait %9
  // CHECK: plan.launch @relu(%{{.*}}, %{{.*}}) scratch %{{.*}} : memref<8xi64> : memref<4xf32>, memref<4xf32>
  plan.launch @relu(%a, %c) scratch %p : memref<8xi64> : memref<4xf32>, memref<4xf32>
  // CHECK: plan.launch @sort(%{{.*}}) : memref<8xf32>
  plan.launch @sort(%b) : memref<8xf32>
}

// CHECK: plan.device_module @code chip "sm_90" format ptx data ".version 8.0"
plan.device_module @code chip "sm_90" format ptx data ".version 8.0"
// CHECK: plan.device_kernel @relu in @code symbol "relu" block [256, 1, 1] blocks 64 shared 512 scratch 64
plan.device_kernel @relu in @code symbol "relu" block [256, 1, 1] blocks 64 shared 512 scratch 64
// CHECK: plan.library_contraction @dot batch [] rows [16, 784, 0, 200] columns [200, 0, 1, 1] contract [784, 1, 200, 0] sums f32 epilogue bias_relu fallback @relu scratch 64
plan.library_contraction @dot batch [] rows [16, 784, 0, 200] columns [200, 0, 1, 1] contract [784, 1, 200, 0] sums f32 epilogue bias_relu fallback @relu scratch 64
// CHECK: plan.kernel_sequence @twice kernels [@relu, @relu] scratch 64
plan.kernel_sequence @twice kernels [@relu, @relu] scratch 64
// CHECK: plan.builtin @sort name "sort" parameters [8, 1] scratch 0
plan.builtin @sort name "sort" parameters [8, 1] scratch 0

// CHECK: func.func private @sums({{.*}}) -> tensor<16x200xf32> attributes {plan.library = #plan.contraction<batch[], rows[16, 784, 0, 200], columns[200, 0, 1, 1], contract[784, 1, 200, 0], sums f32, epilogue bias, compute tf32>, weft.kernel = #weft.kernel<dot>}
func.func private @sums(%x: tensor<16x784xf32>, %w: tensor<784x200xf32>, %b: tensor<200xf32>) -> tensor<16x200xf32> attributes {
    plan.library = #plan.contraction<batch[], rows[16, 784, 0, 200], columns[200, 0, 1, 1], contract[784, 1, 200, 0], sums f32, epilogue bias, compute tf32>,
    weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
  %1 = weft.broadcast %b dims [1] : tensor<200xf32> -> tensor<16x200xf32>
  %2 = weft.add %0, %1 : tensor<16x200xf32>
  return %2 : tensor<16x200xf32>
}
// CHECK: plan.library_contraction @dots batch [8, 16, 16, 16] rows [4, 4, 0, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] sums f32 epilogue none compute tf32 fallback @relu scratch 64
plan.library_contraction @dots batch [8, 16, 16, 16] rows [4, 4, 0, 4] columns [4, 0, 1, 1] contract [4, 1, 4, 0] sums f32 epilogue none compute tf32 fallback @relu scratch 64
// CHECK: plan.library_contraction @slices batch [] rows [4, 8, 0, 4] columns [4, 0, 8, 1] contract [4, 1, 1, 0] first [0, 4] sums f32 epilogue none fallback @relu scratch 64
plan.library_contraction @slices batch [] rows [4, 8, 0, 4] columns [4, 0, 8, 1] contract [4, 1, 1, 0] first [0, 4] sums f32 epilogue none fallback @relu scratch 64
// CHECK: func.func private @parts({{.*}}) -> tensor<4x4xf32> attributes {plan.library = #plan.contraction<batch[], rows[4, 8, 0, 4], columns[4, 0, 8, 1], contract[4, 1, 1, 0] first[0, 4], sums f32, epilogue none, compute full>
func.func private @parts(%x: tensor<4x8xf32>, %w: tensor<4x8xf32>) -> tensor<4x4xf32> attributes {
    plan.library = #plan.contraction<batch[], rows[4, 8, 0, 4], columns[4, 0, 8, 1], contract[4, 1, 1, 0] first[0, 4], sums f32, epilogue none, compute full>,
    weft.kernel = #weft.kernel<dot>} {
  %0 = weft.slice %x from [0, 0] to [4, 4] by [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %1 = weft.slice %w from [0, 4] to [4, 8] by [1, 1] : tensor<4x8xf32> -> tensor<4x4xf32>
  %2 = weft.dot %0, %1 contract [1] x [1] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: plan.routine @loop
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4xf32>):
// CHECK-NEXT: %[[MORE:.*]] = plan.local : memref<i1>
// CHECK-NEXT: %[[ONE:.*]] = plan.constant dense<true> : tensor<i1> : memref<i1>
// CHECK-NEXT: plan.copy %[[ONE]] to %[[MORE]] : memref<i1>
// CHECK-NEXT: plan.label "loop 0" rounds 3
// CHECK-NEXT: plan.jump_unless %[[MORE]] "end 1" equal : memref<i1>
// CHECK-NEXT: plan.launch @host(%[[X]]) : memref<4xf32>
// CHECK-NEXT: plan.jump "loop 0"
// CHECK-NEXT: plan.label "end 1"
plan.routine @loop {
^bb0(%x: memref<4xf32>):
  %more = plan.local : memref<i1>
  %one = plan.constant dense<true> : tensor<i1> : memref<i1>
  plan.copy %one to %more : memref<i1>
  plan.label "loop 0" rounds 3
  plan.jump_unless %more "end 1" equal : memref<i1>
  plan.launch @host(%x) : memref<4xf32>
  plan.jump "loop 0"
  plan.label "end 1"
}
func.func private @host(%x: tensor<4xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  return
}
