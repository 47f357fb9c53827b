// On GPUs a block of threads computes a tile of sums of products, whose operands are in shared memory: the model in
// TileChoice.cpp finds the fastest tile. Elementwise ops that follow are computed on the sums.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_80 | FileCheck %s
// RUN: sed -e '1i module attributes {nest.matmul_precision = "tf32"} {' -e '$a }' %s | weft-opt --weft-choose-nests=target=cuda:sm_80 | FileCheck %s --check-prefix=TF32
// RUN: sed -e '1i module attributes {nest.matmul_precision = "tf19"} {' -e '$a }' %s | not weft-opt 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: attribute 'nest.matmul_precision' is "tf19"; write "f32" or "tf32" on a module

// A weight of bf16 is not converted: tensor cores multiply it, copies take 16 bytes, the bias is added to the sums of f32.
func.func private @layer(%x: tensor<4096x1024xbf16>, %w: tensor<1024x4096xbf16>, %b: tensor<4096xf32>) -> tensor<4096x4096xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<4096x1024xbf16>, tensor<1024x4096xbf16> -> tensor<4096x4096xf32>
  %1 = weft.broadcast %b dims [1] : tensor<4096xf32> -> tensor<4096x4096xf32>
  %2 = weft.add %0, %1 : tensor<4096x4096xf32>
  %3 = weft.relu %2 : tensor<4096x4096xf32>
  %4 = weft.convert %3 : tensor<4096x4096xf32> -> tensor<4096x4096xbf16>
  return %4 : tensor<4096x4096xbf16>
}
// CHECK-LABEL: @layer
// CHECK: nest.loops #nest.tiles<half, block[128, 128, 32], warp[64, 32], stages = 2, lhs = <depth, 16>, rhs = <rows, 16>> to [#nest.place<result 0>]
// CHECK-NEXT: weft.dot
// CHECK: nest.store {{.*}} : tensor<4096x4096xbf16>
// TF32-LABEL: @layer
// TF32: #nest.tiles<half, block[128, 128, 32]

// f32 stays f32, unless tf32 is asked for. A transposed operand is copied along its contiguous dimension.
func.func private @gradient(%x: tensor<512x784xf32>, %g: tensor<512x2048xf32>) -> tensor<784x2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [1, 0] : tensor<512x784xf32> -> tensor<784x512xf32>
  %1 = weft.dot %0, %g contract [1] x [0] : tensor<784x512xf32>, tensor<512x2048xf32> -> tensor<784x2048xf32>
  return %1 : tensor<784x2048xf32>
}
// CHECK-LABEL: @gradient
// CHECK: #nest.tiles<fma, block[64, 128, 8], warp[32, 32], stages = 4, lhs = <rows, 16>, rhs = <rows, 16>>
// TF32-LABEL: @gradient
// TF32: #nest.tiles<tf32, block[{{.*}}, 16], warp[{{.*}}], stages = {{.}}, lhs = <rows, 16>, rhs = <rows, 16>>

// A contraction may state its own precision.
func.func private @asked(%x: tensor<512x784xf32>, %w: tensor<784x2048xf32>) -> tensor<512x2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] precision highest : tensor<512x784xf32>, tensor<784x2048xf32> -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}
// CHECK-LABEL: @asked
// CHECK: #nest.tiles<fma
// TF32-LABEL: @asked
// TF32: #nest.tiles<fma
func.func private @rounded(%x: tensor<512x784xf32>, %w: tensor<784x2048xf32>) -> tensor<512x2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] precision tf32 : tensor<512x784xf32>, tensor<784x2048xf32> -> tensor<512x2048xf32>
  return %0 : tensor<512x2048xf32>
}
// CHECK-LABEL: @rounded
// CHECK: #nest.tiles<tf32

// Rows of 785 elements begin at no multiple of 16 bytes; along the depth f32 comes four bytes at a time.
func.func private @ragged(%x: tensor<512x785xf32>, %w: tensor<785x200xf32>) -> tensor<512x200xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x785xf32>, tensor<785x200xf32> -> tensor<512x200xf32>
  return %0 : tensor<512x200xf32>
}
// CHECK-LABEL: @ragged
// CHECK: #nest.tiles<fma, {{.*}}, lhs = <depth, 4>, rhs = <rows, 16>, parts = 

