// Values that no round changes are gathered once, in front of the loop.
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reshards --weft-merge-reshards --weft-verify-layouts --split-input-file %s | FileCheck %s
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reshards --weft-merge-reshards --weft-partition --split-input-file %s | FileCheck %s --check-prefix=COUNT

#mesh = #weft.mesh<"data"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @weights
  // CHECK: %[[W:.*]] = weft.reshard %arg1 {{.*}} : tensor<8x8xf32, #[[ROWS:.*]]> -> tensor<8x8xf32, #[[WHOLE:.*]]>
  // CHECK: weft.for 5(%arg0, %[[W]]) : (tensor<16x8xf32, #[[ROWS]]>, tensor<8x8xf32, #[[WHOLE]]>)
  // CHECK-NOT: weft.reshard
  // CHECK: return
  // COUNT-LABEL: func.func @weights
  // COUNT: coll.all_gather
  // COUNT: weft.for
  // COUNT-NOT: coll.all_gather
  // COUNT: return
  func.func @weights(%x: tensor<16x8xf32> {weft.layout = #rows}, %w: tensor<8x8xf32> {weft.layout = #rows}) -> tensor<16x8xf32> {
    %r:2 = weft.for 5 (%x, %w) : (tensor<16x8xf32>, tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<16x8xf32>, %u: tensor<8x8xf32>):
      %0 = weft.dot %v, %u contract [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
      %1 = weft.tanh %0 : tensor<16x8xf32>
      weft.yield %1, %u : tensor<16x8xf32>, tensor<8x8xf32>
    }
    return %r#0 : tensor<16x8xf32>
  }
}

// -----

#mesh = #weft.mesh<"data"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // The gather leaves both loops. The result, and uses of the shard, take slices.
  // CHECK-LABEL: func.func @nested
  // CHECK: %[[W:.*]] = weft.reshard %arg1
  // CHECK: weft.while(%{{.*}}, %arg0, %[[W]])
  // COUNT-LABEL: func.func @nested
  // COUNT: coll.all_gather
  // COUNT: weft.while
  // COUNT-NOT: coll.all_gather
  // COUNT: coll.slice
  // COUNT-NOT: coll.all_gather
  // COUNT: return
  func.func @nested(%x: tensor<16x8xf32> {weft.layout = #rows}, %w: tensor<8x8xf32> {weft.layout = #rows}) -> (tensor<16x8xf32>, tensor<8x8xf32> {weft.layout = #rows}) {
    %n = weft.constant dense<3> : tensor<i32>
    %r:3 = weft.while(%n, %x, %w) : (tensor<i32>, tensor<16x8xf32>, tensor<8x8xf32>) -> (tensor<i32>, tensor<16x8xf32>, tensor<8x8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<16x8xf32>, %u: tensor<8x8xf32>):
      %zero = weft.constant dense<0> : tensor<i32>
      %c = weft.compare gt %i, %zero : tensor<i32>, tensor<i32> -> tensor<i1>
      weft.condition %c(%i, %v, %u) : tensor<i1>, tensor<i32>, tensor<16x8xf32>, tensor<8x8xf32>
    } do {
    ^bb0(%i: tensor<i32>, %v: tensor<16x8xf32>, %u: tensor<8x8xf32>):
      %one = weft.constant dense<1> : tensor<i32>
      %j = weft.sub %i, %one : tensor<i32>
      %s:2 = weft.for 5 (%v, %u) : (tensor<16x8xf32>, tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
      ^bb0(%k: tensor<i32>, %a: tensor<16x8xf32>, %b: tensor<8x8xf32>):
        %0 = weft.dot %a, %b contract [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
        weft.yield %0, %b : tensor<16x8xf32>, tensor<8x8xf32>
      }
      weft.yield %j, %s#0, %u : tensor<i32>, tensor<16x8xf32>, tensor<8x8xf32>
    }
    return %r#1, %r#2 : tensor<16x8xf32>, tensor<8x8xf32>
  }
}

// -----

#mesh = #weft.mesh<"data"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // A weight that changes is gathered each round.
  // CHECK-LABEL: func.func @changing
  // CHECK-NOT: weft.reshard
  // CHECK: weft.for
  // CHECK: weft.reshard
  // CHECK: weft.yield
  func.func @changing(%x: tensor<16x8xf32> {weft.layout = #rows}, %w: tensor<8x8xf32> {weft.layout = #rows}) -> tensor<16x8xf32> {
    %r:2 = weft.for 5 (%x, %w) : (tensor<16x8xf32>, tensor<8x8xf32>) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<16x8xf32>, %u: tensor<8x8xf32>):
      %0 = weft.dot %v, %u contract [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
      %1 = weft.sin %u : tensor<8x8xf32>
      weft.yield %0, %1 : tensor<16x8xf32>, tensor<8x8xf32>
    }
    return %r#0 : tensor<16x8xf32>
  }
}
