// A cumulative sum of 4096 elements: each device sends the sum of its part, (p-1) * 4
// bytes.
#mesh = #weft.mesh<"model"=8>
#split = #weft.layout<#mesh, [{"model"}]>
module attributes {weft.mesh = #mesh, weft.expect = "all_gather=1, all_gather.bytes=28"} {
  func.func @main(%x: tensor<4096xf32> {weft.name = "x", weft.layout = #split}) -> (tensor<4096xf32> {weft.layout = #split}) {
    %y = weft.cumulative sum %x dim 0 : tensor<4096xf32>
    return %y : tensor<4096xf32>
  }
}