// A factor that is computed is copied element by element, and so are two types that meet in f32.
func.func private @mixed(%x: tensor<512x784xbf16>, %w: tensor<784x200xf32>) -> tensor<512x200xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x784xbf16>, tensor<784x200xf32> -> tensor<512x200xf32>
  return %0 : tensor<512x200xf32>
}
// CHECK-LABEL: @mixed
// CHECK: #nest.tiles<fma, {{.*}}, lhs = <depth, 0>, rhs = <rows, 16>, parts = 

// A convolution is a product of a matrix whose rows are windows, which slide over the sample; its kernel is a matrix in memory.
func.func private @windows(%x: tensor<32x28x28x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<32x28x28x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x64xf32>, tensor<3x3x64x64xf32> -> tensor<32x28x28x64xf32>
  return %0 : tensor<32x28x28x64xf32>
}
// CHECK-LABEL: @windows
// CHECK: #nest.tiles<fma, {{.*}}, lhs = <depth, 4>, rhs = <rows, 16>>
// TF32-LABEL: @windows
// TF32: #nest.tiles<tf32, {{.*}}, lhs = <depth, 16>, rhs = <rows, 16>>

// Channels of a window are contiguous and copied, between the holes of a dilated sample, too, except where they are not multiples of four bytes (three of bf16).
func.func private @channels(%x: tensor<32x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<32x28x28x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x64xbf16>, tensor<3x3x64x64xbf16> -> tensor<32x28x28x64xf32>
  return %0 : tensor<32x28x28x64xf32>
}
// CHECK-LABEL: @channels
// CHECK: #nest.tiles<half, {{.*}}, lhs = <depth, 16>, rhs = <rows, 16>>
func.func private @three_channels(%x: tensor<32x28x28x3xbf16>, %w: tensor<3x3x3x64xbf16>) -> tensor<32x28x28x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x3xbf16>, tensor<3x3x3x64xbf16> -> tensor<32x28x28x64xf32>
  return %0 : tensor<32x28x28x64xf32>
}
// CHECK-LABEL: @three_channels
// CHECK: #nest.tiles<half, {{.*}}, lhs = <depth, 0>, rhs = <rows, 16>>
func.func private @holes(%x: tensor<32x28x28x64xbf16>, %w: tensor<3x3x64x64xbf16>) -> tensor<32x55x55x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 2, 2>, window_dilation = array<i64: 1, 1>} : tensor<32x28x28x64xbf16>, tensor<3x3x64x64xbf16> -> tensor<32x55x55x64xf32>
  return %0 : tensor<32x55x55x64xf32>
}
// CHECK-LABEL: @holes
// CHECK: #nest.tiles<half, {{.*}}, lhs = <depth, 16>, rhs = <rows, 16>>

// A thread for each sum is faster where products are few; f64 has no tiles.
func.func private @small(%x: tensor<64x10xf32>, %w: tensor<10x10xf32>) -> tensor<64x10xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x10xf32>, tensor<10x10xf32> -> tensor<64x10xf32>
  return %0 : tensor<64x10xf32>
}
// CHECK-LABEL: @small
// CHECK: #nest.sums<block = 0>
func.func private @double(%x: tensor<512x784xf64>, %w: tensor<784x200xf64>) -> tensor<512x200xf64> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x784xf64>, tensor<784x200xf64> -> tensor<512x200xf64>
  return %0 : tensor<512x200xf64>
}
// CHECK-LABEL: @double
// CHECK: #nest.sums<block = 0, lanes = 8>

