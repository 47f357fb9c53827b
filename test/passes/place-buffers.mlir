// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-place-buffers | FileCheck %s

// The update of a donated argument writes into its memory: no output buffer,
// no copy. The kernel's other values are in the arena or the caller's.

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
  // CHECK: plan.program @step
  // CHECK: %[[P:.*]] = plan.input "in/0"
  // CHECK: %[[G:.*]] = plan.input "in/1"
  // CHECK: plan.output "out/0" {{.*}} taking %[[P]]
  // CHECK: %[[SUM:.*]] = plan.buffer offset 0
  // CHECK: plan.start "all_reduce" #plan.combination<sum> (%[[G]]) to (%[[SUM]])
  // CHECK-NEXT: plan.wait
  // CHECK-NEXT: plan.launch @elementwise_sub_4(%[[P]], %[[SUM]], %[[P]])
  // CHECK-NOT: plan.copy
  func.func @step(%p: tensor<4xf32> {weft.donated = 0 : i64}, %g: tensor<4xf32>) -> tensor<4xf32> {
    %0 = coll.all_reduce sum %g over #mesh ["data"] : tensor<4xf32>
    %1 = call @elementwise_sub_4(%p, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // CHECK: func.func private @elementwise_sub_4
  func.func private @elementwise_sub_4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.sub %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// An op that no kernel holds has no instruction.
func.func @outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{is left outside kernels; run --weft-outline-kernels before placing buffers}}
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
