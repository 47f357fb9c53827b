#mesh = #weft.mesh<"one"=1>
module attributes {weft.mesh = #mesh} {
  func.func @f(%x: tensor<250x320xf32>, %w: tensor<320x64xf32>, %b: tensor<64xf32>) -> tensor<250x64xf32> {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<250x320xf32>, tensor<320x64xf32> -> tensor<250x64xf32>
    %1 = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<250x64xf32>
    %2 = weft.add %0, %1 : tensor<250x64xf32>
    return %2 : tensor<250x64xf32>
  }
}
