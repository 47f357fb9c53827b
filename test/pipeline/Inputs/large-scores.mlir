// The scores of all pairs of two vectors that each device has are sorted by rows, and the rows' medians are returned to all.
#m = #weft.mesh<"d"=4>
#whole = #weft.layout<#m, [{}]>
module attributes {weft.mesh = #m} {
  func.func @medians(%x: tensor<1024xf32> {weft.name = "x", weft.role = "input", weft.layout = #whole}, %y: tensor<1024xf32> {weft.name = "y", weft.role = "input", weft.layout = #whole}) -> (tensor<1024xf32> {weft.name = "z", weft.role = "output", weft.layout = #whole}) {
    %0 = weft.broadcast %x dims [0] : tensor<1024xf32> -> tensor<1024x1024xf32>
    %1 = weft.broadcast %y dims [1] : tensor<1024xf32> -> tensor<1024x1024xf32>
    %2 = weft.mul %0, %1 : tensor<1024x1024xf32>
    %3 = weft.sort %2 dim 1 keys 1 : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %4 = weft.slice %3 from [0, 512] to [1024, 513] by [1, 1] : tensor<1024x1024xf32> -> tensor<1024x1xf32>
    %5 = weft.reshape %4 : tensor<1024x1xf32> -> tensor<1024xf32>
    return %5 : tensor<1024xf32>
  }
}
