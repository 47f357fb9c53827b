// An op says which operands its kernel does not compute: a product does not wait
// for a message that is added to it. Numbers that are no operand say nothing.
// RUN: weft-opt %s --weft-outline-kernels | FileCheck %s

// CHECK-LABEL: func.func @arrives
// CHECK: %[[M:.*]] = coll.collective_permute %arg2
// CHECK: %[[P:.*]] = call @dot
// CHECK: %[[S:.*]] = call @elementwise_add_relu{{.*}}(%[[M]], %[[P]])
// CHECK: return %[[S]]

// CHECK-LABEL: func.func @plain
// CHECK: %[[M:.*]] = coll.collective_permute %arg2
// CHECK: call @dot_add_relu{{.*}}(%arg0, %arg1, %[[M]])
#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @arrives(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>, %far: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %m = coll.collective_permute %far sources [1, 0] over #mesh ["x"] : tensor<4x4xf32> -> tensor<4x4xf32>
    %p = weft.dot %x, %w contract [1] x [0] : tensor<4x6xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
    %s = weft.add %m, %p {weft.apart = array<i64: 1>} : tensor<4x4xf32>
    %r = weft.relu %s : tensor<4x4xf32>
    return %r : tensor<4x4xf32>
  }
  func.func @plain(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>, %far: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %m = coll.collective_permute %far sources [1, 0] over #mesh ["x"] : tensor<4x4xf32> -> tensor<4x4xf32>
    %p = weft.dot %x, %w contract [1] x [0] : tensor<4x6xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
    %s = weft.add %m, %p {weft.apart = array<i64: -1, 7>} : tensor<4x4xf32>
    %r = weft.relu %s : tensor<4x4xf32>
    return %r : tensor<4x4xf32>
  }
}
