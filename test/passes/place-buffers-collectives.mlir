// Each collective, and a call of the host, becomes a start of its name and kind,
// and a wait.
// RUN: weft-opt %s --weft-place-buffers | FileCheck %s

#mesh = #weft.mesh<"x"=2>
#split = #weft.layout<#mesh, [{"x"}]>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"x"}]>
module attributes {weft.mesh = #mesh} {
  // CHECK: #[[SPLIT:.*]] = #weft.layout<#mesh, [{"x"}]>
  // CHECK: plan.program @along
  // CHECK: %[[A:.*]] = plan.input "in/0"
  // CHECK: %[[E:.*]] = plan.output "out/0"
  // CHECK: %[[S0:.*]] = plan.start "all_gather" #plan.movement<[4, 12] from #[[COLUMNS:.*]] to #[[WHOLE:.*]] ring> (%[[A]]) to (%[[B:.*]]) over #[[SPLIT]] reason "b" : (memref<4x6xf32>) to (memref<4x12xf32>)
  // CHECK-NEXT: plan.wait %[[S0]]
  // CHECK-NEXT: %[[S1:.*]] = plan.start "reduce_scatter" #plan.combination<max dim 0> (%[[B]]) to (%[[C:.*]]) over #[[SPLIT]] reason "c" : (memref<4x12xf32>) to (memref<2x12xf32>)
  // CHECK-NEXT: plan.wait %[[S1]]
  // CHECK-NEXT: %[[S2:.*]] = plan.start "all_to_all" #plan.movement<[4, 12] from #[[ROWS:.*]] to #[[COLUMNS]] ring> (%[[C]]) to (%[[D:.*]]) over #[[SPLIT]] reason "d" : (memref<2x12xf32>) to (memref<4x6xf32>)
  // CHECK-NEXT: plan.wait %[[S2]]
  // CHECK-NEXT: %[[S3:.*]] = plan.start "fetch" #plan.fetching<dim 1 at[12, 6, 1, -2, 3, 12]> (%[[D]]) to (%[[E]]) over #[[SPLIT]] reason "e" : (memref<4x6xf32>) to (memref<4x9xf32>)
  // CHECK-NEXT: plan.wait %[[S3]]
  // CHECK-NEXT: }
  func.func @along(%a: tensor<4x6xf32>) -> tensor<4x9xf32> {
    %b = coll.all_gather %a dim 1 over #mesh ["x"] reason "b" : tensor<4x6xf32> -> tensor<4x12xf32>
    %c = coll.reduce_scatter max %b dim 0 over #mesh ["x"] reason "c" : tensor<4x12xf32> -> tensor<2x12xf32>
    %d = coll.all_to_all %c split 1 concat 0 over #mesh ["x"] reason "d" : tensor<2x12xf32> -> tensor<4x6xf32>
    %e = coll.fetch %d dim 1 of 12 at block 6 step 1 offset -2 divisor 3 modulus 12 over #mesh ["x"] reason "e" : tensor<4x6xf32> -> tensor<4x9xf32>
    return %e : tensor<4x9xf32>
  }

  // CHECK: plan.program @boxes
  // CHECK: %[[S0:.*]] = plan.start "move" #plan.movement<[4, 12] from #[[COLUMNS]] to #[[COLUMNS]] boxes <[0:4, 0:2] of 0 at [d0, d1 * 0], [0:4, 2:8] of 0 at [d0, d1 + 4]> of{{ ?}}[4, 10]> (%{{.*}}) to (%{{.*}}) over #[[SPLIT]] reason "b" : (memref<4x6xf32>) to (memref<4x5xf32>)
  // CHECK-NEXT: plan.wait %[[S0]]
  func.func @boxes(%a: tensor<4x6xf32>) -> tensor<4x5xf32> {
    %b = coll.move %a of [4, 12] to [4, 10] boxes <[0:4, 0:2] of 0 at [d0, d1 * 0], [0:4, 2:8] of 0 at [d0, d1 + 4]> from #columns to #columns over #mesh ["x"] reason "b" : tensor<4x6xf32> -> tensor<4x5xf32>
    return %b : tensor<4x5xf32>
  }

