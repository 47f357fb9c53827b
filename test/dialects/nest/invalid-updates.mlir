// What the walks of scatters, rows and sums may not say.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func private @of_cpu(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{no lanes share a part on this target}}
  %0 = nest.loops #nest.updates<parts = 3, width = 12> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @parts(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{has 10 parts of 9 positions}}
  %0 = nest.loops #nest.updates<parts = 10, width = 12> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @empty_part(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{has 7 parts of 9 positions, some without one}}
  %0 = nest.loops #nest.updates<parts = 7, width = 12> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @side(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{8 elements of a block are not side by side; use a power of two up to 16 that divides its last dimension}}
  %0 = nest.loops #nest.updates<parts = 3, width = 8, side = 8> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @width(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{a warp takes 24 elements of blocks of 12, and 32 lanes with 1 take 32 at most}}
  %0 = nest.loops #nest.updates<parts = 3, width = 24> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @together(%x: tensor<9x12xf32>, %i: tensor<4x1xi32>, %u: tensor<4x12xf32>) -> tensor<9x12xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{reads 0 indices at once}}
  %0 = nest.loops #nest.updates<parts = 3, width = 12, together = 0> to [#nest.place<result 0>] {
    %1 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x12xf32>, tensor<4x1xi32>, tensor<4x12xf32> -> tensor<9x12xf32>
    nest.store %1 : tensor<9x12xf32>
  } : tensor<9x12xf32>
  return %0 : tensor<9x12xf32>
}

// -----

func.func private @no_scatter(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{'weft.cumulative' is no scatter}}
  %0 = nest.loops #nest.updates<parts = 1, width = 1> to [#nest.place<result 0>] {
    %1 = weft.cumulative sum %x dim 0 : tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @sums_side(%x: tensor<64x10xf32>) -> tensor<10xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{4 does not divide the last dimension of a stored value}}
  %0 = nest.loops #nest.sums<block = 0, side = 4> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<64x10xf32> -> tensor<10xf32>
    nest.store %1 : tensor<10xf32>
  } : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

func.func private @sums_together(%x: tensor<64x10xf32>) -> tensor<10xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{0 terms of 1 elements are read at once; use a power of two up to 16 for the elements}}
  %0 = nest.loops #nest.sums<block = 0, together = 0> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<64x10xf32> -> tensor<10xf32>
    nest.store %1 : tensor<10xf32>
  } : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

func.func private @sums_lanes(%x: tensor<64x10xf32>) -> tensor<10xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{48 lanes share an element; use a power of two up to 32}}
  %0 = nest.loops #nest.sums<block = 0, lanes = 48> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<64x10xf32> -> tensor<10xf32>
    nest.store %1 : tensor<10xf32>
  } : tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

func.func private @rows_together(%x: tensor<64x10xf32>) -> tensor<64xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{reads 4 columns at once and keeps 1; lanes that keep none read several}}
  %0 = nest.loops #nest.rows<dims = 1, lanes = 32, held = 1, together = 4> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<64x10xf32> -> tensor<64xf32>
    nest.store %1 : tensor<64xf32>
  } : tensor<64xf32>
  return %0 : tensor<64xf32>
}
