// Memory of values that only their kernel reads: a result's where one can share
// it, a worker's stack where they are small, else memory that the plan gives.
// RUN: weft-opt %s --split-input-file --weft-choose-nests=target=cpu:avx2 | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-choose-nests=target=cpu:generic -o /dev/null
// RUN: weft-opt %s --split-input-file --weft-choose-nests=target=cpu:avx512 -o /dev/null

// A transform of this length works on two lines of complex numbers, and on two
// groups of 16 columns of 512.
// CHECK-LABEL: func.func private @transform
// CHECK-SAME: nest.kernel = #nest.kernel<target = "cpu:avx2", planned = 2228224>
// CHECK-SAME: weft.scratch = 2228224 : i64
func.func private @transform(%x: tensor<131072xcomplex<f32>>) -> tensor<131072xcomplex<f32>> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.fft fft %x dim 0 : tensor<131072xcomplex<f32>> -> tensor<131072xcomplex<f32>>
  return %0 : tensor<131072xcomplex<f32>>
}

// -----

// A third line has the spectrum of a prime length's chirp.
// CHECK-LABEL: func.func private @prime
// CHECK-SAME: planned = 6422528>
func.func private @prime(%x: tensor<65537xcomplex<f32>>) -> tensor<65537xcomplex<f32>> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.fft fft %x dim 0 : tensor<65537xcomplex<f32>> -> tensor<65537xcomplex<f32>>
  return %0 : tensor<65537xcomplex<f32>>
}

// -----

// A leaky ReLU uses the sums twice, once as booleans. They wait in the memory
// of the result for the last block of the contraction.
// CHECK-LABEL: func.func private @leaky
// CHECK-NOT: planned
// CHECK: nest.loops #nest.contraction<packed{{.*}} to [#nest.place<result 0>, #nest.place<result 0>]
func.func private @leaky(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %1 = weft.constant dense<0.0> : tensor<512x512xf32>
  %2 = weft.constant dense<0.1> : tensor<512x512xf32>
  %3 = weft.compare gt %0, %1 : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xi1>
  %4 = weft.mul %0, %2 : tensor<512x512xf32>
  %5 = weft.select %3, %0, %4 : tensor<512x512xi1>, tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  return %5 : tensor<512x512xf32>
}

// -----

// The sums of several blocks are wider than the result, so that they have
// memory of their own.
// CHECK-LABEL: func.func private @narrowed
// CHECK-SAME: planned = 1048576
// CHECK-SAME: weft.scratch = 1048576 : i64
// CHECK: nest.loops #nest.contraction<packed{{.*}} to [#nest.place<planned 0>, #nest.place<result 0>]
func.func private @narrowed(%x: tensor<512x512xbf16>, %w: tensor<512x512xbf16>) -> tensor<512x512xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x512xbf16>, tensor<512x512xbf16> -> tensor<512x512xf32>
  %1 = weft.convert %0 : tensor<512x512xf32> -> tensor<512x512xbf16>
  return %1 : tensor<512x512xbf16>
}

// -----

// Sums of one block are never in memory.
// CHECK-LABEL: func.func private @short
// CHECK-NOT: planned
// CHECK: nest.loops #nest.contraction<packed{{.*}} to [#nest.place<result 0>]
func.func private @short(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<512x256xbf16>, tensor<256x512xbf16> -> tensor<512x512xf32>
  %1 = weft.convert %0 : tensor<512x512xf32> -> tensor<512x512xbf16>
  return %1 : tensor<512x512xbf16>
}

// -----

// Small values are on the stack, a large one is not.
// CHECK-LABEL: func.func private @rows
// CHECK-SAME: scratch = 64, planned = 4194304
// CHECK-DAG: nest.loops #nest.reduction{{.*}} to [#nest.place<planned 0>]
// CHECK-DAG: nest.loops #nest.reduction{{.*}} to [#nest.place<scratch 0>]
func.func private @rows(%x: tensor<1048576x2xf32>) -> tensor<1048576xbf16> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce max %x dims [1] : tensor<1048576x2xf32> -> tensor<1048576xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<1048576xf32> -> tensor<f32>
  %2 = weft.broadcast %1 dims [] : tensor<f32> -> tensor<1048576xf32>
  %3 = weft.sub %0, %2 : tensor<1048576xf32>
  %4 = weft.convert %3 : tensor<1048576xf32> -> tensor<1048576xbf16>
  return %4 : tensor<1048576xbf16>
}
