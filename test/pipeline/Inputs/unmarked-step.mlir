// A step whose gradient the program itself computes. The mean is part of the gradient's formula.
#mesh = #weft.mesh<"d"=2>
module attributes {weft.mesh = #mesh} {
  func.func @train(
      %w: tensor<8xf32> {weft.name = "w", weft.role = "weight", weft.donated = 0 : i64},
      %m: tensor<8xf32> {weft.name = "moving_mean", weft.role = "state", weft.donated = 1 : i64},
      %x: tensor<16x8xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>})
      -> (tensor<8xf32> {weft.name = "w", weft.role = "weight"}, tensor<8xf32> {weft.name = "moving_mean", weft.role = "state"}) {
    %mean = weft.reduce sum %x dims [0] : tensor<16x8xf32> -> tensor<8xf32>
    %moved = weft.add %m, %mean : tensor<8xf32>
    %wide = weft.broadcast %mean dims [1] : tensor<8xf32> -> tensor<16x8xf32>
    %centred = weft.sub %x, %wide : tensor<16x8xf32>
    %squares = weft.mul %centred, %centred : tensor<16x8xf32>
    %sum = weft.reduce sum %squares dims [0] : tensor<16x8xf32> -> tensor<8xf32>
    %g = weft.mul %sum, %mean : tensor<8xf32>
    %new = weft.sub %w, %g : tensor<8xf32>
    return %new, %moved : tensor<8xf32>, tensor<8xf32>
  }
}
