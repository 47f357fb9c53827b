// --matmul-precision tf32: products of f32 may be rounded unless they ask for all bits, those of other types are exact.
// RUN: weft-opt %s --weft-choose-libraries=target=cuda:sm_80 | FileCheck %s
module attributes {nest.matmul_precision = "tf32"} {
  // CHECK: @dot(%{{.*}}) {{.*}} sums f32, epilogue none, compute tf32>
  func.func private @dot(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
  // CHECK: @exact(%{{.*}}) {{.*}} sums f32, epilogue none, compute full>
  func.func private @exact(%x: tensor<64x128xf32>, %w: tensor<128x64xf32>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
    %0 = weft.dot %x, %w contract [1] x [0] precision highest : tensor<64x128xf32>, tensor<128x64xf32> -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
  // CHECK: @short(%{{.*}}) {{.*}} sums f32, epilogue none, compute full>
  func.func private @short(%x: tensor<64x128xbf16>, %w: tensor<128x64xbf16>) -> tensor<64x64xf32> attributes {weft.kernel = #weft.kernel<dot>} {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<64x128xbf16>, tensor<128x64xbf16> -> tensor<64x64xf32>
    return %0 : tensor<64x64xf32>
  }
}
