// Per-device code: its operands are brought to the layouts that it names, its
// layouts spread to the ops around it, and its region becomes part of each
// device's program.
// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-verify-stage=stage=sharded | FileCheck %s --check-prefix=SHARDED
// RUN: weft-opt %s --weft-propagate-layouts --weft-partition --weft-verify-stage=stage=partitioned | FileCheck %s

#mesh = #weft.mesh<"x"=2, "y"=2>
#xy = #weft.layout<#mesh, [{"x"}, {"y"}]>
#y = #weft.layout<#mesh, [{"y"}, {}]>
#x = #weft.layout<#mesh, [{"x"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh} {
  // SHARDED-LABEL: @main
  // SHARDED-SAME: %[[A:.*]]: tensor<8x6xf32, #[[XY:[a-z0-9]+]]>, %[[W:.*]]: tensor<6x4xf32, #[[WHOLE:.*]]>
  // SHARDED: weft.tanh %[[A]] : tensor<8x6xf32, #[[XY]]>
  // SHARDED: weft.reshard %[[W]] reason
  // SHARDED: weft.manual
  // SHARDED: ^bb0(%{{.*}}: tensor<4x3xf32>, %{{.*}}: tensor<3x4xf32>)
  // CHECK-LABEL: @main
  // CHECK-SAME: %[[A:.*]]: tensor<4x3xf32> {{.*}}, %[[W:.*]]: tensor<6x4xf32>
  // CHECK: %[[B:.*]] = weft.tanh %[[A]] : tensor<4x3xf32>
  // CHECK: %[[V:.*]] = coll.slice %[[W]] dim 0 over #mesh ["y"]
  // CHECK: %[[D:.*]] = weft.dot %[[B]], %[[V]]
  // CHECK: %[[S:.*]] = coll.all_reduce sum %[[D]] over #mesh ["y"] : tensor<4x4xf32>
  // CHECK: weft.tanh %[[S]] : tensor<4x4xf32>
  // CHECK-NOT: weft.manual
  func.func @main(%a: tensor<8x6xf32>, %w: tensor<6x4xf32> {weft.layout = #whole}) -> tensor<8x4xf32> {
    %b = weft.tanh %a : tensor<8x6xf32>
    %y = weft.manual(%b, %w) from [#xy, #y] to [#x] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%p: tensor<4x3xf32>, %q: tensor<3x4xf32>):
      %d = weft.dot %p, %q contract [1] x [0] : tensor<4x3xf32>, tensor<3x4xf32> -> tensor<4x4xf32>
      %s = coll.all_reduce sum %d over #mesh ["y"] : tensor<4x4xf32>
      weft.yield %s : tensor<4x4xf32>
    }
    %z = weft.tanh %y : tensor<8x4xf32>
    return %z : tensor<8x4xf32>
  }

  // Per-device code in a loop, and with a loop inside.
  // CHECK-LABEL: @loops
  // CHECK: weft.for 3
  // CHECK: weft.for 2
  // CHECK: coll.collective_permute {{.*}} sources [1, 0] over #mesh ["x"]
  func.func @loops(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %r = weft.for 3(%a) : (tensor<8x6xf32>) -> tensor<8x6xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<8x6xf32>):
      %y = weft.manual(%v) from [#x] to [#x] : (tensor<8x6xf32>) -> tensor<8x6xf32> {
      ^bb0(%p: tensor<4x6xf32>):
        %q = weft.for 2(%p) : (tensor<4x6xf32>) -> tensor<4x6xf32> {
        ^bb0(%j: tensor<i32>, %u: tensor<4x6xf32>):
          %t = coll.collective_permute %u sources [1, 0] over #mesh ["x"] : tensor<4x6xf32> -> tensor<4x6xf32>
          weft.yield %t : tensor<4x6xf32>
        }
        weft.yield %q : tensor<4x6xf32>
      }
      weft.yield %y : tensor<8x6xf32>
    }
    return %r : tensor<8x6xf32>
  }
}
