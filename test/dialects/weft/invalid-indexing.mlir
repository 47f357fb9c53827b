// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @gather_c1_type(%x: tensor<4x6xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{indices are integers, not}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xf32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_vector(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{index_vector_dim 2 is out of the indices' rank 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 2 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_blocks(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 2 of blocks is out of the rank 2}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_input(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dims of the input should be distinct and rise, but 0 follows 0}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_map(%x: tensor<4x6xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{dims of the index map should be distinct, but 0 follows 0}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0, 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3x2xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_batching(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{has 1 batching dims of the input, but 0 of the indices}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64, operand_batching_dims = array<i64: 0>} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_batching_size(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{batching dim 0 of the input has size 4, which is not that of dim 0 of the indices}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_size(%x: tensor<4x6xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{maps 1 indices, but a vector has 2}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3x2xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_block(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{that are neither collapsed nor batching}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice size of dim 1 is 7, the most is 6}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 7>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x7xf32>
  return
}

// -----

func.func @gather_c2_collapsed(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice size of dim 0 is 2, collapsed and batching dims have 1, not more than 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 2, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c2_count(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice_sizes has 1 entries for 2 dimensions}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 1 of the result has size 5, but slices 6}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c3_batch(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 0 of results has size 2, but dim 0 of the indices 3}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<2x6xf32>
  return
}

// -----

func.func @gather_c3_rank(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{results have 2 dimensions beside those of a block, the indices 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6x1xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<3x6xf32>) {
  // expected-error@+1 {{dim 2 of blocks is out of the rank 2}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<3x7xf32>) {
  // expected-error@+1 {{dim 1 of updates has size 7, but dim 1 of the input only 6}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x7xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @scatter_c2_batch(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<2x6xf32>) {
  // expected-error@+1 {{dim 0 of updates has size 2, but dim 0 of the indices 3}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<2x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @one_hot_c1(%i: tensor<3xi32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.one_hot %i dim 2 : tensor<3xi32> -> tensor<3x5xf32>
  return
}

// -----

func.func @one_hot_c2(%i: tensor<3xi32>) {
  // expected-error@+1 {{the result's shape should be [3, 5], not [4, 5]}}
  %0 = weft.one_hot %i dim 1 : tensor<3xi32> -> tensor<4x5xf32>
  return
}

// -----

func.func @one_hot_c3(%i: tensor<3xf32>) {
  // expected-error@+1 {{indices are integers, not}}
  %0 = weft.one_hot %i dim 1 : tensor<3xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @one_hot_c4(%i: tensor<3xi32>, %o: tensor<i32>) {
  // expected-error@+1 {{the offset is tensor<i64>, not}}
  %0 = weft.one_hot %i dim 1 offset %o : tensor<3xi32>, tensor<i32> -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c4(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{has zero_outside and absent_outside; keep one}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64, zero_outside, absent_outside} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}
