// The four kernels by which the form of the dialect was chosen, for three targets.
// RUN: weft-opt %s --weft-choose-nests=target=cpu:avx2 | FileCheck %s --check-prefixes=CPU,AVX2
// RUN: weft-opt %s --weft-choose-nests=target=cpu:avx512 | FileCheck %s --check-prefixes=CPU,AVX512
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_80 | FileCheck %s --check-prefix=CUDA
// RUN: weft-opt %s --weft-choose-nests=target=cpu:avx2 | weft-opt --weft-choose-nests=target=cpu:avx512 | FileCheck %s --check-prefix=AGAIN
// RUN: not weft-opt %s --weft-choose-nests=target=cpu:avx1024 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: error: no loop nests for 'cpu:avx1024'; use one of cpu:avx512, cpu:avx2,
// AGAIN-NOT: target = "cpu:avx512"

func.func private @softmax(%x: tensor<64x10xf32>) -> tensor<64x10xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<64x10xf32> -> tensor<64xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<64xf32> -> tensor<64x10xf32>
  %2 = weft.sub %x, %1 : tensor<64x10xf32>
  %3 = weft.exp %2 : tensor<64x10xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<64x10xf32> -> tensor<64xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<64xf32> -> tensor<64x10xf32>
  %6 = weft.div %3, %5 : tensor<64x10xf32>
  return %6 : tensor<64x10xf32>
}
// CPU-LABEL: @softmax
// AVX2-SAME: nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 512>
// CPU: %[[MAX:.*]] = nest.loops #nest.reduction<register> to [#nest.place<scratch 0>] {
// CPU:   weft.reduce max %arg0
// CPU: %[[EXP:.*]] = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
// CPU:   weft.broadcast %[[MAX]]
// CPU: %[[SUM:.*]] = nest.loops #nest.reduction<register> to [#nest.place<scratch 256>] {
// CPU:   weft.reduce sum %[[EXP]]
// CPU: nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
// CPU:   %[[B:.*]] = weft.broadcast %[[SUM]]
// CPU:   weft.div %[[EXP]], %[[B]]
// CUDA-LABEL: @softmax
// CUDA-SAME: nest.kernel = #nest.kernel<target = "cuda:sm_80">
// CUDA: nest.loops #nest.rows<dims = 1, lanes = 32, held = 1> to [#nest.place<result 0>] {
// CUDA-NOT: nest.loops

// The gradients of input, scale and offset of a layer norm; %g is that of the result, %n the normalised input.
func.func private @layer_norm_gradient(%g: tensor<4096x96xf32>, %n: tensor<4096x96xf32>, %s: tensor<96xf32>, %r: tensor<4096xf32>)
    -> (tensor<4096x96xf32>, tensor<96xf32>, tensor<96xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  %c = weft.constant dense<0.010416667> : tensor<4096xf32>
  %0 = weft.mul %g, %n : tensor<4096x96xf32>
  %scale = weft.reduce sum %0 dims [0] : tensor<4096x96xf32> -> tensor<96xf32>
  %offset = weft.reduce sum %g dims [0] : tensor<4096x96xf32> -> tensor<96xf32>
  %1 = weft.broadcast %s dims [1] : tensor<96xf32> -> tensor<4096x96xf32>
  %2 = weft.mul %g, %1 : tensor<4096x96xf32>
  %3 = weft.reduce sum %2 dims [1] : tensor<4096x96xf32> -> tensor<4096xf32>
  %4 = weft.mul %2, %n : tensor<4096x96xf32>
  %5 = weft.reduce sum %4 dims [1] : tensor<4096x96xf32> -> tensor<4096xf32>
  %6 = weft.mul %3, %c : tensor<4096xf32>
  %7 = weft.mul %5, %c : tensor<4096xf32>
  %8 = weft.broadcast %6 dims [0] : tensor<4096xf32> -> tensor<4096x96xf32>
  %9 = weft.broadcast %7 dims [0] : tensor<4096xf32> -> tensor<4096x96xf32>
  %10 = weft.mul %n, %9 : tensor<4096x96xf32>
  %11 = weft.sub %2, %8 : tensor<4096x96xf32>
  %12 = weft.sub %11, %10 : tensor<4096x96xf32>
  %13 = weft.broadcast %r dims [0] : tensor<4096xf32> -> tensor<4096x96xf32>
  %14 = weft.mul %12, %13 : tensor<4096x96xf32>
  return %14, %scale, %offset : tensor<4096x96xf32>, tensor<96xf32>, tensor<96xf32>
}
// CPU-LABEL: @layer_norm_gradient
// CPU-SAME: scratch = 33152
// CPU: nest.loops #nest.reduction<row, blocks[64]> to [#nest.place<result 1>]
// CPU: nest.loops #nest.reduction<row, blocks[64]> to [#nest.place<result 2>]
// CPU: nest.loops #nest.reduction<register> to [#nest.place<scratch 0>]
// CPU: nest.loops #nest.reduction<register> to [#nest.place<scratch 16384>]
// CPU: nest.loops #nest.elements<dimensions> to [#nest.place<result 0>]
// CUDA-LABEL: @layer_norm_gradient
// CUDA-SAME: reason = "weft.reduce combines dimension 0 of tensor<4096x96xf32>, which is not among its last 1"
// CUDA-COUNT-5: nest.loops

