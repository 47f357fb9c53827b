// Upstream: "sharding interface is not implemented" for func.call. A function
// that is called with rows and with columns sharded has both layouts.
// SENDS: none
#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {
  func.func private @twice(%v: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %0 = weft.add %v, %v : tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
  func.func @main(%x: tensor<8x6xf32> {weft.layout = #rows}, %y: tensor<8x6xf32> {weft.layout = #columns}) -> (tensor<8x6xf32> {weft.layout = #rows}, tensor<8x6xf32> {weft.layout = #columns}) {
    %0 = func.call @twice(%x) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %1 = func.call @twice(%y) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
  }
}
