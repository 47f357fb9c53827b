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

// Up to 32 threads share an element where few elements have many terms; each loads adjacent elements of eight rows at once.
func.func private @moments(%x: tensor<4096x64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.mul %x, %x : tensor<4096x64xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<4096x64xf32> -> tensor<64xf32>
  %2 = weft.mul %1, %y : tensor<64xf32>
  return %1, %2 : tensor<64xf32>, tensor<64xf32>
}
// CHECK-LABEL: @moments
// CHECK: nest.loops #nest.sums<block = 0, lanes = 32, side = 2, together = 8> to [#nest.place<result 0>, #nest.place<result 1>]

func.func private @bias_gradient(%x: tensor<16x10xf32>, %y: tensor<16x10xf32>) -> tensor<10xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.sub %x, %y : tensor<16x10xf32>
  %1 = weft.reduce sum %0 dims [0] : tensor<16x10xf32> -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
// CHECK-LABEL: @bias_gradient
// CHECK: nest.loops #nest.sums<block = 0, together = 8>
// CHECK-NEXT: weft.sub
// CHECK-NEXT: weft.reduce

func.func private @row(%x: tensor<16x10xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.reduce sum %x dims [1] : tensor<16x10xf32> -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
// CHECK-LABEL: @row
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 32, held = 1>

// A block takes a longer row, 16 bytes at a time; a row that registers cannot hold is read again, eight columns at once.
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
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 256, together = 8>

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

// A bias gradient of 16384 rows: a block of threads reads 64 adjacent bytes of a row, and there are two blocks for each processor.
func.func private @columns(%x: tensor<4x4096x2304xbf16>) -> tensor<4x2304xf32> attributes {weft.kernel = #weft.kernel<reduce>} {
  %0 = weft.reduce sum %x dims [1] : tensor<4x4096x2304xbf16> -> tensor<4x2304xf32>
  return %0 : tensor<4x2304xf32>
}
// CHECK-LABEL: @columns
// CHECK: nest.loops #nest.sums<block = 0, lanes = 32, side = 4, together = 8>

// A layer norm of 1024 columns keeps 32 in registers; it has 18 ops, and is read once.
func.func private @layer_norm(%x: tensor<32768x1024xf32>, %s: tensor<1024xf32>, %o: tensor<1024xf32>) -> tensor<32768x1024xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %n = weft.constant dense<1.024000e+03> : tensor<32768xf32>
  %e = weft.constant dense<9.99999974E-6> : tensor<32768xf32>
  %0 = weft.reduce sum %x dims [1] : tensor<32768x1024xf32> -> tensor<32768xf32>
  %1 = weft.div %0, %n : tensor<32768xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<32768xf32> -> tensor<32768x1024xf32>
  %3 = weft.sub %x, %2 : tensor<32768x1024xf32>
  %4 = weft.mul %3, %3 : tensor<32768x1024xf32>
  %5 = weft.reduce sum %4 dims [1] : tensor<32768x1024xf32> -> tensor<32768xf32>
  %6 = weft.div %5, %n : tensor<32768xf32>
  %7 = weft.add %6, %e : tensor<32768xf32>
  %8 = weft.sqrt %7 : tensor<32768xf32>
  %9 = weft.broadcast %8 dims [0] : tensor<32768xf32> -> tensor<32768x1024xf32>
  %10 = weft.div %3, %9 : tensor<32768x1024xf32>
  %11 = weft.broadcast %s dims [1] : tensor<1024xf32> -> tensor<32768x1024xf32>
  %12 = weft.mul %10, %11 : tensor<32768x1024xf32>
  %13 = weft.broadcast %o dims [1] : tensor<1024xf32> -> tensor<32768x1024xf32>
  %14 = weft.add %12, %13 : tensor<32768x1024xf32>
  return %14 : tensor<32768x1024xf32>
}
// CHECK-LABEL: @layer_norm
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 32, held = 32, side = 4>

// Warps own parts of an embedding's gradient: 3 pieces of each row, 704 parts of 72 rows.
func.func private @embedding(%ids: tensor<16384x1xi32>, %u: tensor<16384x768xbf16>) -> tensor<50257x768xbf16> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.constant dense<0.000000e+00> : tensor<50257x768xbf16>
  %1 = weft.scatter sum %0 at %ids with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<50257x768xbf16>, tensor<16384x1xi32>, tensor<16384x768xbf16> -> tensor<50257x768xbf16>
  return %1 : tensor<50257x768xbf16>
}
// CHECK-LABEL: @embedding
// CHECK: nest.loops #nest.updates<parts = {{[0-9]+}}, width = 256, side = 8, together = 4>

// A scatter into one dimension is divided, too.
func.func private @histogram(%ids: tensor<1048576x1xi32>, %u: tensor<1048576xf32>) -> tensor<1000xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.constant dense<0.000000e+00> : tensor<1000xf32>
  %1 = weft.scatter sum %0 at %ids with %u {inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<1000xf32>, tensor<1048576x1xi32>, tensor<1048576xf32> -> tensor<1000xf32>
  return %1 : tensor<1000xf32>
}
// CHECK-LABEL: @histogram
// CHECK: nest.loops #nest.updates<parts = 1000, width = 1, together = 4>
