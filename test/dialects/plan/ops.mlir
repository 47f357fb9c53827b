// Every op reads back as it prints.
// RUN: weft-opt %s | weft-opt | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
// CHECK-LABEL: plan.program @all
plan.program @all mesh #mesh arena 1024 {
  // CHECK: plan.buffer offset 0
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 64 : memref<8xf32>
  %c = plan.buffer offset 128 : memref<4xf32>
  %d = plan.buffer offset 192 : memref<4x8xf32>
  %e = plan.buffer offset 320 : memref<8x4xf32>
  %p = plan.buffer offset 448 : memref<8xi64>
  // CHECK: plan.all_reduce sum %{{.*}} to %{{.*}} over #{{.*}} reason "a gradient" : memref<4xf32> to memref<4xf32>
  plan.all_reduce sum %a to %a over #group reason "a gradient" : memref<4xf32> to memref<4xf32>
  // CHECK: plan.all_reduce max %{{.*}}, %{{.*}} to %{{.*}}, %{{.*}} over #{{.*}} times 3 : memref<4xf32>, memref<8xf32> to memref<4xf32>, memref<8xf32>
  plan.all_reduce max %a, %b to %c, %b over #group times 3 : memref<4xf32>, memref<8xf32> to memref<4xf32>, memref<8xf32>
  // CHECK: plan.all_gather %{{.*}} to %{{.*}} dim 0 over #{{.*}} : memref<4xf32> to memref<8xf32>
  plan.all_gather %a to %b dim 0 over #group : memref<4xf32> to memref<8xf32>
  // CHECK: plan.reduce_scatter prod %{{.*}} to %{{.*}} dim 0 over #{{.*}} times 0 : memref<8xf32> to memref<4xf32>
  plan.reduce_scatter prod %b to %a dim 0 over #group times 0 : memref<8xf32> to memref<4xf32>
  // CHECK: plan.all_to_all %{{.*}} to %{{.*}} split 1 concat 0 over #{{.*}} : memref<4x8xf32> to memref<8x4xf32>
  plan.all_to_all %d to %e split 1 concat 0 over #group : memref<4x8xf32> to memref<8x4xf32>
  // CHECK: plan.fetch %{{.*}} to %{{.*}} dim 0 of 8 at block 4 step 1 offset -2 divisor 1 modulus 0 over #{{.*}} : memref<4xf32> to memref<8xf32>
  plan.fetch %a to %b dim 0 of 8 at block 4 step 1 offset -2 divisor 1 modulus 0 over #group : memref<4xf32> to memref<8xf32>
  // CHECK: plan.pick %{{.*}} at %{{.*}} to %{{.*}} dim 0 over #{{.*}} : memref<4xf32> at memref<8xi64> to memref<8xf32>
  plan.pick %a at %p to %b dim 0 over #group : memref<4xf32> at memref<8xi64> to memref<8xf32>
  // CHECK: plan.collective_permute %{{.*}} to %{{.*}} senders [1, -1] over #{{.*}} reason "a turn" times 2 : memref<4xf32> to memref<4xf32>
  plan.collective_permute %a to %c senders [1, -1] over #group reason "a turn" times 2 : memref<4xf32> to memref<4xf32>
  // CHECK: plan.permute %{{.*}} to %{{.*}} of [8] from #{{.*}} into #{{.*}} : memref<4xf32> to memref<4xf32>
  plan.permute %a to %c of [8] from #group into #group : memref<4xf32> to memref<4xf32>
  // CHECK: plan.exchange %{{.*}} to %{{.*}} of [8] from #{{.*}} into #{{.*}} reason "a move"
  plan.exchange %a to %b of [8] from #group into #whole reason "a move" : memref<4xf32> to memref<8xf32>
  // CHECK: plan.host_call 7(%{{.*}}, %{{.*}}) to (%{{.*}}) over #{{.*}} times 4 : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
  plan.host_call 7(%a, %p) to (%b) over #group times 4 : (memref<4xf32>, memref<8xi64>) to (memref<8xf32>)
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
