// upstream: one all-gather of the batch, and no data parallelism after layer 0
// SENDS: all_reduce 4 6144
#mesh = #weft.mesh<"data"=2, "model"=4>
#data_n = #weft.layout<#mesh, [{"data"}, {}]>
#model_n = #weft.layout<#mesh, [{"model"}, {}]>
#n_model = #weft.layout<#mesh, [{}, {"model"}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<16x32xf32> {weft.name = "x", weft.layout = #data_n}, %a0: tensor<32x64xf32> {weft.name = "a0", weft.layout = #n_model, weft.role = "weight"}, %b0: tensor<64x32xf32> {weft.name = "b0", weft.layout = #model_n, weft.role = "weight"}, %a1: tensor<32x64xf32> {weft.name = "a1", weft.layout = #n_model, weft.role = "weight"}, %b1: tensor<64x32xf32> {weft.name = "b1", weft.layout = #model_n, weft.role = "weight"}, %a2: tensor<32x64xf32> {weft.name = "a2", weft.layout = #n_model, weft.role = "weight"}, %b2: tensor<64x32xf32> {weft.name = "b2", weft.layout = #model_n, weft.role = "weight"}, %a3: tensor<32x64xf32> {weft.name = "a3", weft.layout = #n_model, weft.role = "weight"}, %b3: tensor<64x32xf32> {weft.name = "b3", weft.layout = #model_n, weft.role = "weight"}) -> (tensor<16x32xf32> {weft.name = "y"}) {
  %h0 = weft.dot %x, %a0 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %r0 = weft.relu %h0 : tensor<16x64xf32>
  %y0 = weft.dot %r0, %b0 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  %h1 = weft.dot %y0, %a1 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %r1 = weft.relu %h1 : tensor<16x64xf32>
  %y1 = weft.dot %r1, %b1 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  %h2 = weft.dot %y1, %a2 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %r2 = weft.relu %h2 : tensor<16x64xf32>
  %y2 = weft.dot %r2, %b2 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  %h3 = weft.dot %y2, %a3 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %r3 = weft.relu %h3 : tensor<16x64xf32>
  %y3 = weft.dot %r3, %b3 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  return %y3 : tensor<16x32xf32>
}
}
