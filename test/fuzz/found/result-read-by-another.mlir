// A kernel whose one result reads the other at other positions is two nests, so
// not elementwise, although no argument has their type.
// RUN: weft-fuzz --program %s

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=5321 compiled explained", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<1x2xi1>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
    %0 = weft.select %arg2, %arg0, %arg0 : tensor<1x2xi1>, tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x2xf32>
    %1 = weft.complex %arg1, %0 : tensor<1x2xf32>, tensor<1x2xf32> -> tensor<1x2xcomplex<f32>>
    %2 = weft.reverse %1 dims [1] : tensor<1x2xcomplex<f32>>
    %3 = weft.imag %2 : (tensor<1x2xcomplex<f32>>) -> tensor<1x2xf32>
    return %3, %0 : tensor<1x2xf32>, tensor<1x2xf32>
  }
}
