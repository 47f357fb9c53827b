// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @broadcast_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims has 1 entries for 2 dimensions}}
  %0 = weft.broadcast %x dims [0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim}}
  %0 = weft.broadcast %x dims [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @broadcast_c2_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 2 is out of the result's rank 2}}
  %0 = weft.broadcast %x dims [2] : tensor<4xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 0 of the input has size 4, but dim 0 of the result 6}}
  %0 = weft.broadcast %x dims [0] : tensor<4xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 0 is used twice}}
  %0 = weft.transpose %x [0, 0] : tensor<4x6xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [6, 4], not [4, 6]}}
  %0 = weft.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the input has 24 elements, but the result 25}}
  %0 = weft.reshape %x : tensor<4x6xf32> -> tensor<25xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{start has 1 entries for 2 dimensions}}
  %0 = weft.slice %x from [0] to [4, 6] by [1, 1] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{takes [0, 7) of dim 1 of size 6}}
  %0 = weft.slice %x from [0, 0] to [4, 7] by [1, 1] : tensor<4x6xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func @slice_c2_stride(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stride of dim 1 is 0, the least is 1}}
  %0 = weft.slice %x from [0, 0] to [4, 6] by [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [4, 3], not [4, 2]}}
  %0 = weft.slice %x from [0, 1] to [4, 6] by [1, 2] : tensor<4x6xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{low has 1 entries for 2 dimensions}}
  %0 = weft.pad %x low [0] high [0, 0] interior [0, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{interior of dim 1 is -1, the least is 0}}
  %0 = weft.pad %x low [0, 0] high [0, 0] interior [0, -1] : tensor<4x6xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [5, 6], not [4, 6]}}
  %0 = weft.pad %x low [1, 0] high [0, 0] interior [0, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @concatenate_c1() {
  // expected-error@+1 {{needs at least one input}}
  %0 = "weft.concatenate"() {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<4x6xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{input 1 is 'tensor<4x5xf32>', which does not fit in 'tensor<8x6xf32>' along dim 0}}
  %0 = weft.concatenate %x, %y dim 0 : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{inputs have 8 elements along dim 0, but the result 9}}
  %0 = weft.concatenate %x, %x dim 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4x6xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{, not one element of}}
  %0 = weft.pad %x with %v low [1, 0] high [0, 0] interior [0, 0] : tensor<4x6xf32>, tensor<1xf32> -> tensor<5x6xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims should rise, but 0 follows 1}}
  %0 = weft.reverse %x dims [1, 0] : tensor<4x6xf32>
  return
}

// -----

func.func @roll_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{shift has 1 entries for 2 dimensions}}
  %0 = weft.roll %x by [1] : tensor<4x6xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<4x6xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{a start is one integer, not}}
  %0 = weft.dynamic_slice %x at (%i, %i) : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @dynamic_slice_c1_count(%x: tensor<4x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{starts has 1 entries for 2 dimensions}}
  %0 = weft.dynamic_slice %x at (%i) : (tensor<4x6xf32>, tensor<i32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{does not fit in}}
  %0 = weft.dynamic_slice %x at (%i, %i) : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x7xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<4x6xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{a start is one integer, not}}
  %0 = weft.dynamic_update_slice %x, %x at (%i, %i) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<4x6xf32>, %u: tensor<5x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{does not fit in}}
  %0 = weft.dynamic_update_slice %x, %u at (%i, %i) : (tensor<4x6xf32>, tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// -----

// 4 + 2^63 - 1 would be a negative number, and the result empty.
func.func @pad_overflow(%x: tensor<4xf32>) {
  // expected-error@+1 {{pads by 9223372036854775807 elements, a tensor has at most 9007199254740992}}
  %0 = weft.pad %x low [9223372036854775807] high [0] interior [0] : tensor<4xf32> -> tensor<0xf32>
  return
}
