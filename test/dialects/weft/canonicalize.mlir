// RUN: weft-opt --canonicalize %s | FileCheck %s

#mesh = #weft.mesh<"data"=2>
#x = #weft.layout<#mesh, [{"data"}, {}]>

// CHECK-LABEL: @neutral
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]]
func.func @neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = weft.constant dense<0.0> : tensor<4xf32>
  %negative = weft.constant dense<-0.0> : tensor<4xf32>
  %one = weft.constant dense<1.0> : tensor<4xf32>
  %0 = weft.add %negative, %x : tensor<4xf32>
  %1 = weft.mul %one, %x : tensor<4xf32>
  %2 = weft.sub %x, %zero : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -0 + 0 is 0.
// CHECK-LABEL: @zero_changes_sign
// CHECK: weft.add
// CHECK: weft.sub
func.func @zero_changes_sign(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = weft.constant dense<0.0> : tensor<4xf32>
  %negative = weft.constant dense<-0.0> : tensor<4xf32>
  %0 = weft.add %x, %zero : tensor<4xf32>
  %1 = weft.sub %x, %negative : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @neutral_integers
// CHECK-SAME: %[[X:.*]]: tensor<4xi32>
// CHECK-NEXT: return %[[X]]
func.func @neutral_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  %zero = weft.constant dense<0> : tensor<4xi32>
  %0 = weft.add %x, %zero : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: @neutral_from_the_left
// CHECK: weft.sub
func.func @neutral_from_the_left(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = weft.constant dense<0.0> : tensor<4xf32>
  %0 = weft.sub %zero, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A fold never changes a layout.
// CHECK-LABEL: @layout_changes
// CHECK: weft.add
// CHECK: weft.transpose
// CHECK: weft.reshape
// CHECK: weft.reshape
func.func @layout_changes(%x: tensor<4x4xf32, #x>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = weft.constant dense<-0.0> : tensor<4x4xf32>
  %0 = weft.add %x, %zero : (tensor<4x4xf32, #x>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = weft.transpose %x [0, 1] : tensor<4x4xf32, #x> -> tensor<4x4xf32>
  %2 = weft.reshape %x : tensor<4x4xf32, #x> -> tensor<16xf32>
  %3 = weft.reshape %2 : tensor<16xf32> -> tensor<4x4xf32>
  return %0, %1, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @moves
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK-NEXT: %[[R:.*]] = weft.reshape %[[X]] : tensor<4x6xf32> -> tensor<24xf32>
// CHECK-NEXT: return %[[X]], %[[R]], %[[X]], %[[X]]
func.func @moves(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = weft.transpose %x [0, 1] : tensor<4x6xf32> -> tensor<4x6xf32>
  %1 = weft.reshape %x : tensor<4x6xf32> -> tensor<2x12xf32>
  %2 = weft.reshape %1 : tensor<2x12xf32> -> tensor<24xf32>
  %3 = weft.reshape %1 : tensor<2x12xf32> -> tensor<4x6xf32>
  %4 = weft.broadcast %x dims [0, 1] : tensor<4x6xf32> -> tensor<4x6xf32>
  return %0, %2, %3, %4 : tensor<4x6xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// CHECK-LABEL: @splats
// CHECK-DAG: weft.constant dense<2.000000e+00> : tensor<3x4xf32>
// CHECK-DAG: weft.constant dense<2.000000e+00> : tensor<12xf32>
// CHECK-NOT: weft.{{broadcast|transpose|reshape}}
func.func @splats() -> (tensor<3x4xf32>, tensor<12xf32>) {
  %0 = weft.constant dense<2.0> : tensor<f32>
  %1 = weft.broadcast %0 dims [] : tensor<f32> -> tensor<4x3xf32>
  %2 = weft.transpose %1 [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
  %3 = weft.reshape %1 : tensor<4x3xf32> -> tensor<12xf32>
  return %2, %3 : tensor<3x4xf32>, tensor<12xf32>
}
