// RUN: weft-opt %s --weft-merge-moves --weft-verify-layouts | FileCheck %s
// RUN: weft-opt %s --weft-merge-moves --weft-partition --canonicalize | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"a"=2, "b"=4>
#blocks = #weft.layout<#mesh, [{"a"}, {"b"}]>
#rows = #weft.layout<#mesh, [{"a"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"b", "a"}]>
#columnsB = #weft.layout<#mesh, [{}, {"b"}]>
#columnsA = #weft.layout<#mesh, [{}, {"a"}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh} {
  // A row of which each device needs a part: one movement instead of two.
  // CHECK-LABEL: @row
  // CHECK-NEXT: %[[M:.*]] = weft.move %{{.*}} resharding boxes <[0:1, 0:62] of 0 at [d0 + 3, d1 + 1]> : (tensor<8x64xf32, #layout>) -> tensor<1x62xf32, #layout1> {
  // CHECK: weft.slice
  // CHECK-NOT: weft.reshard
  // CHECK: return %[[M]]
  // LOCAL-LABEL: @row
  // LOCAL-NEXT: coll.move %{{.*}} of [8, 64] to [1, 62] boxes <[0:1, 0:62] of 0 at [d0 + 3, d1 + 1]>
  // LOCAL-NEXT: return
  func.func @row(%x: tensor<8x64xf32, #blocks>) -> tensor<1x62xf32, #columnsA> {
    %a = weft.slice %x from [0, 1] to [8, 63] by [1, 1] : tensor<8x64xf32, #blocks> -> tensor<8x62xf32, #blocks>
    %b = weft.slice %a from [3, 0] to [4, 62] by [1, 1] : tensor<8x62xf32, #blocks> -> tensor<1x62xf32, #blocks>
    %r = weft.reshard %b : tensor<1x62xf32, #blocks> -> tensor<1x62xf32, #columnsA>
    return %r : tensor<1x62xf32, #columnsA>
  }

  // A slice behind a movement takes half of it.
  // CHECK-LABEL: @half
  // CHECK: weft.move %{{.*}} resharding boxes <[0:4, 0:64] of 0 at [d0, d1]>
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @half(%x: tensor<8x64xf32, #columns>) -> tensor<4x64xf32, #blocks> {
    %m = weft.reshard %x : tensor<8x64xf32, #columns> -> tensor<8x64xf32, #blocks>
    %r = weft.slice %m from [0, 0] to [4, 64] by [1, 1] : tensor<8x64xf32, #blocks> -> tensor<4x64xf32, #blocks>
    return %r : tensor<4x64xf32, #blocks>
  }

  // Two rows become one, and each is reversed: the digits 3, 2 and 4 of both shapes, of which the second one is in boxes.
  // CHECK-LABEL: @digits
  // CHECK: weft.move %{{.*}} resharding boxes <[0:3, 0:4] of 0 at [d0 * 2, d1 * -1 + 3], [0:3, 4:4] of 0 at [d0 * 2 + 1, d1 * -1 + 3]>
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @digits(%x: tensor<6x4xf32, #columnsB>) -> tensor<3x8xf32, #columnsB> {
    %a = weft.reverse %x dims [1] : tensor<6x4xf32, #columnsB>
    %w = weft.reshard %a : tensor<6x4xf32, #columnsB> -> tensor<6x4xf32, #whole>
    %b = weft.reshape %w : tensor<6x4xf32, #whole> -> tensor<3x8xf32, #whole>
    %r = weft.reshard %b : tensor<3x8xf32, #whole> -> tensor<3x8xf32, #columnsB>
    return %r : tensor<3x8xf32, #columnsB>
  }

  // Several ops of one chain may read the value that it begins with.
  // CHECK-LABEL: @readTwice
  // CHECK: weft.move %arg0 resharding
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @readTwice(%x: tensor<8x64xf32, #blocks>) -> tensor<8x64xf32, #columns> {
    %w = weft.reshard %x : tensor<8x64xf32, #blocks> -> tensor<8x64xf32, #columnsB>
    %a = weft.slice %w from [4, 0] to [8, 64] by [1, 1] : tensor<8x64xf32, #columnsB> -> tensor<4x64xf32, #columnsB>
    %b = weft.slice %w from [0, 0] to [4, 64] by [1, 1] : tensor<8x64xf32, #columnsB> -> tensor<4x64xf32, #columnsB>
    %c = weft.concatenate %a, %b dim 0 : (tensor<4x64xf32, #columnsB>, tensor<4x64xf32, #columnsB>) -> tensor<8x64xf32, #columnsB>
    %r = weft.reshard %c : tensor<8x64xf32, #columnsB> -> tensor<8x64xf32, #columns>
    return %r : tensor<8x64xf32, #columns>
  }

  // Movements of both operands are parts of one, which sends what both lack.
  // CHECK-LABEL: @both
  // CHECK-NEXT: weft.move %{{.*}}, %{{.*}} resharding boxes <[0:8, 0:64] of 0 at [d0, d1], [8:8, 0:64] of 1 at [d0, d1]> : (tensor<8x64xf32, #layout>, tensor<8x64xf32, #layout>)
  // CHECK-NOT: weft.reshard
  // CHECK: return
  // LOCAL-LABEL: @both
  // LOCAL-NEXT: coll.move %{{.*}}, %{{.*}} of [8, 64] and [#weft.source<[8, 64] in #{{.*}}>] to [16, 64]
  // LOCAL-NEXT: return
  func.func @both(%x: tensor<8x64xf32, #blocks>, %y: tensor<8x64xf32, #blocks>) -> tensor<16x64xf32, #columns> {
    %a = weft.reshard %x : tensor<8x64xf32, #blocks> -> tensor<8x64xf32, #columnsB>
    %b = weft.reshard %y : tensor<8x64xf32, #blocks> -> tensor<8x64xf32, #columnsB>
    %c = weft.concatenate %a, %b dim 0 : (tensor<8x64xf32, #columnsB>, tensor<8x64xf32, #columnsB>) -> tensor<16x64xf32, #columnsB>
    %r = weft.reshard %c : tensor<16x64xf32, #columnsB> -> tensor<16x64xf32, #columns>
    return %r : tensor<16x64xf32, #columns>
  }

  // Nothing is saved where nothing is cut, and where others read the value.
  // CHECK-LABEL: @stays
  // CHECK-NOT: weft.move
  // CHECK: return
  func.func @stays(%x: tensor<8x64xf32, #columns>, %y: tensor<8x64xf32, #columns>) -> (tensor<64x8xf32, #whole>, tensor<8x64xf32, #blocks>, tensor<4x64xf32, #blocks>) {
    %a = weft.reshard %x : tensor<8x64xf32, #columns> -> tensor<8x64xf32, #whole>
    %t = weft.transpose %a [1, 0] : tensor<8x64xf32, #whole> -> tensor<64x8xf32, #whole>
    %m = weft.reshard %y : tensor<8x64xf32, #columns> -> tensor<8x64xf32, #blocks>
    %r = weft.slice %m from [0, 0] to [4, 64] by [1, 1] : tensor<8x64xf32, #blocks> -> tensor<4x64xf32, #blocks>
    return %t, %m, %r : tensor<64x8xf32, #whole>, tensor<8x64xf32, #blocks>, tensor<4x64xf32, #blocks>
  }
}
