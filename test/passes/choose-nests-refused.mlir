// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-choose-nests=target=cpu:avx2

// A transform of this length works on two lines of complex numbers.
// expected-error @below {{kernel 'k' needs 2097152 bytes of scratch memory, at most 1048576 fit; return large intermediate values as extra results}}
func.func private @k(%x: tensor<131072xcomplex<f32>>) -> tensor<131072xcomplex<f32>> attributes {weft.kernel = #weft.kernel<general>} {
  %0 = weft.fft fft %x dim 0 : tensor<131072xcomplex<f32>> -> tensor<131072xcomplex<f32>>
  return %0 : tensor<131072xcomplex<f32>>
}
