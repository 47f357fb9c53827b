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

// No matrix of a library: every other column, whole numbers, one array for both operands.
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
// CHECK: @squared(%{{.*}}) {{.*}} attributes {weft.kernel
func.func private @squared(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %x contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
