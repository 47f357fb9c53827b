// Reductions that are split among the processors of a GPU: of all elements, of rows, of columns, with elementwise ops in front.
func.func @main(%x: tensor<4x131072xf32>, %y: tensor<16384x48xf32>)
    -> (tensor<f32>, tensor<4xf32>, tensor<48xf32>, tensor<48xf32>, tensor<i32>, tensor<f32>) {
  %0 = weft.mul %x, %x : tensor<4x131072xf32>
  %1 = weft.reduce sum %0 dims [0, 1] : tensor<4x131072xf32> -> tensor<f32>
  %2 = weft.sqrt %1 : tensor<f32>
  %3 = weft.reduce max %x dims [1] : tensor<4x131072xf32> -> tensor<4xf32>
  %4 = weft.reduce sum %y dims [0] : tensor<16384x48xf32> -> tensor<48xf32>
  %5 = weft.log %y : tensor<16384x48xf32>
  %6 = weft.reduce min %5 dims [0] : tensor<16384x48xf32> -> tensor<48xf32>
  %n = weft.convert %y : tensor<16384x48xf32> -> tensor<16384x48xi32>
  %7 = weft.reduce sum %n dims [0, 1] : tensor<16384x48xi32> -> tensor<i32>
  %8 = weft.convert %y : tensor<16384x48xf32> -> tensor<16384x48xbf16>
  %9 = weft.reduce sum %8 dims [0, 1] : tensor<16384x48xbf16> -> tensor<f32>
  return %2, %3, %4, %6, %7, %9 : tensor<f32>, tensor<4xf32>, tensor<48xf32>, tensor<48xf32>, tensor<i32>, tensor<f32>
}
