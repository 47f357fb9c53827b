// Kernels of GPUs are launches of their own: a loop stays in the plan.
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels=target=cuda:sm_80 --weft-choose-nests=target=cuda:sm_80 --weft-place-buffers --weft-outline-loops %s | FileCheck %s

// CHECK-NOT: plan.routine
// CHECK-LABEL: plan.program @counted
// CHECK: plan.jump "loop 0"
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = weft.for 3 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %0 = weft.mul %v, %v : tensor<4xf32>
    weft.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
