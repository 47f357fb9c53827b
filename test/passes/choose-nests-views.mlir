// On CPUs register tiles read whole arrays: a slice, and a reshape that joins transposed dimensions, are stored first. A
// transpose is a view. On GPUs the nests of test/passes/choose-tiles.mlir read all of them where they are.
// RUN: weft-opt %s --weft-choose-nests=target=cpu:avx2 | FileCheck %s

// CHECK-LABEL: @sliced
// CHECK: nest.loops #nest.elements
// CHECK-NEXT: weft.slice
// CHECK-NEXT: nest.store
// CHECK: nest.loops #nest.contraction
// CHECK-NEXT: weft.dot
func.func private @sliced(%x: tensor<64x96xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.slice %x from [0, 16] to [64, 80] by [1, 1] : tensor<64x96xf32> -> tensor<64x64xf32>
  %1 = weft.dot %0, %w contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// CHECK-LABEL: @joined
// CHECK: nest.loops #nest.elements
// CHECK: weft.reshape
// CHECK-NEXT: nest.store
// CHECK: nest.loops #nest.contraction
// CHECK-NEXT: weft.dot
func.func private @joined(%x: tensor<4x16x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [2, 0, 1] : tensor<4x16x64xf32> -> tensor<64x4x16xf32>
  %1 = weft.reshape %0 : tensor<64x4x16xf32> -> tensor<64x64xf32>
  %2 = weft.dot %1, %w contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// CHECK-LABEL: @transposed
// CHECK: nest.loops #nest.contraction
// CHECK-NEXT: weft.transpose
// CHECK-NEXT: weft.dot
func.func private @transposed(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = weft.dot %0, %w contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
