// From [y, -, x] to [-, (x, y), -]: a device receives only the elements that
// it lacks. XLA gathers the whole array, 14336 bytes.
#mesh = #weft.mesh<"x"=2, "y"=4>
#a = #weft.layout<#mesh, [{"y"}, {}, {"x"}]>
#b = #weft.layout<#mesh, [{}, {"x", "y"}, {}]>
module attributes {weft.mesh = #mesh, weft.expect = "exchange=1, exchange.bytes=1792"} {
  func.func @main(%x: tensor<16x16x16xf32> {weft.name = "x", weft.layout = #a}) -> (tensor<16x16x16xf32> {weft.layout = #b}) {
    return %x : tensor<16x16x16xf32>
  }
}