  // CHECK: plan.program @bothBoxes
  // CHECK: plan.start "move" #plan.movement<[4, 12] from #[[COLUMNS]] to #[[COLUMNS]] boxes <[0:4, 0:2] of 1 at [d0, d1], [0:4, 2:12] of 0 at [d0, d1]> of{{ ?}}[4, 14] and <[4, 2] in #[[COLUMNS]]>> (%{{.*}}, %{{.*}}) to (%{{.*}}) over #[[SPLIT]] : (memref<4x6xf32>, memref<4x1xf32>) to (memref<4x7xf32>)
  func.func @bothBoxes(%a: tensor<4x6xf32>, %b: tensor<4x1xf32>) -> tensor<4x7xf32> {
    %c = coll.move %a, %b of [4, 12] and [#weft.source<[4, 2] in #columns>] to [4, 14] boxes <[0:4, 0:2] of 1 at [d0, d1], [0:4, 2:12] of 0 at [d0, d1]> from #columns to #columns over #mesh ["x"] : tensor<4x6xf32>, tensor<4x1xf32> -> tensor<4x7xf32>
    return %c : tensor<4x7xf32>
  }

  // An all-reduce of a value that is not read later works in place.
  // CHECK: plan.program @others
  // CHECK: %[[A:.*]] = plan.input "in/0"
  // CHECK: %[[P:.*]] = plan.input "in/1"
  // CHECK: %[[F:.*]] = plan.output "out/0"
  // CHECK: %[[S0:.*]] = plan.start "pick" #plan.fetching<dim 1> (%[[A]], %[[P]]) to (%[[B:.*]]) over #[[SPLIT]] reason "b" : (memref<4x6xf32>, memref<4x6xi64>) to (memref<4x6xf32>)
  // CHECK-NEXT: plan.wait %[[S0]]
  // CHECK-NEXT: %[[S1:.*]] = plan.start "collective_permute" #plan.sending<[1, -1]> (%[[B]]) to (%[[C:.*]]) over #[[SPLIT]] reason "c" : (memref<4x6xf32>) to (memref<4x6xf32>)
  // CHECK-NEXT: plan.wait %[[S1]]
  // CHECK-NEXT: %[[S2:.*]] = plan.start "permute" #plan.movement<[4, 12] from #[[COLUMNS]] to #[[COLUMNS]]> (%[[C]]) to (%[[D:.*]]) over #[[SPLIT]] reason "d" : (memref<4x6xf32>) to (memref<4x6xf32>)
  // CHECK-NEXT: plan.wait %[[S2]]
  // CHECK-NEXT: %[[S3:.*]] = plan.start "all_reduce" #plan.combination<sum> (%[[D]]) to (%[[D]]) over #[[SPLIT]] reason "s" : (memref<4x6xf32>) to (memref<4x6xf32>)
  // CHECK-NEXT: plan.wait %[[S3]]
  // CHECK-NEXT: %[[S4:.*]] = plan.start "exchange" #plan.movement<[4, 12] from #[[COLUMNS]] to #[[ROWS]]> (%[[D]]) to (%[[E:.*]]) over #[[SPLIT]] reason "e" : (memref<4x6xf32>) to (memref<2x12xf32>)
  // CHECK-NEXT: plan.wait %[[S4]]
  // CHECK-NEXT: %[[S5:.*]] = plan.start "host_call" #plan.host_call<7> (%[[E]], %[[P]]) to (%[[F]]) over #[[SPLIT]] : (memref<2x12xf32>, memref<4x6xi64>) to (memref<3xf32>)
  // CHECK-NEXT: plan.wait %[[S5]]
  // CHECK-NEXT: }
  func.func @others(%a: tensor<4x6xf32>, %p: tensor<4x6xi64>) -> tensor<3xf32> {
    %b = coll.pick %a at %p dim 1 over #mesh ["x"] reason "b" : tensor<4x6xf32>, tensor<4x6xi64> -> tensor<4x6xf32>
    %c = coll.collective_permute %b sources [1, -1] over #mesh ["x"] reason "c" : tensor<4x6xf32> -> tensor<4x6xf32>
    %d = coll.permute %c of [4, 12] from #columns to #columns reason "d" : tensor<4x6xf32> -> tensor<4x6xf32>
    %s = coll.all_reduce sum %d over #mesh ["x"] reason "s" : tensor<4x6xf32>
    %e = coll.exchange %s of [4, 12] from #columns to #rows reason "e" : tensor<4x6xf32> -> tensor<2x12xf32>
    %f = host.call 7(%e, %p) in #split : (tensor<2x12xf32>, tensor<4x6xi64>) -> tensor<3xf32>
    return %f : tensor<3xf32>
  }
}
