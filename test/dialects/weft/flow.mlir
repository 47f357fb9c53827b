// Loops and branches print as they parse.
// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK-LABEL: func.func @all
// CHECK: weft.while(%{{.*}}) times 3 : (tensor<i32>) -> tensor<i32> {
// CHECK: weft.condition %{{.*}}(%{{.*}}) : tensor<i1>, tensor<i32>
// CHECK: } do {
// CHECK: weft.for 4(%{{.*}}, %{{.*}}) {saved = array<i64: 1>} : (tensor<i32>, tensor<4xi32>) -> (tensor<i32>, tensor<4xi32>) {
// CHECK: weft.checkpoint(%{{.*}}) : (tensor<i32>) -> tensor<i32> {
// CHECK: weft.optimization_barrier %{{.*}} : tensor<i32> -> tensor<i32>
func.func @all(%a: tensor<i32>, %s: tensor<4xi32>, %p: tensor<i1>) -> tensor<i32> {
  %w = weft.while(%a) times 3 : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>):
    %c = weft.compare lt %i, %i : tensor<i32>, tensor<i32> -> tensor<i1>
    weft.condition %c(%i) : tensor<i1>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    weft.yield %i : tensor<i32>
  }
  %f:2 = weft.for 4 (%w, %s) {saved = array<i64: 1>} : (tensor<i32>, tensor<4xi32>) -> (tensor<i32>, tensor<4xi32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<i32>, %t: tensor<4xi32>):
    weft.yield %i, %t : tensor<i32>, tensor<4xi32>
  }
  %c = weft.case %p(%f#0) : tensor<i1>, (tensor<i32>) -> tensor<i32> {
  ^bb0(%v: tensor<i32>):
    weft.yield %v : tensor<i32>
  }, {
  ^bb0(%v: tensor<i32>):
    weft.yield %v : tensor<i32>
  }
  %k = weft.checkpoint(%c) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%v: tensor<i32>):
    weft.yield %v : tensor<i32>
  }
  %b = weft.optimization_barrier %k : tensor<i32> -> tensor<i32>
  return %b : tensor<i32>
}
