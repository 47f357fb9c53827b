#mesh = #weft.mesh<"a"=2>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<8x4xf32> {weft.name = "x", weft.layout = #weft.layout<#mesh, [{"a"}, {}]>}) -> (tensor<8x4xf32> {weft.name = "y"}) {
    %0 = weft.for 3 (%x) : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<8x4xf32>):
      %1 = weft.add %v, %v : tensor<8x4xf32>
      weft.yield %1 : tensor<8x4xf32>
    }
    return %0 : tensor<8x4xf32>
  }
}
