// A jump says whether its condition is equal on all devices: processes whose
// devices may branch apart could not make the calls behind it in one order.
// RUN: weft-opt %s --split-input-file --weft-place-buffers | FileCheck %s

#mesh = #weft.mesh<"data"=8, "one"=1>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: plan.program @whole
  // CHECK: plan.jump_unless %{{.*}} "else 0" equal : memref<i1>
  func.func @whole(%i: tensor<i64>, %x: tensor<4xf32>) -> tensor<4xf32> {
    %p = call @less(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %r = weft.case %p(%x) : tensor<i1>, (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      %0 = func.call @double(%v) : (tensor<4xf32>) -> tensor<4xf32>
      weft.yield %0 : tensor<4xf32>
    }, {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
  func.func private @less(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i1> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.compare lt %a, %b : tensor<i64>, tensor<i64> -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @double(%a: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Each device asks for its own coordinate.
#mesh = #weft.mesh<"data"=8>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: plan.program @own
  // CHECK: plan.jump_unless %{{.*}} "end 1" : memref<i1>
  func.func @own(%x: tensor<4xf32>) -> tensor<4xf32> {
    %mine = call @coordinate() : () -> tensor<i64>
    %1:2 = weft.while(%mine, %x) : (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
    ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
      %more = func.call @less(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<i1>
      weft.condition %more (%i, %a) : tensor<i1>, tensor<i64>, tensor<4xf32>
    } do {
    ^bb0(%i: tensor<i64>, %a: tensor<4xf32>):
      weft.yield %i, %a : tensor<i64>, tensor<4xf32>
    }
    return %1#1 : tensor<4xf32>
  }
  func.func private @coordinate() -> tensor<i64> attributes {weft.kernel = #weft.kernel<general>} {
    %0 = coll.coordinate over #mesh ["data"] : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @less(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i1> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.compare lt %a, %b : tensor<i64>, tensor<i64> -> tensor<i1>
    return %0 : tensor<i1>
  }
}
