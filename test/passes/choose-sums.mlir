// On GPUs a thread combines the terms of an element: of a contraction, and of a reduction that is no walk over rows. More than
// 256 terms are combined in blocks of the root of their count. What the terms are made of is computed in the nest.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_80 | FileCheck %s

func.func private @dot(%x: tensor<16x784xf32>, %w: tensor<784x200xf32>) -> tensor<16x200xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
  return %0 : tensor<16x200xf32>
}
// CHECK-LABEL: @dot
// CHECK-NOT: reason
// CHECK: nest.loops #nest.sums<block = 28> to [#nest.place<result 0>]

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
// CHECK: nest.loops #nest.rows<dims = 1, lanes = 32>
