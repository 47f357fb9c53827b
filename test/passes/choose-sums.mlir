// On GPUs a thread combines the terms of an element of a contraction, or of a reduction that does not walk over rows. More than
// 256 terms are combined in blocks of the root of their count. The operands of the terms are computed in the nest.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_80 | FileCheck %s

func.func private @dot(%x: tensor<160x784xf64>, %w: tensor<784x2000xf64>) -> tensor<160x2000xf64> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<160x784xf64>, tensor<784x2000xf64> -> tensor<160x2000xf64>
  return %0 : tensor<160x2000xf64>
}
// CHECK-LABEL: @dot
// CHECK-NOT: reason
// CHECK: nest.loops #nest.sums<block = 28> to [#nest.place<result 0>]

// Eight threads share an element where few elements have many terms.
func.func private @moments(%x: tensor<4096x64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.mul %x, %x : tensor<4096x64xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<4096x64xf32> -> tensor<64xf32>
  %2 = weft.mul %1, %y : tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: @moments
// CHECK: nest.loops #nest.sums<block = 22, lanes = 8> to [#nest.place<result 0>, #nest.place<result 1>]

func.func private @bias_gradient(%x: tensor<16x10xf32>, %y: tensor<16x10xf32>) -> tensor<10xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.sub %x, %y : tensor<16x10xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<16x10xf32> -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
// CHECK-LABEL: @bias_gradient
// CHECK: nest.loops #nest.sums<block = 0>
// CHECK-NEXT: weft.sub
// CHECK-NEXT: weft.reduce

func.func private @row(%x: tensor<16x10xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<16x10xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: @row
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 32, held = 1>

// A block takes a longer row, 16 bytes at a time; a row that registers cannot hold is read again.
func.func private @long_rows(%x: tensor<16x4096xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<16x4096xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: @long_rows
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 256, held = 16, side = 4>
func.func private @very_long_rows(%x: tensor<16x40960xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<16x40960xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: @very_long_rows
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 256>

// A thread takes 16 bytes of the widest type where every processor gets a block, and one element otherwise.
func.func private @wide(%x: tensor<512x512xbf16>) -> tensor<512x512xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.convert %x : tensor<512x512xbf16> -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
// CHECK-LABEL: @wide
// CHECK: nest.loops #nest.elements<flat, side = 4>
func.func private @narrow(%x: tensor<64x64xbf16>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
  %0 = weft.convert %x : tensor<64x64xbf16> -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
// CHECK-LABEL: @narrow
// CHECK: nest.loops #nest.elements<flat>
