// RUN: weft-fuzz --program %s
// A result in the memory of an argument that is read in reverse by way of complex numbers (weft-fuzz --seed 81122600 --count 1 --ops 8 --compiled-every 25).

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=81122600 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1xf32>, %arg1: tensor<1x2x1xf32> {weft.donated = 1 : i64}) -> (tensor<1x2x1xi1>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) {
    %0 = weft.constant dense<0.000000e+00> : tensor<1x2x1xf32>
    %1:3 = weft.for 3(%0, %arg1, %arg1) : (tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> (tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) {
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<1x2x1xf32>, %arg4: tensor<1x2x1xf32>, %arg5: tensor<1x2x1xf32>):
      %23 = weft.add %arg3, %arg5 : tensor<1x2x1xf32>
      weft.yield %23, %arg4, %arg5 : tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>
    }
    %2 = weft.complex %arg1, %arg1 : tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<1x2x1xcomplex<f32>>
    %3 = weft.complex %arg1, %arg1 : tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<1x2x1xcomplex<f32>>
    %4 = weft.reverse %2 dims [1] : tensor<1x2x1xcomplex<f32>>
    %5 = weft.mul %4, %4 : tensor<1x2x1xcomplex<f32>>
    %6 = weft.add %5, %3 : tensor<1x2x1xcomplex<f32>>
    %7 = weft.real %6 : (tensor<1x2x1xcomplex<f32>>) -> tensor<1x2x1xf32>
    %8 = weft.imag %6 : (tensor<1x2x1xcomplex<f32>>) -> tensor<1x2x1xf32>
    %9 = weft.floor %1#0 : tensor<1x2x1xf32>
    %10 = weft.reduce max %7 dims [0, 1, 2] : tensor<1x2x1xf32> -> tensor<f32>
    %11 = weft.convert %10 : tensor<f32> -> tensor<i32>
    %12 = weft.reduce max %8 dims [0, 1, 2] : tensor<1x2x1xf32> -> tensor<f32>
    %13 = weft.convert %12 : tensor<f32> -> tensor<i32>
    %14 = weft.reduce max %arg0 dims [0, 1, 2] : tensor<1x1x1xf32> -> tensor<f32>
    %15 = weft.convert %14 : tensor<f32> -> tensor<i64>
    %16 = weft.dynamic_slice %8 at(%11, %13, %15) : (tensor<1x2x1xf32>, tensor<i32>, tensor<i32>, tensor<i64>) -> tensor<1x2x1xf32>
    %17 = weft.compare le %9, %arg1 : tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<1x2x1xi1>
    %18 = weft.complex %8, %arg1 : tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<1x2x1xcomplex<f32>>
    %19 = weft.complex %arg1, %8 : tensor<1x2x1xf32>, tensor<1x2x1xf32> -> tensor<1x2x1xcomplex<f32>>
    %20 = weft.mul %18, %19 : tensor<1x2x1xcomplex<f32>>
    %21 = weft.real %20 : (tensor<1x2x1xcomplex<f32>>) -> tensor<1x2x1xf32>
    %22 = weft.imag %20 : (tensor<1x2x1xcomplex<f32>>) -> tensor<1x2x1xf32>
    return %17, %21, %22, %16 : tensor<1x2x1xi1>, tensor<1x2x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>
  }
}

