// y = 2 * relu(x) over 8 devices.
#mesh = #weft.mesh<"d"=8>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<16xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> (tensor<16xf32> {weft.name = "y"}) {
    %0 = weft.relu %x : tensor<16xf32>
    %1 = weft.add %0, %0 : tensor<16xf32>
    return %1 : tensor<16xf32>
  }
}
