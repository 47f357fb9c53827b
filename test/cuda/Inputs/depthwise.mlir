// Gradients of depthwise kernels: padding, steps of the forward convolution, channels last and first, two spatial dimensions and one.
func.func public @main(%x: tensor<3x8x7x16xf32>, %g: tensor<3x8x7x16xf32>, %s: tensor<3x3x3x16xf32>, %c: tensor<3x16x8x7xf32>, %d: tensor<3x16x8x7xf32>,
                       %l: tensor<4x40x24xf32>, %m: tensor<4x40x24xf32>)
    -> (tensor<3x3x1x16xf32>, tensor<3x3x1x16xf32>, tensor<16x1x3x3xf32>, tensor<5x1x24xf32>) {
  %a = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 16 : i64, feature_group_count = 1 : i64}
      : (tensor<3x8x7x16xf32>, tensor<3x8x7x16xf32>) -> tensor<3x3x1x16xf32>
  %b = stablehlo.convolution(%x, %s) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {stride = [1, 1], pad = [[0, -1], [0, 0]], rhs_dilate = [2, 2]} {batch_group_count = 16 : i64, feature_group_count = 1 : i64}
      : (tensor<3x8x7x16xf32>, tensor<3x3x3x16xf32>) -> tensor<3x3x1x16xf32>
  %e = stablehlo.convolution(%c, %d) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
      window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 16 : i64, feature_group_count = 1 : i64}
      : (tensor<3x16x8x7xf32>, tensor<3x16x8x7xf32>) -> tensor<16x1x3x3xf32>
  %f = stablehlo.convolution(%l, %m) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f],
      window = {stride = [1], pad = [[4, 0]]} {batch_group_count = 24 : i64, feature_group_count = 1 : i64}
      : (tensor<4x40x24xf32>, tensor<4x40x24xf32>) -> tensor<5x1x24xf32>
  return %a, %b, %e, %f : tensor<3x3x1x16xf32>, tensor<3x3x1x16xf32>, tensor<16x1x3x3xf32>, tensor<5x1x24xf32>
}
