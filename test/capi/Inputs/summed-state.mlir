// The state is donated: s + x summed over its rows.
#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {
  func.func @main(%s: tensor<6xf32> {weft.name = "s", weft.role = "state", weft.donated = 0 : i64},
                  %x: tensor<8x6xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"data", "model"}, {}]>})
      -> (tensor<6xf32> {weft.name = "s", weft.role = "state"}) {
    %0 = weft.reduce sum %x dims [0] : tensor<8x6xf32> -> tensor<6xf32>
    %1 = weft.add %s, %0 : tensor<6xf32>
    return %1 : tensor<6xf32>
  }
}
