// Groups are those that one nest can compute where a kernel is one launch.
// RUN: weft-opt %s --weft-outline-kernels=target=cuda:sm_80 | FileCheck %s
// RUN: weft-opt %s --weft-outline-kernels=target=cuda:sm_80 --weft-choose-nests=target=cuda:sm_80 | FileCheck %s --check-prefix=NESTS

// A contraction goes on with the elementwise ops on its result; reductions of rows and the ops around them are one kernel; the sum
// over all rows is another one.
// CHECK-LABEL: func.func @train
// CHECK-NEXT: %[[D:.*]] = call @dot_add_relu_16x784x200(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[S:.*]]:2 = call @general_reduce_sub_exp_div_16x200(%[[D]])
// CHECK-NEXT: call @reduce_16x200(%[[S]]#0)
// NESTS: @dot_add_relu_16x784x200
// NESTS: nest.loops #nest.tiles<fma, {{.*}}, parts = {{[0-9]+}}>
// NESTS: nest.loops #nest.sums
// NESTS-NOT: nest.loops
// NESTS: @general_reduce_sub_exp_div_16x200
// NESTS: nest.loops #nest.rows<dims = 1, lanes = 32, held = 8, side = 4>
// NESTS-NOT: nest.loops
// NESTS: @reduce_16x200
// NESTS: nest.loops #nest.rows<dims = 0, lanes = 256, held = 16, side = 4>
func.func @train(%x: tensor<16x784xf32>, %w: tensor<784x200xf32>, %b: tensor<200xf32>) -> (tensor<f32>, tensor<16x200xf32>) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
  %1 = weft.broadcast %b dims [1] : tensor<200xf32> -> tensor<16x200xf32>
  %2 = weft.add %0, %1 : tensor<16x200xf32>
  %3 = weft.relu %2 : tensor<16x200xf32>
  %m = weft.reduce max %3 dims [1] : tensor<16x200xf32> -> tensor<16xf32>
  %mb = weft.broadcast %m dims [0] : tensor<16xf32> -> tensor<16x200xf32>
  %4 = weft.sub %3, %mb : tensor<16x200xf32>
  %5 = weft.exp %4 : tensor<16x200xf32>
  %6 = weft.reduce sum %5 dims [1] : tensor<16x200xf32> -> tensor<16xf32>
  %7 = weft.broadcast %6 dims [0] : tensor<16xf32> -> tensor<16x200xf32>
  %8 = weft.div %5, %7 : tensor<16x200xf32>
  %9 = weft.reduce sum %8 dims [0, 1] : tensor<16x200xf32> -> tensor<f32>
  %10 = weft.mul %8, %8 : tensor<16x200xf32>
  return %9, %10 : tensor<f32>, tensor<16x200xf32>
}

// Columns are reduced in a kernel of their own, with a thread for each; the rows of their sums are not those of %x.
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: call @reduce_8x4
// CHECK-NEXT: call @elementwise_sub_8x4
func.func @columns(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = weft.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<4xf32> -> tensor<8x4xf32>
  %2 = weft.sub %x, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
// NESTS: @reduce_8x4
// NESTS: nest.loops #nest.sums<block = 0>

// A convolution goes on with the elementwise ops on its result, too.
// CHECK-LABEL: func.func @convolution
// CHECK-NEXT: call @general_convolution_relu_2x8x8x16(%arg0, %arg1)
// CHECK-NEXT: return
func.func @convolution(%x: tensor<2x8x8x4xf32>, %w: tensor<3x3x4x16xf32>) -> tensor<2x8x8x16xf32> {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<2x8x8x4xf32>, tensor<3x3x4x16xf32> -> tensor<2x8x8x16xf32>
  %1 = weft.relu %0 : tensor<2x8x8x16xf32>
  return %1 : tensor<2x8x8x16xf32>
}

// The gradient of a fused tensor is a sum of its padded parts: one kernel reads each part once.
// CHECK-LABEL: @parts
// CHECK: %0 = call @elementwise_pad_add_16x12x64(%arg0, %arg1)
// CHECK-NEXT: return %0
func.func @parts(%a: tensor<16x4x64xf32>, %b: tensor<16x8x64xf32>) -> tensor<16x12x64xf32> {
  %0 = weft.pad %a low [0, 0, 0] high [0, 8, 0] interior [0, 0, 0] : tensor<16x4x64xf32> -> tensor<16x12x64xf32>
  %1 = weft.pad %b low [0, 4, 0] high [0, 0, 0] interior [0, 0, 0] : tensor<16x8x64xf32> -> tensor<16x12x64xf32>
  %2 = weft.add %0, %1 : tensor<16x12x64xf32>
  return %2 : tensor<16x12x64xf32>
}

// The quotient reads the sum through an op that joins its kernel late, with a later op of the same shape.
// CHECK-LABEL: @late
// CHECK: %0:3 = call @general_reduce_sub_exp_convert_{{.*}}(%arg0)
// CHECK-NEXT: return %0
func.func @late(%x: tensor<12x64x1024xbf16>) -> (tensor<12x64x1024xbf16>, tensor<12x64x1xbf16>, tensor<12x64x1024xbf16>) {
  %0 = weft.reduce max %x dims [2] : tensor<12x64x1024xbf16> -> tensor<12x64xbf16>
  %1 = weft.broadcast %0 dims [0, 1] : tensor<12x64xbf16> -> tensor<12x64x1024xbf16>
  %2 = weft.sub %x, %1 : tensor<12x64x1024xbf16>
  %3 = weft.exp %2 : tensor<12x64x1024xbf16>
  %4 = weft.reduce sum %3 dims [2] : tensor<12x64x1024xbf16> -> tensor<12x64xf32>
  %5 = weft.broadcast %4 dims [0, 1] : tensor<12x64xf32> -> tensor<12x64x1xf32>
  %6 = weft.convert %5 : tensor<12x64x1xf32> -> tensor<12x64x1xbf16>
  %7 = weft.reshape %6 : tensor<12x64x1xbf16> -> tensor<12x64xbf16>
  %8 = weft.broadcast %7 dims [0, 1] : tensor<12x64xbf16> -> tensor<12x64x1024xbf16>
  %9 = weft.div %3, %8 : tensor<12x64x1024xbf16>
  %10 = weft.mul %6, %6 : tensor<12x64x1xbf16>
  return %3, %10, %9 : tensor<12x64x1024xbf16>, tensor<12x64x1xbf16>, tensor<12x64x1024xbf16>
}
