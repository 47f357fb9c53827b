// The 64 largest of 4096: all devices gather the 64 candidates of each device,
// (p-1) * 64 values and as many positions.
#mesh = #weft.mesh<"model"=8>
#split = #weft.layout<#mesh, [{"model"}]>
#whole = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=2, all_gather.bytes=3584"} {
  func.func @main(%x: tensor<4096xf32> {weft.name = "x", weft.layout = #split}) -> (tensor<64xf32> {weft.layout = #whole}, tensor<64xi32> {weft.layout = #whole}) {
    %v, %i = weft.top_k %x dim 0 : tensor<4096xf32> -> tensor<64xf32>, tensor<64xi32>
    return %v, %i : tensor<64xf32>, tensor<64xi32>
  }
}
