// Values that regions pass on have one layout, outside and inside.
// RUN: weft-opt --weft-propagate-layouts --weft-verify-layouts --split-input-file %s | FileCheck %s

#mesh = #weft.mesh<"data"=2, "model"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // The value of an annotated argument is sharded in the body and behind the
  // loop; the weight is not gathered each time.
  // #layout is rows over data, #layout1 whole.
  // CHECK-LABEL: func.func @into
  // CHECK-NOT: weft.reshard
  // CHECK: weft.for 3({{.*}}) : (tensor<8x4xf32, #layout>, tensor<4x4xf32, #layout1>)
  // CHECK-NOT: weft.reshard
  func.func @into(%x: tensor<8x4xf32> {weft.layout = #rows}, %w: tensor<4x4xf32>) -> tensor<8x4xf32> {
    %r:2 = weft.for 3 (%x, %w) : (tensor<8x4xf32>, tensor<4x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<8x4xf32>, %u: tensor<4x4xf32>):
      %0 = weft.dot %v, %u contract [1] x [0] : tensor<8x4xf32>, tensor<4x4xf32> -> tensor<8x4xf32>
      %1 = weft.relu %0 : tensor<8x4xf32>
      weft.yield %1, %u : tensor<8x4xf32>, tensor<4x4xf32>
    }
    return %r#0 : tensor<8x4xf32>
  }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // A constraint in one branch lays out the other, the operand and the result;
  // the predicate is a sum, reduced in front of the branch.
  // CHECK-LABEL: func.func @out_of
  // CHECK: weft.reshard {{.*}} -> tensor<f32, #layout1>
  // CHECK: weft.case %{{.*}}(%{{.*}}) : tensor<i1, #layout1>, (tensor<8x4xf32, #layout>) -> tensor<8x4xf32, #layout>
  // CHECK-NOT: weft.reshard
  func.func @out_of(%x: tensor<8x4xf32> {weft.layout = #rows}, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %zero = weft.constant dense<0.0> : tensor<f32>
    %s = weft.reduce sum %x dims [0, 1] : tensor<8x4xf32> -> tensor<f32>
    %p = weft.compare gt %s, %zero : tensor<f32>, tensor<f32> -> tensor<i1>
    %z = weft.neg %y : tensor<8x4xf32>
    %r = weft.case %p(%z) : tensor<i1>, (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%v: tensor<8x4xf32>):
      %0 = weft.constrain %v to #rows reason "test" : tensor<8x4xf32> -> tensor<8x4xf32>
      weft.yield %0 : tensor<8x4xf32>
    }, {
    ^bb0(%v: tensor<8x4xf32>):
      %0 = weft.exp %v : tensor<8x4xf32>
      weft.yield %0 : tensor<8x4xf32>
    }
    return %r : tensor<8x4xf32>
  }
}
