// Kernels that a library may compute say how; their bodies stay. On CPUs there are none.
// RUN: weft-opt %s --weft-choose-libraries=target=cuda:sm_80 | FileCheck %s
// RUN: weft-opt %s --weft-choose-libraries=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-NOT: plan.library

// CHECK: @dot(%{{.*}}) {{.*}}{plan.library = #plan.contraction<batch[], rows[64, 128, 0, 64], columns[64, 0, 1, 1], contract[128, 1, 64, 0], sums f32, epilogue none, compute full>
// CHECK: weft.dot
func.func private @dot(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// A product of 16 x 16 x 128: too little to be worth a call.
// CHECK: @small(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @small(%x: tensor<16x128xf32>, %w: tensor<128x16xf32>) -> tensor<16x16xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x128xf32>, tensor<128x16xf32> -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// Transposes are other strides: the gradients of a dense layer.
// CHECK: @of_weights(%{{.*}}) {{.*}} rows[128, 1, 0, 64], columns[64, 0, 1, 1], contract[32, 128, 64, 0], sums f32, epilogue none
func.func private @of_weights(%x: tensor<32x128xf32>, %g: tensor<32x64xf32>) -> tensor<128x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %g contract [0] x [0] : tensor<32x128xf32>, tensor<32x64xf32> -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}
// CHECK: @of_input(%{{.*}}) {{.*}} rows[32, 64, 0, 128], columns[128, 0, 64, 1], contract[64, 1, 1, 0], sums f32, epilogue none
func.func private @of_input(%g: tensor<32x64xf32>, %w: tensor<128x64xf32>) -> tensor<32x128xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %t = weft.transpose %w [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
  %0 = weft.dot %g, %t contract [1] x [0] : tensor<32x64xf32>, tensor<64x128xf32> -> tensor<32x128xf32>
  return %0 : tensor<32x128xf32>
}

// A batch of matrices whose heads lie beside each other: calls for each sample, of all heads.
// CHECK: @heads(%{{.*}}) {{.*}}batch[2, 8192, 8192, 16384, 4, 32, 32, 4096], rows[64, 128, 0, 64], columns[64, 0, 128, 1], contract[32, 1, 1, 0], sums f32
func.func private @heads(%q: tensor<2x64x4x32xf32>, %k: tensor<2x64x4x32xf32>) -> tensor<2x4x64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : tensor<2x64x4x32xf32>, tensor<2x64x4x32xf32> -> tensor<2x4x64x64xf32>
  return %0 : tensor<2x4x64x64xf32>
}

// Sums of short floats are rounded once, as they are stored.
// CHECK: @short(%{{.*}}) -> tensor<64x64xbf16> {{.*}} sums f32, epilogue none
func.func private @short(%x: tensor<64x128xbf16>, %w: tensor<128x64xbf16>) -> tensor<64x64xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
  %1 = weft.convert %0 : tensor<64x64xf32> -> tensor<64x64xbf16>
  return %1 : tensor<64x64xbf16>
}

// CHECK: @dense(%{{.*}}) {{.*}} epilogue bias_relu
func.func private @dense(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %1, %0 : tensor<64x64xf32>
  %3 = weft.relu %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}
