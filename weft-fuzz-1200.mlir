// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 1200 --count 1 --ops 8 --compiled-every 20
// It crashes:
//   crashes

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=1200 compiled", weft.mesh = #mesh} {
  func.func @main() -> tensor<f64> {
    %0 = weft.constant dense<1.000000e+00> : tensor<1xf64>
    %1 = weft.reduce max %0 dims [0] : tensor<1xf64> -> tensor<f64>
    return %1 : tensor<f64>
  }
}

