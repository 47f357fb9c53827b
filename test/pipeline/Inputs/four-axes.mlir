#mesh = #weft.mesh<"a"=2, "b"=2, "c"=2, "d"=2>
#x = #weft.layout<#mesh, [{"a", "b"}, {"c", "d"}]>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<16x4xf32> {weft.name = "x", weft.layout = #x}) -> (tensor<f32> {weft.name = "r"}) {
    %r = weft.reduce sum %x dims [0, 1] : tensor<16x4xf32> -> tensor<f32>
    return %r : tensor<f32>
  }
}
