// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 65537 --count 1 --ops 8 --compiled-every 20
// A partial max that a result states as summands was refused: it is reduced,
// and one device keeps it.

#mesh = #weft.mesh<"c"=2>
module attributes {weft.fuzz = "inputs=65537 explained", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<8xf32>, %arg1: tensor<8xi32> {weft.layout = #weft.layout<#mesh, [{"c"}]>}, %arg2: tensor<8xf32> {weft.layout = #weft.layout<#mesh, [{"c"}]>}) -> (tensor<8xf32> {weft.layout = #weft.layout<#mesh, [{}], partial = sum{"c"}>}) {
    %0 = weft.scatter max %arg0 at %arg1 with %arg2 {index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>} : tensor<8xf32>, tensor<8xi32>, tensor<8xf32> -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
