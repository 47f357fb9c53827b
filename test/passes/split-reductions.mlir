// Long reductions become slices for the processors of a GPU, which has 108 (sm_80); on CPUs only those of few results, whose rows workers cannot share.
// RUN: weft-opt %s --weft-split-reductions=target=cuda:sm_80 | FileCheck %s
// RUN: weft-opt %s --weft-split-reductions=target=cpu:avx2 | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: @all
// CHECK: %0 = weft.reshape %arg0 : tensor<1048576xf32> -> tensor<256x4096xf32>
// CHECK: %1 = weft.reduce sum %0 dims [1] : tensor<256x4096xf32> -> tensor<256xf32>
// CHECK: %2 = weft.reduce sum %1 dims [0] : tensor<256xf32> -> tensor<f32>
// CPU-LABEL: @all
// CPU: weft.reshape %arg0 : tensor<1048576xf32> -> tensor<32x32768xf32>
// CPU: weft.reduce sum %{{.*}} dims [1] : tensor<32x32768xf32> -> tensor<32xf32>
func.func @all(%arg0: tensor<1048576xf32>) -> tensor<f32> {
  %1 = weft.reduce sum %arg0 dims [0] : tensor<1048576xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// The squares of a gradient are computed in the slices' shape; the gradient is a view.
// CHECK-LABEL: @squares
// CHECK: %[[G:.*]] = weft.reshape %arg0 : tensor<4x262144xbf16> -> tensor<4x64x4096xbf16>
// CHECK: %[[F:.*]] = weft.convert %[[G]] : tensor<4x64x4096xbf16> -> tensor<4x64x4096xf32>
// CHECK: %[[P:.*]] = weft.reduce sum %[[F]] dims [2] : tensor<4x64x4096xf32> -> tensor<4x64xf32>
// CHECK: weft.reduce sum %[[P]] dims [0, 1] : tensor<4x64xf32> -> tensor<f32>
func.func @squares(%g: tensor<4x262144xbf16>) -> tensor<f32> {
  %0 = weft.convert %g : tensor<4x262144xbf16> -> tensor<4x262144xf32>
  %1 = weft.reduce sum %0 dims [0, 1] : tensor<4x262144xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// 64 columns keep only two blocks busy: rows are divided.
// CHECK-LABEL: @columns
// CHECK: weft.reshape %arg0 : tensor<65536x64xf32> -> tensor<128x512x64xf32>
// CHECK: weft.reduce max %{{.*}} dims [1] : tensor<128x512x64xf32> -> tensor<128x64xf32>
// CHECK: weft.reduce max %{{.*}} dims [0] : tensor<128x64xf32> -> tensor<64xf32>
// CPU-LABEL: @columns
// CPU-NOT: weft.reshape
// CPU: weft.reduce max %arg0
func.func @columns(%x: tensor<65536x64xf32>) -> tensor<64xf32> {
  %0 = weft.reduce max %x dims [0] : tensor<65536x64xf32> -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// A value that others read is stored; the slices read it.
// CHECK-LABEL: @read_twice
// CHECK: %[[E:.*]] = weft.exp %arg0 : tensor<524288xf32>
// CHECK: %[[V:.*]] = weft.reshape %[[E]] : tensor<524288xf32> -> tensor<128x4096xf32>
// CHECK: weft.reduce sum %[[V]] dims [1]
func.func @read_twice(%x: tensor<524288xf32>) -> (tensor<524288xf32>, tensor<f32>) {
  %0 = weft.exp %x : tensor<524288xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<524288xf32> -> tensor<f32>
  return %0, %1 : tensor<524288xf32>, tensor<f32>
}

// Short reductions, those with enough rows, and sizes without divisors stay.
// CHECK-LABEL: @stay
// CHECK-NOT: weft.reshape
func.func @stay(%short: tensor<65535xf32>, %rows: tensor<128x65536xf32>, %prime: tensor<1048583xf32>) -> (tensor<f32>, tensor<128xf32>, tensor<f32>) {
  %0 = weft.reduce sum %short dims [0] : tensor<65535xf32> -> tensor<f32>
  %1 = weft.reduce sum %rows dims [1] : tensor<128x65536xf32> -> tensor<128xf32>
  %2 = weft.reduce sum %prime dims [0] : tensor<1048583xf32> -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<128xf32>, tensor<f32>
}

// Random bits are read through a reshape: an element needs both words of the
// key, not those at its position.
// CHECK-LABEL: @random_bits
// CHECK: %[[B:.*]] = weft.rng_bits %arg0 : tensor<2xui32> -> tensor<1048576xui32>
// CHECK: weft.reshape %[[B]] : tensor<1048576xui32> -> tensor<256x4096xui32>
func.func @random_bits(%key: tensor<2xui32>) -> tensor<ui32> {
  %0 = weft.rng_bits %key : tensor<2xui32> -> tensor<1048576xui32>
  %1 = weft.reduce max %0 dims [0] : tensor<1048576xui32> -> tensor<ui32>
  return %1 : tensor<ui32>
}

// One element is moved, as by a look-up's check of an index with one number; a sum of floats stays, as 0 + -0 is 0.
// CHECK-LABEL: @of_one
// CHECK: weft.reshape %arg0 : tensor<8x9x1xi1> -> tensor<8x9xi1>
// CHECK: weft.reshape %arg1 : tensor<8x1x9x1xf32> -> tensor<8x9xf32>
// CHECK: weft.reduce sum %arg2
// CPU-LABEL: @of_one
// CPU: weft.reshape %arg0 : tensor<8x9x1xi1> -> tensor<8x9xi1>
// CPU: weft.reshape %arg1 : tensor<8x1x9x1xf32> -> tensor<8x9xf32>
// CPU: weft.reduce sum %arg2
func.func @of_one(%x: tensor<8x9x1xi1>, %y: tensor<8x1x9x1xf32>, %z: tensor<8x9x1xf32>) -> (tensor<8x9xi1>, tensor<8x9xf32>, tensor<8x9xf32>) {
  %0 = weft.reduce and %x dims [2] : tensor<8x9x1xi1> -> tensor<8x9xi1>
  %1 = weft.reduce max %y dims [1, 3] : tensor<8x1x9x1xf32> -> tensor<8x9xf32>
  %2 = weft.reduce sum %z dims [2] : tensor<8x9x1xf32> -> tensor<8x9xf32>
  return %0, %1, %2 : tensor<8x9xi1>, tensor<8x9xf32>, tensor<8x9xf32>
}
