// upstream: 2^18 combinations, 6.2 s and 1.7 GB
// SENDS: move 1 216
#mesh = #weft.mesh<"d"=4>
#d_n = #weft.layout<#mesh, [{"d"}, {}]>
#n_d = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x0: tensor<6x4xf32> {weft.name = "x0", weft.layout = #n_d}, %x1: tensor<6x4xf32> {weft.name = "x1", weft.layout = #d_n}, %x2: tensor<6x4xf32> {weft.name = "x2", weft.layout = #n_d}, %x3: tensor<6x4xf32> {weft.name = "x3", weft.layout = #d_n}, %x4: tensor<6x4xf32> {weft.name = "x4", weft.layout = #n_d}, %x5: tensor<6x4xf32> {weft.name = "x5", weft.layout = #d_n}, %x6: tensor<6x4xf32> {weft.name = "x6", weft.layout = #n_d}, %x7: tensor<6x4xf32> {weft.name = "x7", weft.layout = #d_n}, %x8: tensor<6x4xf32> {weft.name = "x8", weft.layout = #n_d}, %x9: tensor<6x4xf32> {weft.name = "x9", weft.layout = #d_n}, %x10: tensor<6x4xf32> {weft.name = "x10", weft.layout = #n_d}, %x11: tensor<6x4xf32> {weft.name = "x11", weft.layout = #d_n}, %x12: tensor<6x4xf32> {weft.name = "x12", weft.layout = #n_d}, %x13: tensor<6x4xf32> {weft.name = "x13", weft.layout = #d_n}, %x14: tensor<6x4xf32> {weft.name = "x14", weft.layout = #n_d}, %x15: tensor<6x4xf32> {weft.name = "x15", weft.layout = #d_n}, %x16: tensor<6x4xf32> {weft.name = "x16", weft.layout = #n_d}, %x17: tensor<6x4xf32> {weft.name = "x17", weft.layout = #d_n}) -> (tensor<6x72xf32> {weft.name = "r"}) {
  %r = weft.concatenate %x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7, %x8, %x9, %x10, %x11, %x12, %x13, %x14, %x15, %x16, %x17 dim 1 : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x72xf32>
  return %r : tensor<6x72xf32>
}
}
