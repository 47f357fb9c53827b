// Convolutions whose windows have one element, or cover the image, become contractions on targets with libraries.
// RUN: weft-opt %s --weft-contract-convolutions=target=cuda:sm_90a | FileCheck %s
// RUN: weft-opt %s --weft-contract-convolutions=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-NOT: weft.dot

// CHECK-LABEL: @pointwise
// CHECK: %0 = weft.reshape %arg1 : tensor<1x1x256x64xf32> -> tensor<256x64xf32>
// CHECK: %1 = weft.dot %arg0, %0 contract [3] x [0] : tensor<8x14x14x256xf32>, tensor<256x64xf32> -> tensor<8x14x14x64xf32>
// CHECK: return %1
func.func @pointwise(%x: tensor<8x14x14x256xf32>, %w: tensor<1x1x256x64xf32>) -> tensor<8x14x14x64xf32> {
  %0 = weft.convolution %x, %w {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xf32>, tensor<1x1x256x64xf32> -> tensor<8x14x14x64xf32>
  return %0 : tensor<8x14x14x64xf32>
}

// CHECK-LABEL: @steps
// CHECK: weft.slice %arg0 from [0, 0, 0, 0] to [8, 13, 13, 256] by [1, 2, 2, 1]
// CHECK: weft.dot {{.*}} precision highest : tensor<8x7x7x256xbf16>, tensor<256x64xbf16> -> tensor<8x7x7x64xf32>
func.func @steps(%x: tensor<8x14x14x256xbf16>, %w: tensor<1x1x256x64xbf16>) -> tensor<8x7x7x64xf32> {
  %0 = weft.convolution %x, %w precision highest {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 2, 2>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xbf16>, tensor<1x1x256x64xbf16> -> tensor<8x7x7x64xf32>
  return %0 : tensor<8x7x7x64xf32>
}

// The gradient of the strided one by its input has zeros between the product's positions.
// CHECK-LABEL: @input
// CHECK: %[[D:.*]] = weft.dot %arg0, %{{.*}} contract [3] x [1] : tensor<8x7x7x64xf32>, tensor<256x64xf32> -> tensor<8x7x7x256xf32>
// CHECK: weft.pad %[[D]] low [0, 0, 0, 0] high [0, 1, 1, 0] interior [0, 1, 1, 0] : tensor<8x7x7x256xf32> -> tensor<8x14x14x256xf32>
func.func @input(%g: tensor<8x7x7x64xf32>, %w: tensor<1x1x256x64xf32>) -> tensor<8x14x14x256xf32> {
  %0 = weft.convolution %g, %w {base_dilation = array<i64: 2, 2>, high = array<i64: 1, 1>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x7x7x64xf32>, tensor<1x1x256x64xf32> -> tensor<8x14x14x256xf32>
  return %0 : tensor<8x14x14x256xf32>
}

// The gradient by the kernel contracts the batch and the image.
// CHECK-LABEL: @kernel
// CHECK: %[[S:.*]] = weft.slice %arg0 from [0, 0, 0, 0] to [8, 13, 13, 256] by [1, 2, 2, 1]
// CHECK: %[[D:.*]] = weft.dot %[[S]], %arg1 contract [0, 1, 2] x [0, 1, 2] : tensor<8x7x7x256xf32>, tensor<8x7x7x64xf32> -> tensor<256x64xf32>
// CHECK: weft.reshape %[[D]] : tensor<256x64xf32> -> tensor<1x1x256x64xf32>
func.func @kernel(%x: tensor<8x14x14x256xf32>, %g: tensor<8x7x7x64xf32>) -> tensor<1x1x256x64xf32> {
  %0 = weft.convolution %x, %g {base_dilation = array<i64: 1, 1>, high = array<i64: -1, -1>, lhs_dims = array<i64: 3, 0, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 2, 3, 0, 1>, rhs_dims = array<i64: 3, 0, 1, 2>, strides = array<i64: 1, 1>, window_dilation = array<i64: 2, 2>} : tensor<8x14x14x256xf32>, tensor<8x7x7x64xf32> -> tensor<1x1x256x64xf32>
  return %0 : tensor<1x1x256x64xf32>
}

// Windows that overlap, groups, integers and channels first stay.
// CHECK-LABEL: @stay
// CHECK-NOT: weft.dot
// CHECK: return
func.func @stay(%x: tensor<8x14x14x256xf32>, %w: tensor<3x3x256x64xf32>, %v: tensor<1x1x128x64xf32>, %i: tensor<8x14x14x256xi32>, %j: tensor<1x1x256x64xi32>,
                %c: tensor<8x256x14x14xf32>, %k: tensor<64x256x1x1xf32>)
    -> (tensor<8x14x14x64xf32>, tensor<8x14x14x64xf32>, tensor<8x14x14x64xi32>, tensor<8x64x14x14xf32>) {
  %0 = weft.convolution %x, %w {base_dilation = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 1, 1>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xf32>, tensor<3x3x256x64xf32> -> tensor<8x14x14x64xf32>
  %1 = weft.convolution %x, %v {base_dilation = array<i64: 1, 1>, feature_groups = 2 : i64, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xf32>, tensor<1x1x128x64xf32> -> tensor<8x14x14x64xf32>
  %2 = weft.convolution %i, %j {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 3, 1, 2>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x14x14x256xi32>, tensor<1x1x256x64xi32> -> tensor<8x14x14x64xi32>
  %3 = weft.convolution %c, %k {base_dilation = array<i64: 1, 1>, high = array<i64: 0, 0>, lhs_dims = array<i64: 0, 1, 2, 3>, low = array<i64: 0, 0>, result_dims = array<i64: 0, 1, 2, 3>, rhs_dims = array<i64: 0, 1, 2, 3>, strides = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<8x256x14x14xf32>, tensor<64x256x1x1xf32> -> tensor<8x64x14x14xf32>
  return %0, %1, %2, %3 : tensor<8x14x14x64xf32>, tensor<8x14x14x64xf32>, tensor<8x14x14x64xi32>, tensor<8x64x14x14xf32>
}