// Slices, and reshapes that split or join their dimensions, are views: operands are copied in runs of 16 bytes.
func.func private @scores(%qkv: tensor<4x1024x2304xbf16>) -> tensor<4x12x1024x1024xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.reshape %qkv : tensor<4x1024x2304xbf16> -> tensor<4x1024x3x12x64xbf16>
  %1 = weft.slice %0 from [0, 0, 0, 0, 0] to [4, 1024, 1, 12, 64] by [1, 1, 1, 1, 1] : tensor<4x1024x3x12x64xbf16> -> tensor<4x1024x1x12x64xbf16>
  %q = weft.reshape %1 : tensor<4x1024x1x12x64xbf16> -> tensor<4x1024x12x64xbf16>
  %2 = weft.slice %0 from [0, 0, 1, 0, 0] to [4, 1024, 2, 12, 64] by [1, 1, 1, 1, 1] : tensor<4x1024x3x12x64xbf16> -> tensor<4x1024x1x12x64xbf16>
  %k = weft.reshape %2 : tensor<4x1024x1x12x64xbf16> -> tensor<4x1024x12x64xbf16>
  %3 = weft.dot %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : tensor<4x1024x12x64xbf16>, tensor<4x1024x12x64xbf16> -> tensor<4x12x1024x1024xf32>
  return %3 : tensor<4x12x1024x1024xf32>
}
// CHECK-LABEL: @scores
// CHECK: #nest.tiles<half, {{.*}}lhs = <depth, 16>, rhs = <depth, 16>>
// TF32-LABEL: @scores
func.func private @projection(%x: tensor<16x12x64x1024xbf16>, %w: tensor<768x768xbf16>) -> tensor<16x1024x768xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [0, 3, 1, 2] : tensor<16x12x64x1024xbf16> -> tensor<16x1024x12x64xbf16>
  %1 = weft.reshape %0 : tensor<16x1024x12x64xbf16> -> tensor<16x1024x768xbf16>
  %2 = weft.dot %1, %w contract [2] x [0] : tensor<16x1024x768xbf16>, tensor<768x768xbf16> -> tensor<16x1024x768xf32>
  return %2 : tensor<16x1024x768xf32>
}
// CHECK-LABEL: @projection
// CHECK: #nest.tiles<half, {{.*}}lhs = <rows, 16>, rhs = <rows, 16>>
// TF32-LABEL: @projection
// From element 4 on, runs of 16 bytes would not begin at multiples of 16.
func.func private @behind(%x: tensor<1024x1032xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1024x1024xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.slice %x from [0, 4] to [1024, 1028] by [1, 1] : tensor<1024x1032xbf16> -> tensor<1024x1024xbf16>
  %1 = weft.dot %0, %w contract [1] x [0] : tensor<1024x1024xbf16>, tensor<1024x1024xbf16> -> tensor<1024x1024xf32>
  return %1 : tensor<1024x1024xf32>
}
// CHECK-LABEL: @behind
// CHECK: #nest.tiles<half, {{.*}}lhs = <depth, 8>, rhs = <rows, 16>>
// TF32-LABEL: @behind

// The gradient of a kernel: rows are windows and input channels, and the channels, which lie side by side, come last, so that 16 bytes
// of them are copied; a window may end between rows, but not between channels.
func.func private @of_kernel(%x: tensor<64x14x14x256xbf16>, %g: tensor<64x14x14x256xbf16>) -> tensor<3x3x256x256xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x14x14x256xbf16>, tensor<64x14x14x256xbf16> -> tensor<3x3x256x256xf32>
  return %0 : tensor<3x3x256x256xf32>
}
// CHECK-LABEL: @of_kernel
// CHECK: #nest.tiles<half, {{.*}}lhs = <rows, 16>, rhs = <rows, 16>
// Of three channels no run has 4 bytes; if windows come last in the result, they end between rows.
func.func private @of_image(%x: tensor<64x224x224x3xbf16>, %g: tensor<64x112x112x64xbf16>) -> tensor<7x7x3x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 3, 3>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 2, 2>} : tensor<64x224x224x3xbf16>, tensor<64x112x112x64xbf16> -> tensor<7x7x3x64xf32>
  return %0 : tensor<7x7x3x64xf32>
}
// CHECK-LABEL: @of_image
// CHECK: #nest.tiles<half, {{.*}}lhs = <rows, 0>, rhs = <rows, 16>
func.func private @channels_first(%x: tensor<64x256x14x14xbf16>, %g: tensor<64x256x14x14xbf16>) -> tensor<256x256x3x3xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 1, 0, 2, 3>, rhs_dims = array<i64: 1, 0, 2, 3>, result_dims = array<i64: 1, 0, 2, 3>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x256x14x14xbf16>, tensor<64x256x14x14xbf16> -> tensor<256x256x3x3xf32>
  return %0 : tensor<256x256x3x3xf32>
}
// CHECK-LABEL: @channels_first
// CHECK: #nest.tiles<half, {{.*}}lhs = <rows, 0>, rhs = <rows, 0>
