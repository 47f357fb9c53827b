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

// -----

func.func @move_c1(%x: tensor<8xf32>) {
  // expected-error@+1 {{has 1 operands and 0 boxes; it needs at least one of each}}
  %0 = weft.move %x boxes <> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c2(%x: tensor<8xf64>) {
  // expected-error@+1 {{operand 0 has elements 'f64', the result 'f32'}}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0]> : (tensor<8xf64>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 is of operand 1 of 1}}
  %0 = weft.move %x boxes <[0:4] of 1 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_ranges(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 has 2 ranges, the result the rank 1}}
  %0 = weft.move %x boxes <[0:4, 0:1] of 0 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_places(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 has 2 places, its operand the rank 1}}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0, 0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_result(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 fills 3 positions from 0 by 2 of dim 0 of size 4}}
  %0 = weft.move %x boxes <[0:3:2] of 0 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_dim(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 has dim 1 for dim 0 of its operand}}
  %0 = weft.move %x boxes <[0:4] of 0 at [d1]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_operand(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 reads [5, 9) of dim 0 of size 8}}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0 + 5]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_turned(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 0 reads [-1, 3) of dim 0 of size 8}}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0 * -1 + 2]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c3_disjoint(%x: tensor<8xf32>) {
  // expected-error@+1 {{box 1 fills elements of box 0}}
  %0 = weft.move %x boxes <[0:2:2] of 0 at [d0], [1:2] of 0 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c4(%x: tensor<8xf32>) {
  // expected-error@+1 {{the region takes }}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<9xf32>):
    %b = weft.slice %a from [0] to [4] by [1] : tensor<9xf32> -> tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @move_c4_yield(%x: tensor<8xf32>) {
  // expected-error@+1 {{the region should end with 'weft.yield' of }}
  %0 = weft.move %x boxes <[0:4] of 0 at [d0]> : (tensor<8xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>):
    weft.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @move_c4_ops(%x: tensor<4xf32>) {
  %0 = weft.move %x boxes <[0:4] of 0 at [d0]> : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error@+1 {{is in a move, which holds moving ops and constants only}}
    %b = weft.exp %a : tensor<4xf32>
    weft.yield %b : tensor<4xf32>
  }
  return
}

// -----

// expected-error@+1 {{'x' is no dimension; write d0, d1, ...}}
#boxes = #weft.boxes<[0:4] of 0 at [x]>
