// RUN: weft-opt --weft-widen-short-sums %s | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK: %[[WIDE:.*]] = weft.convert %arg0 : tensor<4096xbf16> -> tensor<4096xf32>
// CHECK: %[[SUM:.*]] = weft.reduce sum %[[WIDE]] dims [0] : tensor<4096xf32> -> tensor<f32>
// CHECK: weft.convert %[[SUM]] : tensor<f32> -> tensor<bf16>
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

// The square's factor is converted once.
// CHECK-LABEL: func.func @square
// CHECK: %[[WIDE:.*]] = weft.convert %arg0 : tensor<8x8xf16> -> tensor<8x8xf32>
// CHECK-NEXT: weft.dot %[[WIDE]], %[[WIDE]]
func.func @square(%x: tensor<8x8xf16>) -> tensor<8x8xf16> {
  %0 = weft.dot %x, %x contract [1] x [0] : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  return %0 : tensor<8x8xf16>
}
