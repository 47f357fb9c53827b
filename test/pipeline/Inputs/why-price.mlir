// One axis for rows and for columns: the sum runs by rows, as its result is wanted; by columns both operands' exchange is made twice.
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  func.func @main(%a: tensor<4096x4096xf32> {weft.name = "a", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}, %b: tensor<4096x4096xf32> {weft.name = "b", weft.layout = #weft.layout<#mesh, [{}, {"d"}]>})
      -> (tensor<4096x4096xf32> {weft.name = "c", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
    %s = weft.add %a, %b : tensor<4096x4096xf32>
    %r = weft.relu %s : tensor<4096x4096xf32>
    return %r : tensor<4096x4096xf32>
  }
}
