// Convolutions that are contractions: windows of one element, plain, with steps and padding; their gradients (of the input:
// zeros between the positions; of the kernel: one window over the whole image); channels first; a kernel as large as the image.
func.func public @main(%x: tensor<3x7x6x20xf32>, %w: tensor<1x1x20x24xf32>, %g: tensor<3x4x3x24xf32>, %c: tensor<3x20x7x6xf32>, %v: tensor<16x20x1x1xf32>,
                       %k: tensor<7x6x20x5xf32>)
    -> (tensor<3x7x6x24xf32>, tensor<3x4x3x24xf32>, tensor<3x9x7x24xf32>, tensor<3x7x6x20xf32>, tensor<1x1x20x24xf32>, tensor<3x16x7x6xf32>, tensor<3x1x1x5xf32>) {
  %a = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x7x6x20xf32>, tensor<1x1x20x24xf32>) -> tensor<3x7x6x24xf32>
  %b = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [2, 2], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x7x6x20xf32>, tensor<1x1x20x24xf32>) -> tensor<3x4x3x24xf32>
  %p = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[3, -1], [-1, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x7x6x20xf32>, tensor<1x1x20x24xf32>) -> tensor<3x9x7x24xf32>
  %dx = stablehlo.convolution(%g, %w) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x4x3x24xf32>, tensor<1x1x20x24xf32>) -> tensor<3x7x6x20xf32>
  %dw = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, -1]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x7x6x20xf32>, tensor<3x4x3x24xf32>) -> tensor<1x1x20x24xf32>
  %f = stablehlo.convolution(%c, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x20x7x6xf32>, tensor<16x20x1x1xf32>) -> tensor<3x16x7x6xf32>
  %h = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {stride = [1, 1], pad = [[0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<3x7x6x20xf32>, tensor<7x6x20x5xf32>) -> tensor<3x1x1x5xf32>
  return %a, %b, %p, %dx, %dw, %f, %h
      : tensor<3x7x6x24xf32>, tensor<3x4x3x24xf32>, tensor<3x9x7x24xf32>, tensor<3x7x6x20xf32>, tensor<1x1x20x24xf32>, tensor<3x16x7x6xf32>, tensor<3x1x1x5xf32>
}
