// RUN: weft-opt %s -split-input-file -weft-differentiate -verify-diagnostics | FileCheck %s
// RUN: weft-opt %s -split-input-file -weft-differentiate -verify-diagnostics -mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// The example of the pass's documentation.
func.func private @loss(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.mul %w, %x : tensor<4xf32> loc("scale")
  %1 = weft.reduce sum %0 dims [0] : tensor<4xf32> -> tensor<f32>
  return %1 : tensor<f32>
}
// LOC-DAG: [[SCALE:#loc[0-9]*]] = loc("scale")
// LOC-DAG: loc("gradient of"([[SCALE]]))
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:.*]]: tensor<4xf32>, %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[ONE:.*]] = weft.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[B:.*]] = weft.broadcast %[[ONE]] dims [] : tensor<f32> -> tensor<4xf32>
// CHECK-NEXT: %[[G:.*]] = weft.mul %[[B]], %[[X]] : tensor<4xf32>
// CHECK-NEXT: return %[[G]]
// CHECK-NOT: @loss
func.func @step(%w: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %loss, %g = weft.value_and_grad @loss(%w, %x) wrt [0]
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}

// -----

// One value for two arguments: each has its own gradient.
func.func private @product(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = weft.exp %b : tensor<f32>
  %1 = weft.mul %a, %0 : tensor<f32>
  return %1 : tensor<f32>
}
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:.*]]: tensor<f32>)
// CHECK: %[[E:.*]] = weft.exp %[[X]]
// CHECK: %[[DA:.*]] = weft.mul %{{.*}}, %[[E]]
// CHECK: %[[DE:.*]] = weft.mul %{{.*}}, %[[X]]
// CHECK: %[[DB:.*]] = weft.mul %[[DE]], %[[E]]
// CHECK: return %[[DA]], %[[DB]]
func.func @twice(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v, %g0, %g1 = weft.value_and_grad @product(%x, %x) wrt [0, 1]
    : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %g0, %g1 : tensor<f32>, tensor<f32>
}

// -----

// Calls are inlined through any depth, and gradients of several uses summed.
func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %0 = weft.mul %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @outer(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = call @square(%x) : (tensor<f32>) -> tensor<f32>
  return %0, %x : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[X:.*]]: tensor<f32>)
// CHECK: %[[V:.*]] = weft.mul %[[X]], %[[X]]
// CHECK: %[[L:.*]] = weft.mul %{{.*}}, %[[X]]
// CHECK: %[[R:.*]] = weft.mul %{{.*}}, %[[X]]
// CHECK: %[[G:.*]] = weft.add %[[L]], %[[R]]
// CHECK: %[[S:.*]] = weft.mul %[[G]], %[[G]]
// CHECK: return %[[V]], %[[S]]
func.func @nested(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %v, %aux, %g = weft.value_and_grad @outer(%x) wrt [0]
    : (tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  %s = call @square(%g) : (tensor<f32>) -> tensor<f32>
  return %v, %s : tensor<f32>, tensor<f32>
}

// -----

// Arguments that the loss does not depend on have gradient zero.
func.func private @other(%w: tensor<2xf32>, %x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
// CHECK-LABEL: func.func @zero(
// CHECK-NEXT: %[[Z:.*]] = weft.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: return %[[Z]]
func.func @zero(%w: tensor<2xf32>, %x: tensor<f32>) -> tensor<2xf32> {
  %v, %g = weft.value_and_grad @other(%w, %x) wrt [0]
    : (tensor<2xf32>, tensor<f32>) -> (tensor<f32>, tensor<2xf32>)
  return %g : tensor<2xf32>
}

// -----

func.func private @by_body(%x: tensor<4xf32>) -> tensor<f32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  // expected-error @below {{'weft.fold' op has no derivative, and the loss depends on it}}
  %0 = weft.fold %x from %one dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %p = weft.mul %l, %r : tensor<f32>
    weft.yield %p : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func @derivative_of_a_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @by_body(%x) wrt [0]
    : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}

// -----

func.func private @bits(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'weft.bitcast' op has no derivative, and the loss depends on it; attach DifferentiableOpInterface to it}}
  %0 = weft.bitcast %x : tensor<f32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @no_derivative(%x: tensor<f32>) -> tensor<f32> {
  %v, %g = weft.value_and_grad @bits(%x) wrt [0]
    : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g : tensor<f32>
}

// -----

func.func private @scatter_max(%x: tensor<4xf32>) -> tensor<f32> {
  %i = weft.iota dim 0 : tensor<4xi32>
  // expected-error @below {{'weft.scatter' op no derivative of a scatter with max; set and sum have one}}
  %r = weft.scatter max %x at %i with %x {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4xf32>, tensor<4xi32>, tensor<4xf32> -> tensor<4xf32>
  %s = weft.reduce sum %r dims [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @no_scatter_max(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @scatter_max(%x) wrt [0]
    : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}

// -----

func.func private @products(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'weft.reduce_window' op no derivative of windows of prod; sum has one, and max and min where nothing is dilated}}
  %r = weft.reduce_window prod %x {window = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<4xf32> -> tensor<2xf32>
  %s = weft.reduce sum %r dims [0] : tensor<2xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @no_products(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @products(%x) wrt [0]
    : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}

// -----

func.func private @second(%x: tensor<4xf32>) -> tensor<f32> {
  %s0 = weft.slice %x from [0] to [2] by [1] : tensor<4xf32> -> tensor<2xf32>
  // expected-error @below {{'weft.select_and_scatter' op has no derivative: the second derivative of a pooling}}
  %r = weft.select_and_scatter ge %x, %s0 {window = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>} : tensor<4xf32>, tensor<2xf32> -> tensor<4xf32>
  %s = weft.reduce sum %r dims [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @no_second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @second(%x) wrt [0]
    : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}

// -----

func.func private @forever(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op calls @forever from within itself; recursion cannot be inlined}}
  %0 = call @forever(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @recursion(%x: tensor<f32>) -> tensor<f32> {
  %0 = call @forever(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-note @below {{callee}}
func.func private @elsewhere(tensor<f32>) -> tensor<f32>
func.func @declaration(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'func.call' op calls @elsewhere, which has 0 blocks; a body of 1 can be inlined}}
  %0 = call @elsewhere(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// weft.stop_gradient is removed when derivatives are computed.
func.func private @centred(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.reduce max %x dims [0] : tensor<4xf32> -> tensor<f32>
  %1 = weft.stop_gradient %0 : tensor<f32>
  %2 = weft.broadcast %1 dims [] : tensor<f32> -> tensor<4xf32>
  %3 = weft.sub %x, %2 : tensor<4xf32>
  %4 = weft.mul %3, %3 : tensor<4xf32>
  %5 = weft.reduce sum %4 dims [0] : tensor<4xf32> -> tensor<f32>
  return %5 : tensor<f32>
}
// CHECK-LABEL: func.func @stopped(
// CHECK-NOT: weft.stop_gradient
// CHECK: %[[MAX:.*]] = weft.reduce max
// CHECK: weft.broadcast %[[MAX]]
func.func @stopped(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @centred(%x) wrt [0]
    : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %g : tensor<4xf32>
}
