// Transposed operands, which GPUs read by tiles in shared memory: sizes that tiles do not divide, channels moved to the front, ops in
// front of a transpose and behind it, elements of several widths, and a result in the memory of an argument.
func.func public @main(%x: tensor<45x70xf32>, %y: tensor<70x45xf32>, %z: tensor<70x45xf32> {tf.aliasing_output = 0 : i32}, %images: tensor<2x19x21x33xf32>, %d: tensor<3x40x50xf64>, %i: tensor<65x33xi32>)
    -> (tensor<70x45xf32>, tensor<2x33x19x21xf32>, tensor<3x50x40xf64>, tensor<33x65xi32>, tensor<33x65xi1>, tensor<70x45xf32>, tensor<50x3x40xf64>, tensor<70x45xf32>) {
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<45x70xf32>) -> tensor<70x45xf32>
  %sum = stablehlo.subtract %t, %z : tensor<70x45xf32>
  %front = stablehlo.transpose %images, dims = [0, 3, 1, 2] : (tensor<2x19x21x33xf32>) -> tensor<2x33x19x21xf32>
  %turned = stablehlo.transpose %d, dims = [0, 2, 1] : (tensor<3x40x50xf64>) -> tensor<3x50x40xf64>
  %negated = stablehlo.negate %turned : tensor<3x50x40xf64>
  %it = stablehlo.transpose %i, dims = [1, 0] : (tensor<65x33xi32>) -> tensor<33x65xi32>
  %two = stablehlo.constant dense<2> : tensor<65x33xi32>
  %large = stablehlo.compare GT, %i, %two : (tensor<65x33xi32>, tensor<65x33xi32>) -> tensor<65x33xi1>
  %lt = stablehlo.transpose %large, dims = [1, 0] : (tensor<65x33xi1>) -> tensor<33x65xi1>
  %short = stablehlo.convert %x : (tensor<45x70xf32>) -> tensor<45x70xbf16>
  %st = stablehlo.transpose %short, dims = [1, 0] : (tensor<45x70xbf16>) -> tensor<70x45xbf16>
  %back = stablehlo.reverse %st, dims = [0] : tensor<70x45xbf16>
  %wide = stablehlo.convert %back : (tensor<70x45xbf16>) -> tensor<70x45xf32>
  %scaled = stablehlo.multiply %wide, %y : tensor<70x45xf32>
  %mixed = stablehlo.transpose %d, dims = [2, 0, 1] : (tensor<3x40x50xf64>) -> tensor<50x3x40xf64>
  %sorted = "stablehlo.sort"(%y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<70x45xf32>) -> tensor<70x45xf32>
  %difference = stablehlo.subtract %sorted, %t : tensor<70x45xf32>
  %last = "stablehlo.sort"(%difference) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<70x45xf32>) -> tensor<70x45xf32>
  return %sum, %front, %negated, %it, %lt, %scaled, %mixed, %last : tensor<70x45xf32>, tensor<2x33x19x21xf32>, tensor<3x50x40xf64>, tensor<33x65xi32>, tensor<33x65xi1>, tensor<70x45xf32>, tensor<50x3x40xf64>, tensor<70x45xf32>
}
