// the gradient of pooling: halos of the input and of the windows
// SENDS: fetch 2 60
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<24x3xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}, %g: tensor<12x3xf32> {weft.name = "g", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> (tensor<24x3xf32> {weft.name = "r", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
  %r = weft.select_and_scatter ge %x, %g {window = array<i64: 3, 1>, strides = array<i64: 2, 1>, low = array<i64: 1, 0>, high = array<i64: 0, 0>} : tensor<24x3xf32>, tensor<12x3xf32> -> tensor<24x3xf32>
  return %r : tensor<24x3xf32>
}
}
