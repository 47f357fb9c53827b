// Epilogues that a nest cannot compute on its sums, each refused by name.
// RUN: weft-opt %s --split-input-file --verify-diagnostics -o /dev/null

func.func private @columns(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<16x32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{walks as #nest.contraction<columns, tile[4, 2]> but cannot store the epilogue of 'weft.dot': only packed loops compute an epilogue; give it a nest}}
  %0 = nest.loops #nest.contraction<columns, tile[4, 2]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.relu %1 : tensor<16x32xf32>
    nest.store %2 : tensor<16x32xf32>
  } : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

func.func private @own(%x: tensor<8x4xf32>) -> tensor<8x4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{walks as #nest.own but cannot store the epilogue of 'weft.cumulative': its loops compute nothing behind the op}}
  %0 = nest.loops #nest.own to [#nest.place<result 0>] {
    %1 = weft.cumulative sum %x dim 1 : tensor<8x4xf32>
    %2 = weft.neg %1 : tensor<8x4xf32>
    nest.store %2 : tensor<8x4xf32>
  } : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func private @blocks(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<16x32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{it adds up 24 products in blocks of 8 and does not store the sums of the first ones}}
  %0 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 8]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.relu %1 : tensor<16x32xf32>
    nest.store %2 : tensor<16x32xf32>
  } : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

func.func private @twice(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<16x32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{does not store the results of 'weft.dot', each once}}
  %0:3 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 24]> to [#nest.place<result 0>, #nest.place<result 0>, #nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.relu %1 : tensor<16x32xf32>
    nest.store %1, %1, %2 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  } : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
  return %0#2 : tensor<16x32xf32>
}

// -----

func.func private @shape(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<32x16xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{it has another shape; give it a nest}}
  %0 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 24]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.transpose %1 [1, 0] : tensor<16x32xf32> -> tensor<32x16xf32>
    nest.store %2 : tensor<32x16xf32>
  } : tensor<32x16xf32>
  return %0 : tensor<32x16xf32>
}

// -----

func.func private @elsewhere(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<16x32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{it reads other positions of a value stored beside it; give it a nest}}
  %0 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 24]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.reverse %1 dims [0] : tensor<16x32xf32>
    %3 = weft.add %1, %2 : tensor<16x32xf32>
    nest.store %3 : tensor<16x32xf32>
  } : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// -----

func.func private @tile(%x: tensor<16x24xf32>, %w: tensor<24x8x12xf32>, %b: tensor<8x12xf32>) -> tensor<16x8x12xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{the 8 columns of a tile are not side by side in its last dimension}}
  %0 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 24]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x8x12xf32> -> tensor<16x8x12xf32>
    %2 = weft.broadcast %b dims [1, 2] : tensor<8x12xf32> -> tensor<16x8x12xf32>
    %3 = weft.add %1, %2 : tensor<16x8x12xf32>
    nest.store %3 : tensor<16x8x12xf32>
  } : tensor<16x8x12xf32>
  return %0 : tensor<16x8x12xf32>
}

// -----

func.func private @place(%x: tensor<16x24xf32>, %w: tensor<24x32xf32>) -> tensor<16x32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:generic", scratch = 65536>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{stores a value in #nest.place<result 0>, where kernel 'place' still needs one}}
  %0:2 = nest.loops #nest.contraction<packed, tile[4, 2], blocks[8, 16, 24]> to [#nest.place<result 0>, #nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<16x24xf32>, tensor<24x32xf32> -> tensor<16x32xf32>
    %2 = weft.relu %1 : tensor<16x32xf32>
    %3 = weft.neg %1 : tensor<16x32xf32>
    nest.store %2, %3 : tensor<16x32xf32>, tensor<16x32xf32>
  } : tensor<16x32xf32>, tensor<16x32xf32>
  return %0#1 : tensor<16x32xf32>
}