func.func private @dense(%x: tensor<512x768xbf16>, %w: tensor<768x1024xbf16>, %b: tensor<1024xf32>) -> tensor<512x1024xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x768xbf16>, tensor<768x1024xbf16> -> tensor<512x1024xf32>
  %1 = weft.broadcast %b dims [1] : tensor<1024xf32> -> tensor<512x1024xf32>
  %2 = weft.add %0, %1 : tensor<512x1024xf32>
  %3 = weft.relu %2 : tensor<512x1024xf32>
  return %3 : tensor<512x1024xf32>
}
// CPU-LABEL: @dense
// AVX2-SAME: scratch = 635392, share = <dim = 0, size = 512, unit = 6, shares = 21>
// AVX2: nest.loops #nest.contraction<packed, tile[6, 2], blocks[108, 512, 256]> to [#nest.place<result 0>, #nest.place<result 0>]
// AVX512-SAME: scratch = 640896, share = <dim = 0, size = 512, unit = 14, shares = 9>
// AVX512: nest.loops #nest.contraction<packed, tile[14, 2], blocks[112, 512, 256]> to [#nest.place<result 0>, #nest.place<result 0>]
// CPU: %[[SUMS:.*]] = weft.dot
// CPU: %[[RELU:.*]] = weft.relu
// CPU: nest.store %[[SUMS]], %[[RELU]]
// CPU-NOT: nest.loops
// CUDA-LABEL: @dense
// CUDA-NOT: reason
// CUDA: nest.loops #nest.tiles<half, block[128, 64, 32], warp[32, 32], stages = 3, lhs = <depth, 16>, rhs = <rows, 16>>
// CUDA-NOT: nest.loops

func.func private @depthwise(%x: tensor<8x32x32x24xf32>, %w: tensor<3x3x1x24xf32>) -> tensor<8x32x32x24xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>, feature_groups = 24 : i64} : tensor<8x32x32x24xf32>, tensor<3x3x1x24xf32> -> tensor<8x32x32x24xf32>
  return %0 : tensor<8x32x32x24xf32>
}
// CPU-LABEL: @depthwise
// AVX2-SAME: share = <dim = 1, size = 32, unit = 1, shares = 12>
// AVX2: nest.loops #nest.convolution<channels, along 2, tile[3, 3]> to [#nest.place<result 0>]
// AVX512: nest.loops #nest.convolution<channels, along 2, tile[4, 2]> to [#nest.place<result 0>]
// CUDA-LABEL: @depthwise
// CUDA-NOT: reason
// CUDA: nest.loops #nest.sums<block = 0> to [#nest.place<result 0>]

func.func private @k(%x: tensor<8x4xf32>) -> tensor<8xf32>
    attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CPU-LABEL: @k
// CPU: %[[SUM:.*]] = nest.loops #nest.reduction<register> to [#nest.place<result 0>] {
// CPU:   weft.reduce sum
// CPU:   nest.store
// CPU: return %[[SUM]]

// A reshape of a transpose is no view of its operand: the transpose is stored.
func.func private @no_view(%x: tensor<8x6x4xf32>, %w: tensor<24x10xf32>) -> tensor<8x10xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [0, 2, 1] : tensor<8x6x4xf32> -> tensor<8x4x6xf32>
  %1 = weft.reshape %0 : tensor<8x4x6xf32> -> tensor<8x24xf32>
  %2 = weft.dot %1, %w contract [1] x [0] : tensor<8x24xf32>, tensor<24x10xf32> -> tensor<8x10xf32>
  return %2 : tensor<8x10xf32>
}
// CPU-LABEL: @no_view
// CPU: %[[STORED:.*]] = nest.loops #nest.elements<dimensions> to [#nest.place<scratch 0>] {
// CPU: nest.loops #nest.contraction<columns
// CPU: weft.dot %[[STORED]]

// One block holds all products of a sum: the sums themselves are never stored.
func.func private @one_block(%x: tensor<512x64xf32>, %w: tensor<64x512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x64xf32>, tensor<64x512xf32> -> tensor<512x512xf32>
  %1 = weft.add %0, %y : tensor<512x512xf32>
  %2 = weft.convert %1 : tensor<512x512xf32> -> tensor<512x512xbf16>
  return %2 : tensor<512x512xbf16>
}
// CPU-LABEL: @one_block
// The scratch has 512 * 64 + 16 floats of rhs, 108 * 64 + 16 of lhs, 6 * 16 of the tile.
// AVX2-SAME: scratch = 159232,
// CPU: nest.loops #nest.contraction<packed, tile{{.*}}, 64]> to [#nest.place<result 0>]
// CPU: %[[SHORT:.*]] = weft.convert
// CPU: nest.store %[[SHORT]]
// CPU-NOT: nest.loops

