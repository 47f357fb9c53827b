// RUN: weft-opt --weft-widen-short-sums %s | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[SUM:.*]] = weft.reduce sum %arg0 dims [0] : tensor<4096xbf16> -> tensor<f32>
// CHECK-NEXT: weft.convert %[[SUM]] : tensor<f32> -> tensor<bf16>
func.func @sum(%x: tensor<4096xbf16>) -> tensor<bf16> {
  %0 = weft.reduce sum %x dims [0] : tensor<4096xbf16> -> tensor<bf16>
  return %0 : tensor<bf16>
}

// A largest element is not rounded; f32 stays as it is.
// CHECK-LABEL: func.func @others
// CHECK-NOT: weft.convert
func.func @others(%x: tensor<8x8xf16>, %y: tensor<8x8xf32>) -> (tensor<8xf16>, tensor<8x8xf32>) {
  %0 = weft.reduce max %x dims [0] : tensor<8x8xf16> -> tensor<8xf16>
  %1 = weft.dot %y, %y contract [1] x [0] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %0, %1 : tensor<8xf16>, tensor<8x8xf32>
}

// Neither factor is stored in f32.
// CHECK-LABEL: func.func @square
// CHECK-NEXT: %[[DOT:.*]] = weft.dot %arg0, %arg0 contract [1] x [0] precision high : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf32>
// CHECK-NEXT: weft.convert %[[DOT]] : tensor<8x8xf32> -> tensor<8x8xf16>
func.func @square(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = weft.dot %x, %x contract [1] x [0] precision high : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}

// A weight is read as it is where the program converts it first.
// CHECK-LABEL: func.func @gradient
// CHECK-NEXT: weft.dot %arg0, %arg1 contract [1] x [1] : tensor<4x8xf32>, tensor<6x8xbf16> -> tensor<4x6xf32>
// CHECK-NEXT: return
func.func @gradient(%dy: tensor<4x8xf32>, %w: tensor<6x8xbf16>) -> tensor<4x6xf32> {
  %0 = weft.convert %w : tensor<6x8xbf16> -> tensor<6x8xf32>
  %1 = weft.dot %dy, %0 contract [1] x [1] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// Operands are read behind a convert that rounds, or one of integers to floats.
// CHECK-LABEL: func.func @rounded
// CHECK: %[[X:.*]] = weft.convert %arg0 : tensor<8x8xf32> -> tensor<8x8xbf16>
// CHECK: %[[Y:.*]] = weft.convert %arg1 : tensor<8x8xi8> -> tensor<8x8xf32>
// CHECK: weft.dot %[[X]], %[[Y]]
func.func @rounded(%x: tensor<8x8xf32>, %y: tensor<8x8xi8>) -> tensor<8x8xf32> {
  %0 = weft.convert %x : tensor<8x8xf32> -> tensor<8x8xbf16>
  %1 = weft.convert %y : tensor<8x8xi8> -> tensor<8x8xf32>
  %2 = weft.dot %0, %1 contract [1] x [0] : tensor<8x8xbf16>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
