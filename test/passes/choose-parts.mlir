// Where a contraction has fewer tiles than the GPU has processors (132, of sm_90a), blocks share the depth of a tile: the first
// nest stores their sums, the second adds them up in order. TileChoice.cpp has the model.
// RUN: weft-opt %s --weft-choose-nests=target=cuda:sm_90a | FileCheck %s

// The gradient of a kernel of 3x3: 9 x 12 sums of 200,704 products.
func.func private @of_weights(%x: tensor<256x28x28x1xf32>, %g: tensor<256x28x28x12xf32>) -> tensor<3x3x1x12xf32> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.convolution %x, %g {lhs_dims = array<i64: 3, 0, 1, 2>, rhs_dims = array<i64: 3, 0, 1, 2>, result_dims = array<i64: 2, 3, 0, 1>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<256x28x28x1xf32>, tensor<256x28x28x12xf32> -> tensor<3x3x1x12xf32>
  return %0 : tensor<3x3x1x12xf32>
}
// CHECK-LABEL: @of_weights
// CHECK-SAME: planned = [[BYTES:[0-9]+]]
// CHECK-SAME: weft.scratch = [[BYTES]]
// CHECK: %[[P:.*]] = nest.loops #nest.tiles<fma, {{.*}}, parts = [[N:2[0-9][0-9]]]> to [#nest.place<planned 0>]
// CHECK: %[[S:.*]] = weft.convolution
// CHECK-NEXT: %[[D:.*]] = nest.parts %[[S]] : tensor<3x3x1x12xf32> -> tensor<[[N]]x3x3x1x12xf32>
// CHECK-NEXT: nest.store %[[D]]
// CHECK: %[[R:.*]] = nest.loops #nest.sums<{{.*}}> to [#nest.place<result 0>]
// CHECK-NEXT: weft.reduce sum %[[P]] dims [0]
// CHECK: return %[[R]]

// What follows is computed on the sum of the parts; bf16 is multiplied on tensor cores.
func.func private @with_epilogue(%x: tensor<16384x64xbf16>, %g: tensor<16384x64xbf16>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xbf16>) attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %g contract [0] x [0] : tensor<16384x64xbf16>, tensor<16384x64xbf16> -> tensor<64x64xf32>
  %1 = weft.add %0, %w : tensor<64x64xf32>
  %2 = weft.convert %0 : tensor<64x64xf32> -> tensor<64x64xbf16>
  return %1, %2 : tensor<64x64xf32>, tensor<64x64xbf16>
}
// CHECK-LABEL: @with_epilogue
// CHECK: nest.loops #nest.tiles<half, {{.*}}, parts = {{[0-9]+}}> to [#nest.place<planned 0>]
// CHECK: nest.loops #nest.sums<{{.*}}> to [#nest.place<result 0>, #nest.place<result 1>]
// CHECK: weft.reduce
// CHECK: weft.add
// CHECK: weft.convert

// Enough tiles, or a depth so short that a second launch costs more than it saves: one launch.
func.func private @many_tiles(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<4096x4096xf32>, tensor<4096x4096xf32> -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
// CHECK-LABEL: @many_tiles
// CHECK-NOT: parts
func.func private @short(%x: tensor<128x128xf32>, %w: tensor<128x64xf32>) -> tensor<128x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<128x128xf32>, tensor<128x64xf32> -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}
// CHECK-LABEL: @short
// CHECK-NOT: parts