// An op that reads the sums at other positions has a nest of its own.
func.func private @turned(%x: tensor<384x64xf32>, %w: tensor<64x384xf32>) -> tensor<384x384xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<384x64xf32>, tensor<64x384xf32> -> tensor<384x384xf32>
  %1 = weft.transpose %0 [1, 0] : tensor<384x384xf32> -> tensor<384x384xf32>
  %2 = weft.add %0, %1 : tensor<384x384xf32>
  return %2 : tensor<384x384xf32>
}
// CPU-LABEL: @turned
// CPU: nest.loops #nest.contraction<packed
// CPU: nest.loops #nest.elements<dimensions>

// A reversed kernel is a view: the derivative of a convolution's input is tiled.
func.func private @reversed(%x: tensor<8x12x12x24xf32>, %w: tensor<6x6x12x24xf32>) -> tensor<8x28x28x12xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reverse %w dims [0, 1] : tensor<6x6x12x24xf32>
  %1 = weft.convolution %x, %0 {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 5, 5>, high = array<i64: 5, 5>, base_dilation = array<i64: 2, 2>, window_dilation = array<i64: 1, 1>} : tensor<8x12x12x24xf32>, tensor<6x6x12x24xf32> -> tensor<8x28x28x12xf32>
  return %1 : tensor<8x28x28x12xf32>
}
// CPU-LABEL: @reversed
// CPU: nest.loops #nest.convolution<outputs, along 2, tile[{{.*}}] copies_kernel = true>

// Three features fill too little of a vector.
func.func private @reversed_to_colours(%x: tensor<8x12x12x24xf32>, %w: tensor<6x6x3x24xf32>) -> tensor<8x28x28x3xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reverse %w dims [0, 1] : tensor<6x6x3x24xf32>
  %1 = weft.convolution %x, %0 {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 5, 5>, high = array<i64: 5, 5>, base_dilation = array<i64: 2, 2>, window_dilation = array<i64: 1, 1>} : tensor<8x12x12x24xf32>, tensor<6x6x3x24xf32> -> tensor<8x28x28x3xf32>
  return %1 : tensor<8x28x28x3xf32>
}
// CPU-LABEL: @reversed_to_colours
// CPU: nest.loops #nest.convolution<inputs, along 2, tile[

// A kernel of bf16 is converted to a copy in which inputs stay adjacent.
func.func private @short_to_colours(%x: tensor<8x12x12x24xf32>, %w: tensor<6x6x3x24xbf16>) -> tensor<8x28x28x3xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reverse %w dims [0, 1] : tensor<6x6x3x24xbf16>
  %1 = weft.convolution %x, %0 {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 2, 3, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 5, 5>, high = array<i64: 5, 5>, base_dilation = array<i64: 2, 2>, window_dilation = array<i64: 1, 1>} : tensor<8x12x12x24xf32>, tensor<6x6x3x24xbf16> -> tensor<8x28x28x3xf32>
  return %1 : tensor<8x28x28x3xf32>
}
// CPU-LABEL: @short_to_colours
// CPU: nest.loops #nest.convolution<inputs, along 2, tile[{{.*}}] copies_kernel = true

// The derivative of a convolution's kernel: each sum has 64 * 28 * 28 products, and those of a sample are summed apart.
func.func private @kernel_gradient(%x: tensor<64x28x28x12xf32>, %g: tensor<64x28x28x24xf32>) -> tensor<3x3x12x24xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<64x28x28x12xf32>, tensor<64x28x28x24xf32> -> tensor<3x3x12x24xf32>
  return %0 : tensor<3x3x12x24xf32>
}
// CPU-LABEL: @kernel_gradient
// CPU: nest.loops #nest.convolution<outputs, along {{[12]}}, tile[{{.*}}] sums_apart = true>

// Rows of 128 features, of which a tile has some, are copied to panels; a kernel whose rows are as long as a tile's is read in place (above).
func.func private @wide_kernel_gradient(%x: tensor<2x8x8x128xf32>, %g: tensor<2x8x8x128xf32>) -> tensor<3x3x128x128xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x8x8x128xf32>, tensor<2x8x8x128xf32> -> tensor<3x3x128x128xf32>
  return %0 : tensor<3x3x128x128xf32>
}
// CPU-LABEL: @wide_kernel_gradient
// CPU: nest.loops #nest.convolution<outputs, along 2, tile[{{.*}}] copies_panels = true>

// A window that is dilated in both tensors steps over holes.
func.func private @dilated_twice(%x: tensor<2x16x16x8xf32>, %w: tensor<3x3x8x32xf32>) -> tensor<2x27x27x32xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 2, 2>, window_dilation = array<i64: 2, 2>} : tensor<2x16x16x8xf32>, tensor<3x3x8x32xf32> -> tensor<2x27x27x32xf32>
  return %0 : tensor<2x27x27x32xf32>
}
// CPU-LABEL: @dilated_twice
// CPU: nest.loops #nest.convolution<outputs, along 2
