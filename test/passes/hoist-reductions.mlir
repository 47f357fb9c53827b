// Gradients that are accumulated are reduced once.
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reductions --weft-merge-reshards --weft-verify-layouts --split-input-file %s | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{}, {"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // CHECK: #layout3 = #weft.layout<#mesh, [{}, {}], partial = sum{"data"}>
  // CHECK-LABEL: func.func @accumulate
  // CHECK: %[[LOOP:.*]]:4 = weft.for 5({{.*}}) : (tensor<4x3xf32, #layout3>
  // CHECK-NOT: weft.reshard
  // CHECK: weft.add {{.*}} : tensor<4x3xf32, #layout3>
  // CHECK: weft.yield
  // CHECK: weft.reshard %[[LOOP]]#0 {{.*}} : tensor<4x3xf32, #layout3> -> tensor<4x3xf32, #{{.*}}>
  // CHECK-NOT: weft.reshard
  func.func @accumulate(%x: tensor<5x8x4xf32> {weft.layout = #rows}, %d: tensor<5x8x3xf32> {weft.layout = #rows}) -> tensor<4x3xf32> {
    %zero = weft.constant dense<0.0> : tensor<4x3xf32>
    %origin = weft.constant dense<0> : tensor<i32>
    %r:4 = weft.for 5 (%zero, %x, %d, %origin) : (tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>) {
    ^bb0(%i: tensor<i32>, %sum: tensor<4x3xf32>, %xs: tensor<5x8x4xf32>, %ds: tensor<5x8x3xf32>, %o: tensor<i32>):
      %x1 = weft.dynamic_slice %xs at (%i, %o, %o) : (tensor<5x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
      %d1 = weft.dynamic_slice %ds at (%i, %o, %o) : (tensor<5x8x3xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x3xf32>
      %x2 = weft.reshape %x1 : tensor<1x8x4xf32> -> tensor<8x4xf32>
      %d2 = weft.reshape %d1 : tensor<1x8x3xf32> -> tensor<8x3xf32>
      %g = weft.dot %x2, %d2 contract [0] x [0] : tensor<8x4xf32>, tensor<8x3xf32> -> tensor<4x3xf32>
      %s = weft.add %sum, %g : tensor<4x3xf32>
      weft.yield %s, %xs, %ds, %o : tensor<4x3xf32>, tensor<5x8x4xf32>, tensor<5x8x3xf32>, tensor<i32>
    }
    return %r#0 : tensor<4x3xf32>
  }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // The body reads the sum itself: it is reduced each time.
  // CHECK-LABEL: func.func @read
  // CHECK: weft.for
  // CHECK: weft.reshard {{.*}}-> tensor<4xf32, #{{.*}}>
  // CHECK: weft.yield
  func.func @read(%x: tensor<8x4xf32> {weft.layout = #rows}) -> tensor<4xf32> {
    %zero = weft.constant dense<0.0> : tensor<4xf32>
    %r:2 = weft.for 5 (%zero, %x) : (tensor<4xf32>, tensor<8x4xf32>) -> (tensor<4xf32>, tensor<8x4xf32>) {
    ^bb0(%i: tensor<i32>, %sum: tensor<4xf32>, %v: tensor<8x4xf32>):
      %g = weft.reduce sum %v dims [0] : tensor<8x4xf32> -> tensor<4xf32>
      %s = weft.add %sum, %g : tensor<4xf32>
      %t = weft.tanh %sum : tensor<4xf32>
      %b = weft.broadcast %t dims [1] : tensor<4xf32> -> tensor<8x4xf32>
      %w = weft.add %v, %b : tensor<8x4xf32>
      weft.yield %s, %w : tensor<4xf32>, tensor<8x4xf32>
    }
    return %r#0 : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // A branch begins again with a constant, which one device keeps.
  // CHECK-LABEL: func.func @again
  // CHECK: weft.for
  // CHECK: weft.case
  // CHECK: weft.add {{.*}} : tensor<4xf32, #[[PARTIAL:.*]]>
  // CHECK: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<4xf32> -> tensor<4xf32, #[[WHOLE:.*]]>
  // CHECK: %[[KEPT:.*]] = weft.reshard %[[ONE]] {{.*}} -> tensor<4xf32, #[[PARTIAL]]>
  // CHECK: weft.yield %[[KEPT]]
  // CHECK: weft.reshard {{.*}} -> tensor<4xf32, #[[WHOLE]]>
  func.func @again(%p: tensor<i1>, %x: tensor<8x4xf32> {weft.layout = #rows}) -> tensor<4xf32> {
    %zero = weft.constant dense<0.0> : tensor<4xf32>
    %r:3 = weft.for 5 (%zero, %x, %p) : (tensor<4xf32>, tensor<8x4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<8x4xf32>, tensor<i1>) {
    ^bb0(%i: tensor<i32>, %sum: tensor<4xf32>, %v: tensor<8x4xf32>, %q: tensor<i1>):
      %s = weft.case %q(%sum, %v) : tensor<i1>, (tensor<4xf32>, tensor<8x4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<8x4xf32>):
        %g = weft.reduce sum %b dims [0] : tensor<8x4xf32> -> tensor<4xf32>
        %t = weft.add %a, %g : tensor<4xf32>
        weft.yield %t : tensor<4xf32>
      }, {
      ^bb0(%a: tensor<4xf32>, %b: tensor<8x4xf32>):
        %one = weft.constant dense<1.0> : tensor<4xf32>
        weft.yield %one : tensor<4xf32>
      }
      weft.yield %s, %v, %q : tensor<4xf32>, tensor<8x4xf32>, tensor<i1>
    }
    return %r#0 : tensor<4xf32>
  }
}
