// A layer and its gradients, in which threads combine the terms of an element, many terms in blocks; and a sum of columns.
func.func public @main(%x: tensor<16x784xf32>, %w: tensor<784x20xf32>, %g: tensor<16x20xf32>) -> (tensor<16x20xf32>, tensor<784x20xf32>, tensor<20xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x784xf32>, tensor<784x20xf32>) -> tensor<16x20xf32>
  %d = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<16x784xf32>, tensor<16x20xf32>) -> tensor<784x20xf32>
  %b = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<16x20xf32>, tensor<f32>) -> tensor<20xf32>
  return %y, %d, %b : tensor<16x20xf32>, tensor<784x20xf32>, tensor<20xf32>
}
