// RUN: weft-opt %s --weft-form-moves --weft-propagate-layouts --weft-dissolve-moves --weft-verify-layouts | FileCheck %s
// RUN: weft-opt %s --weft-form-moves --weft-propagate-layouts --weft-dissolve-moves --weft-partition --canonicalize | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"d"}]>
#whole = #weft.layout<#mesh, [{}, {}]>
#one = #weft.layout<#mesh, [{"d"}]>
module attributes {weft.mesh = #mesh} {
  // Rows are sharded, elements move along columns: the ops are back, with layouts.
  // CHECK-LABEL: @columns
  // CHECK-NOT: weft.move
  // CHECK: weft.slice {{.*}} -> tensor<4x3xf32, #layout>
  // CHECK: weft.concatenate {{.*}} -> tensor<4x8xf32, #layout>
  // LOCAL-LABEL: @columns
  // LOCAL-NOT: coll.
  // LOCAL: return
  func.func @columns(%x: tensor<4x8xf32> {weft.layout = #rows}) -> tensor<4x8xf32> {
    %a = weft.slice %x from [0, 5] to [4, 8] by [1, 1] : tensor<4x8xf32> -> tensor<4x3xf32>
    %b = weft.slice %x from [0, 0] to [4, 5] by [1, 1] : tensor<4x8xf32> -> tensor<4x5xf32>
    %r = weft.concatenate %a, %b dim 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }

  // Along rows it is one movement, with the names of its ops as the reason.
  // CHECK-LABEL: @rows
  // CHECK: weft.move
  // LOCAL-LABEL: @rows
  // LOCAL-NEXT: coll.move %{{.*}} of [4, 8] to [4, 8] boxes <[0:1, 0:8] of 0 at [d0 + 3, d1], [1:3, 0:8] of 0 at [d0, d1]>
  // LOCAL-SAME: reason "weft.slice, weft.concatenate need other shards (moved at once)"
  // LOCAL-NEXT: return
  func.func @rows(%x: tensor<4x8xf32> {weft.layout = #rows}) -> (tensor<4x8xf32> {weft.layout = #rows}) {
    %a = weft.slice %x from [3, 0] to [4, 8] by [1, 1] : tensor<4x8xf32> -> tensor<1x8xf32>
    %b = weft.slice %x from [0, 0] to [3, 8] by [1, 1] : tensor<4x8xf32> -> tensor<3x8xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }

  // Constants of the region get the layouts of the others: a stack of rows.
  // CHECK-LABEL: @stack
  // CHECK-NOT: weft.move
  // CHECK: weft.dynamic_update_slice %[[ZERO:.*]], %{{.*}} -> tensor<2x8xf32, #[[SPLIT:.*]]>
  // CHECK: weft.dynamic_update_slice {{.*}} -> tensor<2x8xf32, #[[SPLIT]]>
  // LOCAL-LABEL: @stack
  // LOCAL-NOT: coll.
  // LOCAL: return %{{.*}} : tensor<2x4xf32>
  func.func @stack(%x: tensor<8xf32> {weft.layout = #one}, %y: tensor<8xf32> {weft.layout = #one}) -> tensor<2x8xf32> {
    %z = weft.constant dense<0.0> : tensor<2x8xf32>
    %i = weft.constant dense<0> : tensor<i32>
    %j = weft.constant dense<1> : tensor<i32>
    %a = weft.broadcast %x dims [1] : tensor<8xf32> -> tensor<1x8xf32>
    %b = weft.dynamic_update_slice %z, %a at (%i, %i) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    %c = weft.broadcast %y dims [1] : tensor<8xf32> -> tensor<1x8xf32>
    %d = weft.dynamic_update_slice %b, %c at (%j, %i) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    return %d : tensor<2x8xf32>
  }

  // Summands of a sum over columns stay summands in the stack.
  // CHECK-LABEL: @summands
  // CHECK-NOT: weft.move
  // CHECK: weft.dynamic_update_slice
  // CHECK: weft.reshard
  // CHECK: return
  // LOCAL-LABEL: @summands
  // LOCAL: coll.all_reduce sum %{{.*}} : tensor<2x8xf32>
  // LOCAL-NEXT: return
  func.func @summands(%x: tensor<8x4xf32> {weft.layout = #columns}, %y: tensor<8x4xf32> {weft.layout = #columns}) -> (tensor<2x8xf32> {weft.layout = #whole}) {
    %z = weft.constant dense<0.0> : tensor<2x8xf32>
    %i = weft.constant dense<0> : tensor<i32>
    %j = weft.constant dense<1> : tensor<i32>
    %s = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    %t = weft.reduce sum %y dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    %a = weft.broadcast %s dims [1] : tensor<8xf32> -> tensor<1x8xf32>
    %b = weft.dynamic_update_slice %z, %a at (%i, %i) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    %c = weft.broadcast %t dims [1] : tensor<8xf32> -> tensor<1x8xf32>
    %d = weft.dynamic_update_slice %b, %c at (%j, %i) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    return %d : tensor<2x8xf32>
  }
}
