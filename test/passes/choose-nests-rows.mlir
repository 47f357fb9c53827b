// Nests of rows: workers share them, and run all nests for a block of rows before the next.
// RUN: weft-opt %s --split-input-file --weft-choose-nests=target=cpu:avx2 | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-choose-nests=target=cpu:avx512 | FileCheck %s

// The exponentials are stored once, in the result's memory. A row has 4 KiB, a block 16.
// CHECK-LABEL: @softmax
// CHECK-SAME: share = <dim = 0, size = 1024, unit = 1, shares = 64, block = 4>
// CHECK: nest.loops #nest.reduction<register> to [#nest.place<scratch 0>]
// CHECK: %[[E:.*]] = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>]
// CHECK:   weft.exp
// CHECK: nest.loops #nest.reduction<register, blocks[256]>
// CHECK-NEXT: weft.reduce sum %[[E]]
// CHECK: nest.loops #nest.elements<dimensions> to [#nest.place<result 0>]
// CHECK:   weft.div %[[E]]
func.func private @softmax(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<1024xf32> -> tensor<1024x1024xf32>
  %2 = weft.sub %x, %1 : tensor<1024x1024xf32>
  %3 = weft.exp %2 : tensor<1024x1024xf32>
  %4 = weft.reduce sum %3 dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %5 = weft.broadcast %4 dims [0] : tensor<1024xf32> -> tensor<1024x1024xf32>
  %6 = weft.div %3, %5 : tensor<1024x1024xf32>
  return %6 : tensor<1024x1024xf32>
}

// -----

// Workers share the columns of a sum over rows, whole lines of a cache each.
// CHECK-LABEL: @columns
// CHECK-SAME: share = <dim = 0, size = 1024, unit = 64, shares = 16>
func.func private @columns(%x: tensor<1024x1024xf32>) -> tensor<1024xf32> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [0] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %1 = weft.mul %0, %0 : tensor<1024xf32>
  return %1 : tensor<1024xf32>
}

// -----

// An element needs the sum of another row.
// CHECK-LABEL: @other_rows
// CHECK-NOT: share =
// CHECK: nest.loops
func.func private @other_rows(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<1024xf32> -> tensor<1024x1024xf32>
  %2 = weft.sub %x, %1 : tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// -----

// CHECK-LABEL: @reversed_rows
// CHECK-NOT: share =
// CHECK: nest.loops
func.func private @reversed_rows(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<1024x1024xf32> -> tensor<1024xf32>
  %1 = weft.reverse %0 dims [0] : tensor<1024xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<1024xf32> -> tensor<1024x1024xf32>
  %3 = weft.sub %x, %2 : tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}

// -----

// Small rows stay one share, as a launch is then short.
// CHECK-LABEL: @small
// CHECK-NOT: share =
// CHECK: nest.loops
func.func private @small(%x: tensor<64x10xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [1] : tensor<64x10xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// An operand in the other order is read in tiles, unless all elements fit in the first cache.
// CHECK-LABEL: @turned
// CHECK: nest.loops #nest.transposed<along = 0>
func.func private @turned(%x: tensor<500x300xf32>) -> tensor<300x500xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [1, 0] : tensor<500x300xf32> -> tensor<300x500xf32>
  return %0 : tensor<300x500xf32>
}
// CHECK-LABEL: @turned_little
// CHECK: nest.loops #nest.elements<dimensions>
func.func private @turned_little(%x: tensor<50x30xf32>) -> tensor<30x50xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [1, 0] : tensor<50x30xf32> -> tensor<30x50xf32>
  return %0 : tensor<30x50xf32>
}

// -----

// Workers share the matrices of a batch; the rows of a matrix times a vector; the columns of few rows.
// CHECK-LABEL: @batch
// CHECK-SAME: share = <dim = 0, size = 64, unit = 1, shares = 32>
func.func private @batch(%a: tensor<64x64x64xf32>, %b: tensor<64x64x64xf32>) -> tensor<64x64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %a, %b batch [0] x [0] contract [2] x [1] : tensor<64x64x64xf32>, tensor<64x64x64xf32> -> tensor<64x64x64xf32>
  return %0 : tensor<64x64x64xf32>
}
// CHECK-LABEL: @vector
// CHECK-SAME: share = <dim = 0, size = 2048, unit = {{[0-9]+}}, shares = 8>
func.func private @vector(%a: tensor<2048x2048xf32>, %b: tensor<2048xf32>) -> tensor<2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %a, %b contract [1] x [0] : tensor<2048x2048xf32>, tensor<2048xf32> -> tensor<2048xf32>
  return %0 : tensor<2048xf32>
}
// CHECK-LABEL: @few_rows
// CHECK-SAME: share = <dim = 1, size = 2048, unit = {{[0-9]+}}, shares = {{[0-9]+}}>
func.func private @few_rows(%a: tensor<4x1024xf32>, %b: tensor<1024x2048xf32>) -> tensor<4x2048xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %a, %b contract [1] x [0] : tensor<4x1024xf32>, tensor<1024x2048xf32> -> tensor<4x2048xf32>
  return %0 : tensor<4x2048xf32>
}
