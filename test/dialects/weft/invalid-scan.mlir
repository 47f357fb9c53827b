// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @cumulative_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.cumulative sum %x dim 2 : tensor<4x6xf32>
  return
}

// -----

func.func @cumulative_c2(%x: tensor<4xi32>) {
  // expected-error@+1 {{logsumexp is of floats, not of}}
  %0 = weft.cumulative logsumexp %x dim 0 : tensor<4xi32>
  return
}

// -----

func.func @arg_max_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.arg_max %x dim 2 : tensor<4x6xf32> -> tensor<4xi32>
  return
}

// -----

func.func @arg_max_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{positions are integers, not}}
  %0 = weft.arg_max %x dim 1 : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arg_min_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.arg_min %x dim 2 : tensor<4x6xf32> -> tensor<4xi32>
  return
}

// -----

func.func @arg_min_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{positions are integers, not}}
  %0 = weft.arg_min %x dim 1 : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arg_max_c1_empty(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{is empty: it has no position}}
  %0 = weft.arg_max %x dim 1 : tensor<4x0xf32> -> tensor<4xi32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0, %1 = weft.top_k %x dim 2 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @top_k_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [4, 6], not [4, 7]}}
  %0, %1 = weft.top_k %x dim 1 : tensor<4x6xf32> -> tensor<4x7xf32>, tensor<4x7xi32>
  return
}

// -----

func.func @top_k_c2_type(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{and integers, not}}
  %0, %1 = weft.top_k %x dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @sort_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.sort %x dim 2 keys 1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @sort_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{sorts 1 tensors, but has 2 results}}
  %0:2 = weft.sort %x dim 0 keys 1 : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return
}

// -----

func.func @sort_c2_type(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{, but the first is}}
  %0 = weft.sort %x dim 0 keys 1 : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @sort_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{has 2 keys and 1 tensors to sort}}
  %0 = weft.sort %x dim 0 keys 2 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}
