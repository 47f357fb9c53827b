// RUN: weft-opt %s --weft-form-moves --canonicalize --split-input-file | FileCheck %s

#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @turned
  // CHECK-NEXT: weft.move %arg0 boxes <[0:4, 0:3] of 0 at [d0, d1 + 5], [0:4, 3:5] of 0 at [d0, d1]>
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>):
  // CHECK-NEXT: weft.slice %[[X]] from [0, 5]
  // CHECK-NEXT: weft.slice %[[X]] from [0, 0]
  // CHECK-NEXT: weft.concatenate
  // CHECK-NEXT: weft.yield
  func.func @turned(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %a = weft.slice %x from [0, 5] to [4, 8] by [1, 1] : tensor<4x8xf32> -> tensor<4x3xf32>
    %b = weft.slice %x from [0, 0] to [4, 5] by [1, 1] : tensor<4x8xf32> -> tensor<4x5xf32>
    %r = weft.concatenate %a, %b dim 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }

  // Turned by 4 of 8 twice.
  // CHECK-LABEL: @back
  // CHECK-NEXT: return %{{.*}} : tensor<8xf32>
  func.func @back(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %x from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %c = weft.slice %r from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %d = weft.slice %r from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %s = weft.concatenate %c, %d dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }

  // The left neighbours, of a periodic border of one element.
  // CHECK-LABEL: @neighbours
  // CHECK-NEXT: weft.move %arg0 boxes <[0:1] of 0 at [d0 + 7], [1:7] of 0 at [d0]>
  func.func @neighbours(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [7] to [8] by [1] : tensor<8xf32> -> tensor<1xf32>
    %b = weft.slice %x from [0] to [1] by [1] : tensor<8xf32> -> tensor<1xf32>
    %r = weft.concatenate %a, %x, %b dim 0 : (tensor<1xf32>, tensor<8xf32>, tensor<1xf32>) -> tensor<10xf32>
    %s = weft.slice %r from [0] to [8] by [1] : tensor<10xf32> -> tensor<8xf32>
    return %s : tensor<8xf32>
  }

  // A slice of one operand is a slice of that.
  // CHECK-LABEL: @one
  // CHECK-NEXT: weft.slice %arg1 from [1] to [3]
  // CHECK-NEXT: return
  func.func @one(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<2xf32> {
    %r = weft.concatenate %x, %y dim 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %s = weft.slice %r from [9] to [11] by [1] : tensor<16xf32> -> tensor<2xf32>
    return %s : tensor<2xf32>
  }

  // Two operands, every second element in opposite order, and a border that a scalar fills.
  // CHECK-LABEL: @several
  // CHECK: weft.move %arg0, %arg1, %{{.*}} boxes
  // CHECK-SAME: [1:4] of 0 at [d0 * -2 + 7]
  // CHECK-SAME: [5:4] of 1 at [d0 + 4]
  // CHECK-SAME: [0:2:9] of 2 at []
  func.func @several(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<10xf32> {
    %one = weft.constant dense<1.0> : tensor<f32>
    %t = weft.reverse %x dims [0] : tensor<8xf32>
    %a = weft.slice %t from [0] to [8] by [2] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %y from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %p = weft.pad %r with %one low [1] high [1] interior [0] : tensor<8xf32>, tensor<f32> -> tensor<10xf32>
    return %p : tensor<10xf32>
  }

  // A block with a constant start, moved inside.
  // CHECK-LABEL: @update
  // CHECK: weft.move
  // CHECK-SAME: [5:3] of 0 at [d0 + 1]
  // CHECK-SAME: [0:5] of 0 at [d0]
  func.func @update(%x: tensor<8xf32>) -> tensor<8xf32> {
    %i = weft.constant dense<7> : tensor<i32>
    %a = weft.slice %x from [1] to [4] by [1] : tensor<8xf32> -> tensor<3xf32>
    %u = weft.dynamic_update_slice %x, %a at (%i) : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
    return %u : tensor<8xf32>
  }

  // A half that two ops read is moved once: they do not read the whole instead.
  // CHECK-LABEL: @shared
  // CHECK: %[[HALF:.*]] = weft.slice %arg0 from [0] to [4]
  // CHECK: weft.slice %[[HALF]] from [1] to [4]
  // CHECK: weft.slice %[[HALF]] from [0] to [3]
  func.func @shared(%x: tensor<8xf32>) -> tensor<3xf32> {
    %h = weft.slice %x from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %a = weft.slice %h from [1] to [4] by [1] : tensor<4xf32> -> tensor<3xf32>
    %b = weft.slice %h from [0] to [3] by [1] : tensor<4xf32> -> tensor<3xf32>
    %d = weft.sub %a, %b : tensor<3xf32>
    return %d : tensor<3xf32>
  }

  // Of two arrays one is read, twice; the other one is none of the operands.
  // CHECK-LABEL: @unread
  // CHECK: weft.move %arg0 boxes <[0:2] of 0 at [d0 + 6], [2:4] of 0 at [d0]> : (tensor<8xf32>) -> tensor<6xf32>
  func.func @unread(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<6xf32> {
    %0 = weft.concatenate %x, %y dim 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %1 = weft.slice %0 from [6] to [8] by [1] : tensor<16xf32> -> tensor<2xf32>
    %2 = weft.slice %0 from [0] to [4] by [1] : tensor<16xf32> -> tensor<4xf32>
    %3 = weft.concatenate %1, %2 dim 0 : (tensor<2xf32>, tensor<4xf32>) -> tensor<6xf32>
    return %3 : tensor<6xf32>
  }

  // Starts that are known when the program runs end a chain, and so does a value that an op computes with.
  // CHECK-LABEL: @other
  // CHECK-NOT: weft.move
  func.func @other(%x: tensor<8xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<8xf32>) {
    %a = weft.dynamic_slice %x at (%i) : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
    %b = weft.reverse %a dims [0] : tensor<4xf32>
    %c = weft.reverse %x dims [0] : tensor<8xf32>
    %d = weft.slice %c from [1] to [5] by [1] : tensor<8xf32> -> tensor<4xf32>
    %e = weft.exp %c : tensor<8xf32>
    return %b, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<8xf32>
  }
}

// -----

// One device moves nothing.
#mesh = #weft.mesh<"d"=1>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @alone
  // CHECK: weft.concatenate
  func.func @alone(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %x from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
