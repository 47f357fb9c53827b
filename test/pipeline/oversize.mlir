// Tensors, and programs, of more bytes than can be counted are refused where
// they come in, so that no later stage adds or multiplies such sizes.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-pipeline

// expected-error @below {{argument "x" of shape [4611686018427387904, 4] has 73786976294838206464 bytes, but a tensor has at most 9007199254740992; make a dimension smaller}}
func.func @argument(%x: tensor<4611686018427387904x4xf32> {weft.name = "x"}) -> tensor<4611686018427387904x4xf32> {
  return %x : tensor<4611686018427387904x4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{a result of shape [1073741824, 1073741824, 4] has 18446744073709551616 bytes, but a tensor has at most 9007199254740992}}
  %0 = weft.broadcast %x dims [2] : tensor<4xf32> -> tensor<1073741824x1073741824x4xf32>
  %1 = weft.reduce sum %0 dims [0, 1] : tensor<1073741824x1073741824x4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// An empty tensor has no large dimension.
// expected-error @below {{argument "x" of shape [0, 9223372036854775807] has 36893488147419103228 bytes, but a tensor has at most}}
func.func @empty(%x: tensor<0x9223372036854775807xf32> {weft.name = "x"}) -> tensor<0x9223372036854775807xf32> {
  return %x : tensor<0x9223372036854775807xf32>
}

// -----

// A tensor may have 2^53 bytes; nine such tensors are too large for a program.
// expected-error @below {{with argument 8, all tensors together have 81064793292668928 bytes, but a program has at most 72057594037927936; make its tensors smaller}}
func.func @program(%0: tensor<2251799813685248xf32>, %1: tensor<2251799813685248xf32>, %2: tensor<2251799813685248xf32>, %3: tensor<2251799813685248xf32>, %4: tensor<2251799813685248xf32>, %5: tensor<2251799813685248xf32>, %6: tensor<2251799813685248xf32>, %7: tensor<2251799813685248xf32>, %8: tensor<2251799813685248xf32>) -> tensor<2251799813685248xf32> {
  return %0 : tensor<2251799813685248xf32>
}
