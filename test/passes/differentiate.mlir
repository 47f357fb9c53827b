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

// What the loss does not depend on has gradient zero.
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

func.func private @remainder(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{'weft.rem' op has no derivative, and the loss depends on it; attach DifferentiableOpInterface to it}}
  %0 = weft.rem %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
func.func @no_derivative(%x: tensor<f32>) -> tensor<f32> {
  %v, %g = weft.value_and_grad @remainder(%x) wrt [0]
    : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %g : tensor<f32>
}

// -----

func.func private @prod(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{'weft.reduce' op no derivative of a prod reduction; sum, max and min have one}}
  %0 = weft.reduce prod %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @no_prod(%x: tensor<4xf32>) -> tensor<4xf32> {
  %v, %g = weft.value_and_grad @prod(%x) wrt [0]
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
