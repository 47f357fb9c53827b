// Where a library computes contractions, a kernel stores an operand that no call can address, if that takes less time than
// generated code.
// RUN: weft-opt %s --weft-outline-kernels=target=cuda:sm_80 --weft-choose-libraries=target=cuda:sm_80 | FileCheck %s
// Without libraries the operands are read where they are.
// RUN: weft-opt %s --weft-outline-kernels=target=cpu:avx2 | FileCheck %s --check-prefix=CPU

// The terms are no dimension of the transposed array. A kernel stores it in the order of the product, which a library then
// computes, and the forward product reads the same copy.
// CHECK: func.func @gradient(
// CHECK: %[[T:.*]] = call @elementwise_reshape_16x32x512
// CHECK: call @dot_16x32x512x512(%[[T]], %arg1)
// CHECK: call @dot_512x512x512(%arg2, %[[T]])
// CPU: call @dot_16x32x512x512
// CPU: call @dot_512x512x512
func.func @gradient(%x: tensor<16x8x64x32xf32>, %w: tensor<512x512xf32>, %g: tensor<16x32x512xf32>) -> (tensor<16x32x512xf32>, tensor<512x512xf32>) {
  %0 = weft.transpose %x [0, 3, 1, 2] : tensor<16x8x64x32xf32> -> tensor<16x32x8x64xf32>
  %1 = weft.reshape %0 : tensor<16x32x8x64xf32> -> tensor<16x32x512xf32>
  %2 = weft.dot %1, %w contract [2] x [0] : tensor<16x32x512xf32>, tensor<512x512xf32> -> tensor<16x32x512xf32>
  %3 = weft.dot %g, %1 contract [0, 1] x [0, 1] : tensor<16x32x512xf32>, tensor<16x32x512xf32> -> tensor<512x512xf32>
  return %2, %3 : tensor<16x32x512xf32>, tensor<512x512xf32>
}

// CHECK: func.func @small_gradient(
// So little that copies of both operands take longer than the product by generated code.
// CHECK: call @dot_64x64x64(%arg0, %arg1)
// CPU: call @dot_64x64x64(
func.func @small_gradient(%x: tensor<4x4x16x16xf32>, %g: tensor<4x16x64xf32>) -> tensor<64x64xf32> {
  %0 = weft.transpose %x [0, 3, 1, 2] : tensor<4x4x16x16xf32> -> tensor<4x16x4x16xf32>
  %1 = weft.reshape %0 : tensor<4x16x4x16xf32> -> tensor<4x16x64xf32>
  %2 = weft.dot %1, %g contract [0, 1] x [0, 1] : tensor<4x16x64xf32>, tensor<4x16x64xf32> -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// Heads and channels of no one stride: the operand is stored in the order of the product, though the program has no such op.
// CHECK: func.func @reordered(
// CHECK: %[[T:.*]] = call @elementwise_transpose_16x64x8x64(%arg0)
// CHECK: call @dot_16x64x512x512(%[[T]], %arg1)
// CHECK: func.func @in_order(
// CHECK-NEXT: call @dot_16x64x512x512_{{[0-9]+}}(%arg0, %arg1)
// CPU: call @dot_16x64x512x512(%arg0
func.func @reordered(%x: tensor<16x8x64x64xf32>, %w: tensor<8x64x512xf32>) -> tensor<16x64x512xf32> {
  %0 = weft.dot %x, %w contract [1, 3] x [0, 1] : tensor<16x8x64x64xf32>, tensor<8x64x512xf32> -> tensor<16x64x512xf32>
  return %0 : tensor<16x64x512xf32>
}
func.func @in_order(%x: tensor<16x64x8x64xf32>, %w: tensor<8x64x512xf32>) -> tensor<16x64x512xf32> {
  %0 = weft.dot %x, %w contract [2, 3] x [0, 1] : tensor<16x64x8x64xf32>, tensor<8x64x512xf32> -> tensor<16x64x512xf32>
  return %0 : tensor<16x64x512xf32>
}
// Whole numbers have no library: the contraction is as it was.
// CHECK: func.func @whole(
// CHECK-NEXT: call @dot_{{[^(]*}}(%arg0, %arg1)
// CPU: func.func @whole(
func.func @whole(%x: tensor<16x8x64x64xi32>, %w: tensor<8x64x512xi32>) -> tensor<16x64x512xi32> {
  %0 = weft.dot %x, %w contract [1, 3] x [0, 1] : tensor<16x8x64x64xi32>, tensor<8x64x512xi32> -> tensor<16x64x512xi32>
  return %0 : tensor<16x64x512xi32>
}
