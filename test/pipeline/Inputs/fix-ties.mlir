// Two layouts of "up" send the same: replicated it takes more memory.
#mesh = #weft.mesh<"data"=2, "model"=4>
#rows = #weft.layout<#mesh, [{"model"}, {}]>
module attributes {weft.mesh = #mesh} {
  func.func @block(
      %x: tensor<32x64xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
      %wg: tensor<64x256xf32> {weft.name = "gate", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
      %wu: tensor<64x256xf32> {weft.name = "up", weft.role = "weight", weft.layout = #rows},
      %wd: tensor<256x64xf32> {weft.name = "down", weft.role = "weight", weft.layout = #rows})
      -> (tensor<32x64xf32> {weft.name = "y", weft.role = "output"}) {
    %g = weft.dot %x, %wg contract [1] x [0] : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
    %u = weft.dot %x, %wu contract [1] x [0] : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
    %a = weft.relu %g : tensor<32x256xf32>
    %h = weft.mul %a, %u : tensor<32x256xf32>
    %d = weft.dot %h, %wd contract [1] x [0] : tensor<32x256xf32>, tensor<256x64xf32> -> tensor<32x64xf32>
    %y = weft.add %x, %d : tensor<32x64xf32>
    return %y : tensor<32x64xf32>
  }
}