// CHECK: @bias(%{{.*}}) {{.*}} epilogue bias,
func.func private @bias(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
// CHECK: @relu(%{{.*}}) {{.*}} epilogue relu
func.func private @relu(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.relu %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// No epilogue of a library: a bias of rows, the sums subtracted, another function, a bias that short sums would be rounded for.
// CHECK: @rows(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @rows(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [0] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %0, %1 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
// CHECK: @subtracted(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @subtracted(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.sub %1, %0 : tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
// CHECK: @tanh(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @tanh(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  %1 = weft.tanh %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
// CHECK: @rounded(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @rounded(%x: tensor<64x128xbf16>, %w: tensor<128x64xbf16>, %b: tensor<64xf32>) -> tensor<64x64xbf16> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
  %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %2 = weft.add %0, %1 : tensor<64x64xf32>
  %3 = weft.convert %2 : tensor<64x64xf32> -> tensor<64x64xbf16>
  return %3 : tensor<64x64xbf16>
}

// No matrix of a library: terms of two dimensions that are not adjacent in memory, whole numbers.
// CHECK: @every_other(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @every_other(%x: tensor<64x128x2xf32>, %w: tensor<128x2x64x2xf32>) -> tensor<64x64x2xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1, 2] x [0, 3] : tensor<64x128x2xf32>, tensor<128x2x64x2xf32> -> tensor<64x2x64xf32>
  %1 = weft.reshape %0 : tensor<64x2x64xf32> -> tensor<64x64x2xf32>
  return %1 : tensor<64x64x2xf32>
}
// CHECK: @whole(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @whole(%x: tensor<64x128xi32>, %w: tensor<128x64xi32>) -> tensor<64x64xi32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xi32>, tensor<128x64xi32> -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// An array with itself: the library has two operands, so calls pass the array twice.
// CHECK: @squared(%[[X:.*]]: tensor<64x64xf32>, %[[Y:.*]]: tensor<64x64xf32>) {{.*}} rows[64, 64, 0, 64], columns[64, 0, 1, 1], contract[64, 1, 64, 0], sums
// CHECK: weft.dot %[[X]], %[[Y]]
func.func private @squared(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %x contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
// CHECK: func.func @square(%[[X:[^:]*]]
// CHECK: call @squared(%[[X]], %[[X]])
func.func @square(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = call @squared(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Queries and keys are slices of one array, from elements 0 and 128 of a row on. The fewest calls: one for each of two
// samples, with all eight heads.
// CHECK: @slices(%[[X:.*]]: tensor<2x64x384xf32>, %[[Y:.*]]: tensor<2x64x384xf32>) {{.*}}batch[2, 24576, 24576, 32768, 8, 16, 16, 4096], rows[64, 384, 0, 64], columns[64, 0, 384, 1], contract[16, 1, 1, 0] first[0, 128], sums f32
// CHECK: weft.reshape %[[X]]
// CHECK: weft.reshape %[[Y]]
func.func private @slices(%qkv: tensor<2x64x384xf32>) -> tensor<2x8x64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.reshape %qkv : tensor<2x64x384xf32> -> tensor<2x64x3x8x16xf32>
  %1 = weft.slice %0 from [0, 0, 0, 0, 0] to [2, 64, 1, 8, 16] by [1, 1, 1, 1, 1] : tensor<2x64x3x8x16xf32> -> tensor<2x64x1x8x16xf32>
  %q = weft.reshape %1 : tensor<2x64x1x8x16xf32> -> tensor<2x64x8x16xf32>
  %2 = weft.slice %0 from [0, 0, 1, 0, 0] to [2, 64, 2, 8, 16] by [1, 1, 1, 1, 1] : tensor<2x64x3x8x16xf32> -> tensor<2x64x1x8x16xf32>
  %k = weft.reshape %2 : tensor<2x64x1x8x16xf32> -> tensor<2x64x8x16xf32>
  %3 = weft.dot %q, %k batch [0, 2] x [0, 2] contract [3] x [3] : tensor<2x64x8x16xf32>, tensor<2x64x8x16xf32> -> tensor<2x8x64x64xf32>
  return %3 : tensor<2x8x64x64xf32>
}
// Every third row of an array, and of the other its last columns.
// CHECK: @strided(%{{.*}}) {{.*}}rows[64, 384, 0, 64], columns[64, 0, 1, 1], contract[128, 1, 96, 0] first[128, 32], sums f32
func.func private @strided(%x: tensor<192x128xf32>, %w: tensor<128x96xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.slice %x from [1, 0] to [192, 128] by [3, 1] : tensor<192x128xf32> -> tensor<64x128xf32>
  %1 = weft.slice %w from [0, 32] to [128, 96] by [1, 1] : tensor<128x96xf32> -> tensor<128x64xf32>
  %2 = weft.dot %0, %1 contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
// Every other column is no matrix of a library.
// CHECK: @every_other_column(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @every_other_column(%x: tensor<64x256xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.slice %x from [0, 0] to [64, 256] by [1, 2] : tensor<64x256xf32> -> tensor<64x128xf32>
  %1 = weft.dot %0, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
// Heads that are transposed and joined: the terms are one dimension of stride 64, and the samples are a batch, in each of
// which the weights are the same.
// CHECK: @projection(%{{.*}}) {{.*}}batch[2, 4096, 0, 2048], rows[64, 1, 0, 32], columns[32, 0, 1, 1], contract[64, 64, 32, 0], sums f32
func.func private @projection(%x: tensor<2x4x16x64xf32>, %w: tensor<64x32xf32>) -> tensor<2x64x32xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.transpose %x [0, 3, 1, 2] : tensor<2x4x16x64xf32> -> tensor<2x64x4x16xf32>
  %1 = weft.reshape %0 : tensor<2x64x4x16xf32> -> tensor<2x64x64xf32>
  %2 = weft.dot %1, %w contract [2] x [0] : tensor<2x64x64xf32>, tensor<64x32xf32> -> tensor<2x64x32xf32>
  return %2 : tensor<2x64x32xf32>
}
