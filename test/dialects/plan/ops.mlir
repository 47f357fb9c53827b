// What is printed can be read again.
// RUN: weft-opt %s | weft-opt | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#group = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
// CHECK-LABEL: plan.program @all
plan.program @all mesh #mesh arena 64 {
  // CHECK: plan.buffer offset 0
  %a = plan.buffer offset 0 : memref<4xf32>
  %b = plan.buffer offset 16 : memref<8xf32>
  // CHECK: plan.collective "all_reduce" by sum %{{.*}} to %{{.*}} over #{{.*}} because "a gradient" : memref<4xf32> to memref<4xf32>
  plan.collective "all_reduce" by sum %a to %a over #group because "a gradient" : memref<4xf32> to memref<4xf32>
  // CHECK: plan.collective "all_gather" %{{.*}} to %{{.*}} over #{{.*}} to_dim 0 : memref<4xf32> to memref<8xf32>
  plan.collective "all_gather" %a to %b over #group to_dim 0 : memref<4xf32> to memref<8xf32>
  // CHECK: plan.collective "exchange" %{{.*}} to %{{.*}} of [8] from #{{.*}} into #{{.*}} because "a move"
  plan.collective "exchange" %a to %b of [8] from #group into #whole because "a move" : memref<4xf32> to memref<8xf32>
}
