// Ops beyond those of ops.mlir read back as they print, in the pretty and in the generic form.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<4x8xf32>, %i: tensor<4xi32>) {
  // CHECK: weft.reduce_precision %{{.*}} to e 5 m 7 : tensor<4x8xf32>
  %0 = weft.reduce_precision %x to e 5 m 7 : tensor<4x8xf32>
  // CHECK: weft.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = weft.clamp %x, %x, %x : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: weft.is_finite %{{.*}} : tensor<4x8xf32> -> tensor<4x8xi1>
  %2 = weft.is_finite %x : tensor<4x8xf32> -> tensor<4x8xi1>
  // CHECK: weft.shift_right_arithmetic %{{.*}}, %{{.*}} : tensor<4xi32>
  %3 = weft.shift_right_arithmetic %i, %i : tensor<4xi32>
  return
}

// CHECK-LABEL: @moves
func.func @moves(%x: tensor<4x6xf32>, %v: tensor<f32>, %i: tensor<i32>, %u: tensor<2x6xf32>) {
  // CHECK: weft.pad %{{.*}} with %{{.*}} low [1, -2] high [0, 1] interior [0, 1] : tensor<4x6xf32>, tensor<f32> -> tensor<5x10xf32>
  %0 = weft.pad %x with %v low [1, -2] high [0, 1] interior [0, 1] : tensor<4x6xf32>, tensor<f32> -> tensor<5x10xf32>
  // CHECK: weft.reverse %{{.*}} dims [0, 1] : tensor<4x6xf32>
  %1 = weft.reverse %x dims [0, 1] : tensor<4x6xf32>
  // CHECK: weft.roll %{{.*}} by [1, -7] : tensor<4x6xf32>
  %2 = weft.roll %x by [1, -7] : tensor<4x6xf32>
  // CHECK: weft.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  %3 = weft.dynamic_slice %x at (%i, %i) : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  // CHECK: weft.dynamic_update_slice %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) :
  %4 = weft.dynamic_update_slice %x, %u at (%i, %i) : (tensor<4x6xf32>, tensor<2x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<3x6xf32>, %o: tensor<i64>) {
  // CHECK: weft.gather %{{.*}} at %{{.*}} {{{.*}}zero_outside} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 6>, zero_outside} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  // CHECK: weft.gather %{{.*}} at %{{.*}} {absent_outside, {{.*}}} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  %4 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 6>, absent_outside} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  // CHECK: weft.scatter sum %{{.*}} at %{{.*}} with %{{.*}} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x6xf32> -> tensor<4x6xf32>
  %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x6xf32> -> tensor<4x6xf32>
  // CHECK: weft.one_hot %{{.*}} dim 0 : tensor<3xi32> -> tensor<5x3xf32>
  %2 = weft.one_hot %i dim 0 : tensor<3xi32> -> tensor<5x3xf32>
  // CHECK: weft.one_hot %{{.*}} dim 1 offset %{{.*}} : tensor<3xi32>, tensor<i64> -> tensor<3x5xf32>
  %3 = weft.one_hot %i dim 1 offset %o : tensor<3xi32>, tensor<i64> -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: @orders
func.func @orders(%x: tensor<4x6xf32>, %y: tensor<4x6xi32>) {
  // CHECK: weft.cumulative max %{{.*}} dim 1 : tensor<4x6xf32>
  %0 = weft.cumulative max %x dim 1 : tensor<4x6xf32>
  // CHECK: weft.cumulative logsumexp %{{.*}} dim 0 reverse exclusive : tensor<4x6xf32>
  %1 = weft.cumulative logsumexp %x dim 0 reverse exclusive : tensor<4x6xf32>
  // CHECK: weft.arg_max %{{.*}} dim 1 : tensor<4x6xf32> -> tensor<4xi32>
  %2 = weft.arg_max %x dim 1 : tensor<4x6xf32> -> tensor<4xi32>
  // CHECK: weft.arg_min %{{.*}} dim 0 : tensor<4x6xf32> -> tensor<6xi32>
  %3 = weft.arg_min %x dim 0 : tensor<4x6xf32> -> tensor<6xi32>
  // CHECK: weft.top_k %{{.*}} dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  %4, %5 = weft.top_k %x dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  // CHECK: weft.sort %{{.*}}, %{{.*}} dim 1 keys 1 descending : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  %6:2 = weft.sort %x, %y dim 1 keys 1 descending : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
  return
}

// CHECK-LABEL: @windows
func.func @windows(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>, %i: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // CHECK: weft.reduce_window max %{{.*}} {{{.*}}window = array<i64: 2, 2>
  %0 = weft.reduce_window max %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x5xf32>
  // CHECK: weft.select_and_scatter ge %{{.*}}, %{{.*}} {{{.*}}} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  %1 = weft.select_and_scatter ge %x, %s {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  // CHECK: weft.convolution %{{.*}}, %{{.*}} precision high {{{.*}}} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf64>
  %wide = weft.convolution %i, %w precision high {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf64>
  // CHECK: weft.convolution %{{.*}}, %{{.*}} {{{.*}}} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  %2 = weft.convolution %i, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}
// CHECK-LABEL: @lapack
func.func @lapack(%x: tensor<3x4x2xf64>, %c: tensor<2x2xcomplex<f32>>) {
  // CHECK: weft.lapack "dgetrf"(%{{.*}}) : (tensor<3x4x2xf64>) -> (tensor<3x4x2xf64>, tensor<3x2xi32>, tensor<3xi32>)
  %0:3 = weft.lapack "dgetrf"(%x) : (tensor<3x4x2xf64>) -> (tensor<3x4x2xf64>, tensor<3x2xi32>, tensor<3xi32>)
  // CHECK: weft.lapack "cheevd"(%{{.*}}) options [86, 76] : (tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2xf32>, tensor<i32>)
  %1:3 = weft.lapack "cheevd"(%c) options [86, 76] : (tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2xf32>, tensor<i32>)
  return
}

// CHECK-LABEL: @move
func.func @move(%x: tensor<8xf32>, %z: tensor<f32>) {
  // CHECK: weft.move %{{.*}}, %{{.*}} boxes <[0:4:2] of 0 at [d0 * -1 + 7], [1:1] of 1 at []> : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32> {
  // CHECK-NEXT: ^bb0
  %0 = weft.move %x, %z boxes <[0:4:2] of 0 at [d0 * -1 + 7], [1:1] of 1 at []> : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %c: tensor<f32>):
    weft.yield %a : tensor<8xf32>
  }
  return
}
