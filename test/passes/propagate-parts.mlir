// Operands that have nothing to do with each other may be sharded by one axis:
// those of a barrier, and what loops and branches take.
// RUN: weft-opt --weft-propagate-layouts --weft-verify-layouts %s | FileCheck %s
// RUN: weft-opt --weft-propagate-layouts --weft-partition %s | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"data"=2, "model"=4>
#rows = #weft.layout<#mesh, [{"model"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#batch = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // The barrier of jax.checkpoint: the weights of two layers, one by rows and
  // one by columns of the same axis, and the batch. Nothing moves before the
  // sum of the last product.
  // CHECK-LABEL: func.func @barrier
  // CHECK-NOT: weft.reshard
  // CHECK: weft.optimization_barrier
  // CHECK-SAME: -> tensor<32x64xf32, #[[BATCH:.*]]>, tensor<64x256xf32, #[[COLUMNS:.*]]>, tensor<256x64xf32, #[[ROWS:[^>]*]]>
  // CHECK-NOT: weft.reshard
  // CHECK: return
  // LOCAL-LABEL: func.func @barrier
  // LOCAL: weft.optimization_barrier {{.*}} -> tensor<16x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  func.func @barrier(%x: tensor<32x64xf32> {weft.layout = #batch}, %up: tensor<64x256xf32> {weft.layout = #columns}, %down: tensor<256x64xf32> {weft.layout = #rows}) -> (tensor<32x256xf32>, tensor<64x256xf32>, tensor<256x64xf32>) {
    %0:3 = weft.optimization_barrier %x, %up, %down : tensor<32x64xf32>, tensor<64x256xf32>, tensor<256x64xf32> -> tensor<32x64xf32>, tensor<64x256xf32>, tensor<256x64xf32>
    %1 = weft.dot %0#0, %0#1 contract [1] x [0] : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
    return %1, %0#1, %0#2 : tensor<32x256xf32>, tensor<64x256xf32>, tensor<256x64xf32>
  }

  // An annotation behind the barrier reaches the operand of its own result only.
  // CHECK-LABEL: func.func @behind
  // CHECK-NOT: weft.reshard
  // CHECK: weft.optimization_barrier
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @behind(%x: tensor<8x8xf32> {weft.layout = #rows}, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32> {weft.layout = #columns}) {
    %0 = weft.neg %y : tensor<8x8xf32>
    %1:2 = weft.optimization_barrier %x, %0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>, tensor<8x8xf32>
    return %1#0, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
  }

  // CHECK-LABEL: func.func @carried
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @carried(%p: tensor<i1>, %x: tensor<8x8xf32> {weft.layout = #rows}, %y: tensor<8x8xf32> {weft.layout = #columns}) -> (tensor<8x8xf32> {weft.layout = #rows}, tensor<8x8xf32> {weft.layout = #columns}) {
    %0:2 = weft.for 10 (%x, %y) : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<8x8xf32>, %w: tensor<8x8xf32>):
      %2 = weft.exp %v : tensor<8x8xf32>
      %3 = weft.neg %w : tensor<8x8xf32>
      weft.yield %2, %3 : tensor<8x8xf32>, tensor<8x8xf32>
    }
    %1:2 = weft.case %p(%0#0, %0#1) : tensor<i1>, (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    ^bb0(%v: tensor<8x8xf32>, %w: tensor<8x8xf32>):
      weft.yield %v, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }, {
    ^bb0(%v: tensor<8x8xf32>, %w: tensor<8x8xf32>):
      %2 = weft.exp %v : tensor<8x8xf32>
      weft.yield %2, %w : tensor<8x8xf32>, tensor<8x8xf32>
    }
    return %1#0, %1#1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
