// A kernel written by hand that is two nests, so two launches.
module attributes {weft.mesh = #weft.mesh<"device"=1>} {
  func.func @main(%x: tensor<8xf32> {weft.global_type = tensor<8xf32>, weft.layout = #weft.layout<#weft.mesh<"device"=1>, [{}]>, weft.name = "in/000", weft.role = "input"}, %y: tensor<4xf32> {weft.global_type = tensor<4xf32>, weft.layout = #weft.layout<#weft.mesh<"device"=1>, [{}]>, weft.name = "in/001", weft.role = "input"}) -> (tensor<8xf32> {weft.global_type = tensor<8xf32>, weft.layout = #weft.layout<#weft.mesh<"device"=1>, [{}]>, weft.name = "out/000", weft.role = "output"}, tensor<4xf32> {weft.global_type = tensor<4xf32>, weft.layout = #weft.layout<#weft.mesh<"device"=1>, [{}]>, weft.name = "out/001", weft.role = "output"}) {
    %0:2 = call @shapes(%x, %y) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>)
    return %0#0, %0#1 : tensor<8xf32>, tensor<4xf32>
  }
  func.func private @shapes(%x: tensor<8xf32>, %y: tensor<4xf32>) -> (tensor<8xf32>, tensor<4xf32>) attributes {weft.kernel = #weft.kernel<general>} {
    %0 = weft.exp %x : tensor<8xf32>
    %1 = weft.exp %y : tensor<4xf32>
    return %0, %1 : tensor<8xf32>, tensor<4xf32>
  }
}
