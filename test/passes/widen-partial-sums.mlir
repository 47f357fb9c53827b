// Partial sums of f16 are f32 until they are whole.
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reductions --weft-merge-reshards --weft-widen-partial-sums --weft-verify-layouts --split-input-file %s | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @sum
  // CHECK: %[[PART:.*]] = weft.reduce sum %arg0 dims [0] : tensor<4x8xf16, #{{.*}}> -> tensor<8xf32, #{{.*}}>
  // CHECK: %[[SUM:.*]] = weft.reshard %[[PART]] {{.*}} : tensor<8xf32, #{{.*}}> -> tensor<8xf32, #{{.*}}>
  // CHECK: %[[SHORT:.*]] = weft.convert %[[SUM]] : {{.*}} -> tensor<8xf16, #{{.*}}>
  // CHECK: return %[[SHORT]]
  func.func @sum(%x: tensor<4x8xf16> {weft.layout = #rows}) -> tensor<8xf16> {
    %0 = weft.reduce sum %x dims [0] : tensor<4x8xf16> -> tensor<8xf16>
    return %0 : tensor<8xf16>
  }
  // Reductions without a partial sum stay, and so do those of bf16.
  // CHECK-LABEL: func.func @others
  // CHECK-NOT: f32
  // CHECK: return
  func.func @others(%x: tensor<4x8xf16> {weft.layout = #rows}, %y: tensor<4x8xbf16> {weft.layout = #rows}) -> (tensor<4xf16>, tensor<8xf16>, tensor<8xbf16>) {
    %0 = weft.reduce sum %x dims [1] : tensor<4x8xf16> -> tensor<4xf16>
    %1 = weft.reduce max %x dims [0] : tensor<4x8xf16> -> tensor<8xf16>
    %2 = weft.reduce sum %y dims [0] : tensor<4x8xbf16> -> tensor<8xbf16>
    return %0, %1, %2 : tensor<4xf16>, tensor<8xf16>, tensor<8xbf16>
  }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{}, {"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // A loop carries the sum in f32, and it is rounded once, behind the loop.
  // CHECK-LABEL: func.func @accumulate
  // CHECK: %[[LOOP:.*]]:4 = weft.for 5({{.*}}) : (tensor<4x3xf32, #[[PARTIAL:layout[0-9]*]]>,
  // CHECK: weft.dot {{.*}} : tensor<8x4xf16, #{{.*}}>, tensor<8x3xf16, #{{.*}}> -> tensor<4x3xf32, #[[PARTIAL]]>
  // CHECK: weft.add {{.*}} : tensor<4x3xf32, #[[PARTIAL]]>
  // CHECK: weft.yield
  // CHECK: %[[SUM:.*]] = weft.reshard %[[LOOP]]#0 {{.*}} -> tensor<4x3xf32, #{{.*}}>
  // CHECK: weft.convert %[[SUM]] : {{.*}} -> tensor<4x3xf16, #{{.*}}>
  func.func @accumulate(%x: tensor<5x8x4xf16> {weft.layout = #rows}, %d: tensor<5x8x3xf16> {weft.layout = #rows}) -> tensor<4x3xf16> {
    %zero = weft.constant dense<0.0> : tensor<4x3xf16>
    %origin = weft.constant dense<0> : tensor<i32>
    %r:4 = weft.for 5 (%zero, %x, %d, %origin) : (tensor<4x3xf16>, tensor<5x8x4xf16>, tensor<5x8x3xf16>, tensor<i32>) -> (tensor<4x3xf16>, tensor<5x8x4xf16>, tensor<5x8x3xf16>, tensor<i32>) {
    ^bb0(%i: tensor<i32>, %sum: tensor<4x3xf16>, %xs: tensor<5x8x4xf16>, %ds: tensor<5x8x3xf16>, %o: tensor<i32>):
      %x1 = weft.dynamic_slice %xs at (%i, %o, %o) : (tensor<5x8x4xf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf16>
      %d1 = weft.dynamic_slice %ds at (%i, %o, %o) : (tensor<5x8x3xf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x3xf16>
      %x2 = weft.reshape %x1 : tensor<1x8x4xf16> -> tensor<8x4xf16>
      %d2 = weft.reshape %d1 : tensor<1x8x3xf16> -> tensor<8x3xf16>
      %g = weft.dot %x2, %d2 contract [0] x [0] : tensor<8x4xf16>, tensor<8x3xf16> -> tensor<4x3xf16>
      %s = weft.add %sum, %g : tensor<4x3xf16>
      weft.yield %s, %xs, %ds, %o : tensor<4x3xf16>, tensor<5x8x4xf16>, tensor<5x8x3xf16>, tensor<i32>
    }
    return %r#0 : tensor<4x3xf16>
  }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#parts = #weft.layout<#mesh, [{}], partial = sum{"data"}>
module attributes {weft.mesh = #mesh} {
  // A port states that its parts are f16, so the sum in front of it is.
  // CHECK-LABEL: func.func @port
  // CHECK-NOT: f32
  // CHECK: return
  func.func @port(%x: tensor<4x8xf16> {weft.layout = #rows}, %y: tensor<8xf16> {weft.layout = #parts}) -> (tensor<8xf16> {weft.layout = #parts}) {
    %0 = weft.reduce sum %x dims [0] : tensor<4x8xf16> -> tensor<8xf16>
    %1 = weft.add %0, %y : tensor<8xf16>
    return %1 : tensor<8xf16>
  }
}

// -----

// A move of summands moves f32, and so do the ops in its region.
#mesh = #weft.mesh<"data"=2, "model"=2>
#rows = #weft.layout<#mesh, [{"data"}, {"model"}]>
#columns = #weft.layout<#mesh, [{"model"}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @moved
  // CHECK: weft.reduce sum %arg0 dims [0] : {{.*}} -> tensor<8xf32, #[[PART:.*]]>
  // CHECK: weft.move {{.*}} : (tensor<8xf32, #[[PART]]>) -> tensor<4xf32, #{{.*}}> {
  // CHECK: ^bb0(%{{.*}}: tensor<8xf32>):
  // CHECK: weft.slice %{{.*}} : tensor<8xf32> -> tensor<2xf32>
  // CHECK: weft.constant dense<0.000000e+00> : tensor<2xf32>
  // CHECK: weft.concatenate {{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK: weft.convert {{.*}} -> tensor<4xf16
  func.func @moved(%x: tensor<4x8xf16> {weft.layout = #rows}) -> (tensor<4xf16> {weft.layout = #columns}) {
    %0 = weft.reduce sum %x dims [0] : tensor<4x8xf16> -> tensor<8xf16>
    %1 = weft.move %0 boxes <[0:2] of 0 at [d0 + 6]> : (tensor<8xf16>) -> tensor<4xf16> {
    ^bb0(%a: tensor<8xf16>):
      %b = weft.slice %a from [6] to [8] by [1] : tensor<8xf16> -> tensor<2xf16>
      %c = weft.constant dense<0.0> : tensor<2xf16>
      %d = weft.concatenate %b, %c dim 0 : (tensor<2xf16>, tensor<2xf16>) -> tensor<4xf16>
      weft.yield %d : tensor<4xf16>
    }
    return %1 : tensor<4xf16>
  }
}
