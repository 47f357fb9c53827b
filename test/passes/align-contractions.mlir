// Large products of short floats get rows that begin at multiples of 16 bytes, on targets that have libraries.
// RUN: weft-opt %s --weft-align-contractions=target=cuda:sm_90a | FileCheck %s
// RUN: weft-opt %s --weft-align-contractions=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-NOT: weft.pad

// Columns of the result: of a factor that a transpose views, the rows in memory are padded.
// CHECK-LABEL: @logits
// CHECK: %[[W:.*]] = weft.pad %arg1 low [0, 0] high [7, 0] interior [0, 0] : tensor<50257x768xbf16> -> tensor<50264x768xbf16>
// CHECK: %[[T:.*]] = weft.transpose %[[W]] [1, 0]
// CHECK: %[[L:.*]] = weft.dot %arg0, %[[T]] contract [2] x [0] : tensor<16x1024x768xbf16>, tensor<768x50264xbf16> -> tensor<16x1024x50264xbf16>
// CHECK: %[[S:.*]] = weft.slice %[[L]] from [0, 0, 0] to [16, 1024, 50257] by [1, 1, 1]
// The gradients contract the padded dimension, or have it as rows; the factors are padded once.
// CHECK: %[[G:.*]] = weft.neg %[[S]]
// CHECK: %[[P:.*]] = weft.pad %[[G]] low [0, 0, 0] high [0, 0, 7]
// CHECK: weft.dot %[[P]], %[[T]] contract [2] x [1] : tensor<16x1024x50264xbf16>, tensor<768x50264xbf16> -> tensor<16x1024x768xf32>
// CHECK: %[[D:.*]] = weft.dot %[[P]], %arg0 contract [0, 1] x [0, 1]
// CHECK: weft.slice %[[D]] from [0, 0] to [50257, 768] by [1, 1] : tensor<50264x768xbf16> -> tensor<50257x768xbf16>
func.func @logits(%x: tensor<16x1024x768xbf16>, %w: tensor<50257x768xbf16>) -> (tensor<16x1024x768xf32>, tensor<50257x768xbf16>) {
  %0 = weft.transpose %w [1, 0] : tensor<50257x768xbf16> -> tensor<768x50257xbf16>
  %1 = weft.dot %x, %0 contract [2] x [0] : tensor<16x1024x768xbf16>, tensor<768x50257xbf16> -> tensor<16x1024x50257xbf16>
  %2 = weft.neg %1 : tensor<16x1024x50257xbf16>
  %3 = weft.dot %2, %0 contract [2] x [1] : tensor<16x1024x50257xbf16>, tensor<768x50257xbf16> -> tensor<16x1024x768xf32>
  %4 = weft.dot %2, %x contract [0, 1] x [0, 1] : tensor<16x1024x50257xbf16>, tensor<16x1024x768xbf16> -> tensor<50257x768xbf16>
  return %3, %4 : tensor<16x1024x768xf32>, tensor<50257x768xbf16>
}

// CHECK-LABEL: @columns
// CHECK: %[[W:.*]] = weft.pad %arg1 low [0, 0] high [0, 7] interior [0, 0] : tensor<768x50257xbf16> -> tensor<768x50264xbf16>
// CHECK: %[[L:.*]] = weft.dot %arg0, %[[W]]
// CHECK: weft.slice %[[L]] from [0, 0] to [4096, 50257] by [1, 1] : tensor<4096x50264xbf16> -> tensor<4096x50257xbf16>
func.func @columns(%x: tensor<4096x768xbf16>, %w: tensor<768x50257xbf16>) -> tensor<4096x50257xbf16> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<4096x768xbf16>, tensor<768x50257xbf16> -> tensor<4096x50257xbf16>
  return %0 : tensor<4096x50257xbf16>
}

// Rows of even length stay, as do f32, small products, and factors that are read a few times only.
// CHECK-LABEL: @stay
// CHECK-NOT: weft.pad
// CHECK: return
func.func @stay(%a: tensor<4096x768xbf16>, %b: tensor<768x50264xbf16>, %c: tensor<4096x768xf32>, %d: tensor<768x50257xf32>, %e: tensor<64x77xbf16>,
                %f: tensor<77x33xbf16>, %g: tensor<16x65537xbf16>, %h: tensor<65537x1024xbf16>)
    -> (tensor<4096x50264xbf16>, tensor<4096x50257xf32>, tensor<64x33xbf16>, tensor<16x1024xbf16>) {
  %0 = weft.dot %a, %b contract [1] x [0] : tensor<4096x768xbf16>, tensor<768x50264xbf16> -> tensor<4096x50264xbf16>
  %1 = weft.dot %c, %d contract [1] x [0] : tensor<4096x768xf32>, tensor<768x50257xf32> -> tensor<4096x50257xf32>
  %2 = weft.dot %e, %f contract [1] x [0] : tensor<64x77xbf16>, tensor<77x33xbf16> -> tensor<64x33xbf16>
  %3 = weft.dot %g, %h contract [1] x [0] : tensor<16x65537xbf16>, tensor<65537x1024xbf16> -> tensor<16x1024xbf16>
  return %0, %1, %2, %3 : tensor<4096x50264xbf16>, tensor<4096x50257xf32>, tensor<64x33xbf16>, tensor<16x1024xbf16>
}
