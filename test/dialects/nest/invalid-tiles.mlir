// What tiles of sums, and their parts, may not say.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func private @tiles_of_cpu(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but 'cpu:avx2' has no shared memory; choose nests for it}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @tiles_of_types(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but it multiplies two bf16 or two f16}}
  %0 = nest.loops #nest.tiles<half, block[32, 32, 16], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 4>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @tiles_of_parts(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but cuts a block of 64 x 32 into warp tiles of 16 x 8; a block has 8 warps, each of one tile}}
  %0 = nest.loops #nest.tiles<fma, block[64, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @tiles_too_large(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but needs 52224 bytes of shared memory; a block has 49152}}
  %0 = nest.loops #nest.tiles<tf32, block[128, 128, 16], warp[64, 32], stages = 3, lhs = <rows, 4>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @tiles_of_stages(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but has 1 stages; use 2 to 8}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 1, lhs = <depth, 4>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @copies_along_the_depth(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but of f32 the rows lie side by side in shared memory; copy 4 bytes of lhs at a time along the depth}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 16>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @copies_apart(%x: tensor<64x33xbf16>, %w: tensor<33x64xbf16>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but 8 elements of lhs along its depth do not lie side by side from multiples of 16 bytes on}}
  %0 = nest.loops #nest.tiles<half, block[32, 32, 16], warp[16, 8], stages = 2, lhs = <depth, 16>, rhs = <rows, 16>> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x33xbf16>, tensor<33x64xbf16> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @tiles_of_columns(%x: tensor<64x32xf32>) -> tensor<32xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{but the terms of 'weft.reduce' are no products of rows and columns}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 0>, rhs = <rows, 0>> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<64x32xf32> -> tensor<32xf32>
    nest.store %1 : tensor<32xf32>
  } : tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

func.func private @parts_c1(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 16>, parts = 2> to [#nest.place<planned 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    // expected-error @below {{divides 'tensor<64x64xf32>' into 'tensor<64x2x64xf32>'; parts are floats of the same type and shape, at least two along a new first dimension}}
    %2 = nest.parts %1 : tensor<64x64xf32> -> tensor<64x2x64xf32>
    nest.store %2 : tensor<64x2x64xf32>
  } : tensor<64x2x64xf32>
  return %x : tensor<64x64xf32>
}

// -----

func.func private @parts_c2(%x: tensor<64x32xf32>) -> tensor<2x64x32xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  %0 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
    %1 = weft.relu %x : tensor<64x32xf32>
    // expected-error @below {{stands in no nest of tiles; write #nest.tiles<..., parts = 2>}}
    %2 = nest.parts %1 : tensor<64x32xf32> -> tensor<2x64x32xf32>
    nest.store %2 : tensor<2x64x32xf32>
  } : tensor<2x64x32xf32>
  return %0 : tensor<2x64x32xf32>
}

// -----

func.func private @more_parts_than_steps(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but divides 4 steps of the depth into 3 parts; each takes one step or more}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 16>, parts = 3> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @parts_that_are_not_stored(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but has 2 parts and stores 1; store the nest.parts of the sums alone, as many, or no parts}}
  %0 = nest.loops #nest.tiles<fma, block[32, 32, 8], warp[16, 8], stages = 2, lhs = <depth, 4>, rhs = <rows, 16>, parts = 2> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
