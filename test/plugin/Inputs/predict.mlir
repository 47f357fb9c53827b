// The contracted dimension is sliced over "model": one all-reduce.
#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {
  func.func @predict(
      %x: tensor<16x8xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>},
      %w: tensor<8x4xf32> {weft.name = "kernel", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{"model"}, {}]>})
      -> (tensor<16x4xf32> {weft.name = "y"}) {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x8xf32>, tensor<8x4xf32> -> tensor<16x4xf32>
    %1 = weft.relu %0 : tensor<16x4xf32>
    return %1 : tensor<16x4xf32>
  }
}
