// Two dense layers: the batch is split over "data", the first weight over "model".
#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {
  func.func @predict(
      %x: tensor<16x784xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
      %w1: tensor<784x200xf32> {weft.name = "d1/kernel", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
      %w2: tensor<200x10xf32> {weft.name = "d2/kernel", weft.role = "weight"})
      -> (tensor<16x10xf32> {weft.name = "d2/output", weft.role = "output"}) {
    %0 = weft.dot %x, %w1 contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
    %1 = weft.relu %0 : tensor<16x200xf32>
    %2 = weft.dot %1, %w2 contract [1] x [0] : tensor<16x200xf32>, tensor<200x10xf32> -> tensor<16x10xf32>
    return %2 : tensor<16x10xf32>
  }
}
