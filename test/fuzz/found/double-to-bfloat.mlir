// RUN: weft-fuzz --program %s
// Found by: weft-fuzz --seed 100010 --count 1 --ops 8 --compiled-every 1
// It was refused: undefined symbol: __truncdfbf2

#mesh = #weft.mesh<"a"=2>
#layout = #weft.layout<#mesh, [{"a"}]>
module attributes {weft.fuzz = "inputs=1 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<9xf64> {weft.layout = #layout}) -> tensor<9xbf16> {
    %0 = weft.constant dense<[1.00390625, 1.00390624999, 1.01171875, 3.5e38, 1.0e-45, -1.00390625001, 3.3895314e38, 0.0, 7.0e-46]> : tensor<9xf64>
    %1 = weft.mul %arg0, %0 : tensor<9xf64>
    %2 = weft.convert %1 : tensor<9xf64> -> tensor<9xbf16>
    return %2 : tensor<9xbf16>
  }
}
