// A scatter of generated numbers in which one update reaches an element is computed by element on GPUs; on CPUs it stays.
// RUN: weft-opt %s --weft-scatters-to-selects=target=cuda:sm_90a | FileCheck %s
// RUN: weft-opt %s --weft-scatters-to-selects=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-COUNT-7: weft.scatter
// CPU-NOT: weft.select

// The gradient of a loss at the label of each row: the dimension numbers give each row one update.
// CHECK-LABEL: @one_hot_gradient
// CHECK: %[[ZERO:.*]] = weft.constant dense<0.000000e+00>
// CHECK: %[[AT:.*]] = weft.iota dim 1 : tensor<4x10xi32>
// CHECK: %[[IDS:.*]] = weft.broadcast %{{.*}} dims [0] : tensor<4xi32> -> tensor<4x10xi32>
// CHECK: %[[IS:.*]] = weft.compare eq %[[AT]], %[[IDS]]
// CHECK: %[[U:.*]] = weft.broadcast %arg1 dims [0] : tensor<4xf32> -> tensor<4x10xf32>
// CHECK: %[[SUM:.*]] = weft.add %[[ZERO]], %[[U]]
// CHECK: weft.select %[[IS]], %[[SUM]], %[[ZERO]]
// CHECK-NOT: weft.scatter
func.func @one_hot_gradient(%ids: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<4x10xf32> {
  %zero = weft.constant dense<0.0> : tensor<4x10xf32>
  %0 = weft.scatter sum %zero at %ids with %u {inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x10xf32>, tensor<4x1xi32>, tensor<4xf32> -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}

// One row of a table, at two indices of 8 bits without a sign: whole blocks along a third dimension.
// CHECK-LABEL: @one_row
// CHECK: weft.slice %arg0 from [0] to [1] by [1]
// CHECK: weft.convert %{{.*}} : tensor<1xui8> -> tensor<1xi64>
// CHECK: weft.compare eq %{{.*}}, %{{.*}} : tensor<300x7x5xi64>
// CHECK: weft.slice %arg0 from [1] to [2] by [1]
// CHECK: weft.and
// CHECK: weft.select %{{.*}} : tensor<300x7x5xi1>
// CHECK-NOT: weft.scatter
func.func @one_row(%ids: tensor<2xui8>, %u: tensor<5xf32>) -> tensor<300x7x5xf32> {
  %one = weft.constant dense<1.0> : tensor<f32>
  %ones = weft.broadcast %one dims [] : tensor<f32> -> tensor<300x7x5xf32>
  %0 = weft.scatter set %ones at %ids with %u {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0, 1>, scatter_dims_to_operand_dims = array<i64: 0, 1>, index_vector_dim = 0 : i64} : tensor<300x7x5xf32>, tensor<2xui8>, tensor<5xf32> -> tensor<300x7x5xf32>
  return %0 : tensor<300x7x5xf32>
}

// Blocks whose dimensions come before the batch are transposed.
// CHECK-LABEL: @transposed
// CHECK: weft.transpose %arg1 [1, 0] : tensor<5x4xf32> -> tensor<4x5xf32>
// CHECK: weft.max
// CHECK-NOT: weft.scatter
func.func @transposed(%ids: tensor<4x1xi64>, %u: tensor<5x4xf32>) -> tensor<4x10x5xf32> {
  %zero = weft.constant dense<0.0> : tensor<4x10x5xf32>
  %0 = weft.scatter max %zero at %ids with %u {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x10x5xf32>, tensor<4x1xi64>, tensor<5x4xf32> -> tensor<4x10x5xf32>
  return %0 : tensor<4x10x5xf32>
}

// The following stay: several updates may reach an element,
// CHECK-LABEL: @embedding
// CHECK: weft.scatter
func.func @embedding(%ids: tensor<6x1xi32>, %u: tensor<6x5xf32>) -> tensor<10x5xf32> {
  %zero = weft.constant dense<0.0> : tensor<10x5xf32>
  %0 = weft.scatter sum %zero at %ids with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<10x5xf32>, tensor<6x1xi32>, tensor<6x5xf32> -> tensor<10x5xf32>
  return %0 : tensor<10x5xf32>
}

// a block has several positions along an indexed dimension,
// CHECK-LABEL: @block
// CHECK: weft.scatter
func.func @block(%ids: tensor<1xi32>, %u: tensor<3xf32>) -> tensor<10xf32> {
  %zero = weft.constant dense<0.0> : tensor<10xf32>
  %0 = weft.scatter set %zero at %ids with %u {update_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<10xf32>, tensor<1xi32>, tensor<3xf32> -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// blocks cover a part of a dimension,
// CHECK-LABEL: @part
// CHECK: weft.scatter
func.func @part(%ids: tensor<1xi32>, %u: tensor<3xf32>) -> tensor<10x4xf32> {
  %zero = weft.constant dense<0.0> : tensor<10x4xf32>
  %0 = weft.scatter set %zero at %ids with %u {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<10x4xf32>, tensor<1xi32>, tensor<3xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}

// or the input is in memory, where one element changes.
// CHECK-LABEL: @in_memory
// CHECK: weft.scatter
func.func @in_memory(%x: tensor<4x10xf32>, %ids: tensor<4x1xi32>, %u: tensor<4xf32>) -> tensor<4x10xf32> {
  %0 = weft.scatter sum %x at %ids with %u {inserted_window_dims = array<i64: 1>, input_batching_dims = array<i64: 0>, scatter_indices_batching_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x10xf32>, tensor<4x1xi32>, tensor<4xf32> -> tensor<4x10xf32>
  return %0 : tensor<4x10xf32>
}
