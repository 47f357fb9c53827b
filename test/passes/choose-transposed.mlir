// Transposed operands are read by tiles in shared memory: a block of a GPU loads neighbours of them and stores neighbours of the
// result. A reversed one is transposed, too; a value computed of an argument in front of a transpose is taken to lie as the argument.
// A CPU walks over such tiles.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_80 | FileCheck %s
// RUN: weft-opt %s --weft-choose-nests=target=cpu:avx2 | FileCheck %s --check-prefix=CPU
// CPU-LABEL: @turn(
// CPU: nest.loops #nest.transposed<along = 0>
// CPU-LABEL: @heads(
// CPU: nest.loops #nest.elements<dimensions>

// CHECK-LABEL: @turn(
// CHECK: nest.loops #nest.transposed<along = 0>
func.func private @turn(%x: tensor<300x500xf32>, %y: tensor<500x300xf32>) -> tensor<500x300xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.exp %x : tensor<300x500xf32>
  %1 = weft.transpose %0 [1, 0] : tensor<300x500xf32> -> tensor<500x300xf32>
  %2 = weft.reverse %1 dims [0] : tensor<500x300xf32>
  %3 = weft.add %2, %y : tensor<500x300xf32>
  return %3 : tensor<500x300xf32>
}

// Results of an `elementwise` kernel may lie in the memory of arguments of their type, which are read at their own position.
// CHECK-LABEL: @inplace(
// CHECK: #nest.transposed<along = 0>
func.func private @inplace(%x: tensor<300x500xf32>, %y: tensor<500x300xf32>) -> tensor<500x300xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.transpose %x [1, 0] : tensor<300x500xf32> -> tensor<500x300xf32>
  %1 = weft.sub %0, %y : tensor<500x300xf32>
  return %1 : tensor<500x300xf32>
}

// The 64 numbers of a head stay neighbours, which needs no tiles.
// CHECK-LABEL: @heads(
// CHECK: #nest.elements<dimensions
func.func private @heads(%x: tensor<8x128x12x64xf32>) -> tensor<8x12x128x64xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [0, 2, 1, 3] : tensor<8x128x12x64xf32> -> tensor<8x12x128x64xf32>
  return %0 : tensor<8x12x128x64xf32>
}

// Tiles go along the dimension of the operand with more bytes, here f32.
// CHECK-LABEL: @more(
// CHECK: #nest.transposed<along = 1>
func.func private @more(%x: tensor<40x50x60xbf16>, %y: tensor<60x50x40xf32>) -> tensor<60x40x50xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [2, 0, 1] : tensor<40x50x60xbf16> -> tensor<60x40x50xbf16>
  %1 = weft.transpose %y [0, 2, 1] : tensor<60x50x40xf32> -> tensor<60x40x50xf32>
  %2 = weft.convert %0 : tensor<60x40x50xbf16> -> tensor<60x40x50xf32>
  %3 = weft.add %2, %1 : tensor<60x40x50xf32>
  return %3 : tensor<60x40x50xf32>
}

// Tiles are at least half full in both dimensions.
// CHECK-LABEL: @narrow(
// CHECK: #nest.elements<dimensions>
func.func private @narrow(%x: tensor<15x500xf32>) -> tensor<500x15xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [1, 0] : tensor<15x500xf32> -> tensor<500x15xf32>
  return %0 : tensor<500x15xf32>
}

// Channels first, from channels last: dimension 1 of the result is contiguous in the operand.
// CHECK-LABEL: @channels(
// CHECK: #nest.transposed<along = 1>
func.func private @channels(%x: tensor<8x28x28x64xbf16>) -> tensor<8x64x28x28xbf16> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.transpose %x [0, 3, 1, 2] : tensor<8x28x28x64xbf16> -> tensor<8x64x28x28xbf16>
  return %0 : tensor<8x64x28x28xbf16>
}
