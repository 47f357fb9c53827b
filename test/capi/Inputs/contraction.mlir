// y = x w, with w cut along the dimension that is summed over.
#mesh = #weft.mesh<"m"=2>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<6x8xf32> {weft.name = "x", weft.role = "input"},
                  %w: tensor<8x4xf32> {weft.name = "w", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{"m"}, {}]>})
      -> (tensor<6x4xf32> {weft.name = "y", weft.layout = #weft.layout<#mesh, [{}, {}]>}) {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<6x8xf32>, tensor<8x4xf32> -> tensor<6x4xf32>
    return %0 : tensor<6x4xf32>
  }
}
