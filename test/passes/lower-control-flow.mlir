// RUN: weft-opt --weft-lower-control-flow %s | FileCheck %s

// CHECK-LABEL: func.func @counted
// CHECK-DAG: %[[ZERO:.*]] = weft.constant dense<0> : tensor<i32>
// CHECK: weft.while(%[[ZERO]], %{{.*}}) times 10
// CHECK: weft.compare lt
// CHECK: weft.condition
// CHECK: } do {
// CHECK: weft.add %{{.*}}, %{{.*}} : tensor<i32>
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = weft.for 10 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %w = weft.add %v, %v : tensor<4xf32>
    weft.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// One comparison after the other; the last branch needs none.
// CHECK-LABEL: func.func @chosen
// CHECK: %[[FIRST:.*]] = weft.compare eq %arg0
// CHECK: weft.case %[[FIRST]](%{{.*}}, %arg1) : tensor<i1>
// CHECK: weft.exp
// CHECK: weft.compare eq
// CHECK: weft.case %{{.*}}(%{{.*}}) : tensor<i1>
// CHECK: weft.neg
// CHECK: weft.sin
// CHECK-NOT: weft.case
func.func @chosen(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = weft.case %i(%x) : tensor<i32>, (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %w = weft.exp %v : tensor<4xf32>
    weft.yield %w : tensor<4xf32>
  }, {
  ^bb0(%v: tensor<4xf32>):
    %w = weft.neg %v : tensor<4xf32>
    weft.yield %w : tensor<4xf32>
  }, {
  ^bb0(%v: tensor<4xf32>):
    %w = weft.sin %v : tensor<4xf32>
    weft.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @only
// CHECK-NOT: weft.case
// CHECK-NOT: optimization_barrier
// CHECK: return
func.func @only(%i: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %b = weft.optimization_barrier %x : tensor<4xf32> -> tensor<4xf32>
  %y = weft.case %i(%b) : tensor<i32>, (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    weft.yield %v : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
