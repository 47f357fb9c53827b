// Loops carry only values that are read, and work on parts of tensors.
// RUN: weft-opt --weft-trim-loops --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @unread
// CHECK: %[[R:.*]] = weft.for 4(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NOT: dynamic_update_slice
// CHECK: return %[[R]]
func.func @unread(%x: tensor<8xf32>, %stack: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<8xf32> {
  %r:3 = weft.for 4(%x, %stack, %w) : (tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<8xf32>, %s: tensor<4x8xf32>, %u: tensor<8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %row = weft.reshape %v : tensor<8xf32> -> tensor<1x8xf32>
    %next = weft.dynamic_update_slice %s, %row at (%i, %zero) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %t = weft.tanh %v : tensor<8xf32>
    weft.yield %t, %next, %u : tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>
  }
  return %r#0 : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @sum_of_parts
// CHECK: %[[OLD:.*]] = weft.dynamic_slice %[[SUM:.*]] at
// CHECK: %[[NEW:.*]] = weft.add %[[OLD]], {{.*}} : tensor<1x8xf32>
// CHECK: weft.dynamic_update_slice %[[SUM]], %[[NEW]] at
func.func @sum_of_parts(%x: tensor<1x8xf32>, %sum: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r:2 = weft.for 4(%x, %sum) : (tensor<1x8xf32>, tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<4x8xf32>) {
  ^bb0(%i: tensor<i32>, %u: tensor<1x8xf32>, %s: tensor<4x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %zeros = weft.constant dense<0.0> : tensor<4x8xf32>
    %part = weft.dynamic_update_slice %zeros, %u at (%i, %zero) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %next = weft.add %s, %part : tensor<4x8xf32>
    weft.yield %u, %next : tensor<1x8xf32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @read_once
// CHECK: weft.dynamic_slice
// CHECK-NOT: weft.dynamic_update_slice
// CHECK-LABEL: func.func @read_twice
// CHECK: weft.dynamic_update_slice
func.func @read_once(%x: tensor<1x8xf32>, %all: tensor<4x8xf32>) -> tensor<1x8xf32> {
  %r:2 = weft.for 4(%x, %all) : (tensor<1x8xf32>, tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<4x8xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<1x8xf32>, %s: tensor<4x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %zeros = weft.constant dense<0.0> : tensor<1x8xf32>
    %row = weft.dynamic_slice %s at (%i, %zero) : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %next = weft.dynamic_update_slice %s, %zeros at (%i, %zero) : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
    %sum = weft.add %v, %row : tensor<1x8xf32>
    weft.yield %sum, %next : tensor<1x8xf32>, tensor<4x8xf32>
  }
  return %r#0 : tensor<1x8xf32>
}
func.func @read_twice(%x: tensor<1x8xf32>, %all: tensor<2x8xf32>) -> tensor<1x8xf32> {
  %r:2 = weft.for 4(%x, %all) : (tensor<1x8xf32>, tensor<2x8xf32>) -> (tensor<1x8xf32>, tensor<2x8xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<1x8xf32>, %s: tensor<2x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %zeros = weft.constant dense<0.0> : tensor<1x8xf32>
    %row = weft.dynamic_slice %s at (%i, %zero) : (tensor<2x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %next = weft.dynamic_update_slice %s, %zeros at (%i, %zero) : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    %sum = weft.add %v, %row : tensor<1x8xf32>
    weft.yield %sum, %next : tensor<1x8xf32>, tensor<2x8xf32>
  }
  return %r#0 : tensor<1x8xf32>
}
