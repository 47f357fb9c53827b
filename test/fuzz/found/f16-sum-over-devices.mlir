// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 66 --count 1 --ops 8 --compiled-every 20
// Partial sums of f16 were rounded to f16 between devices: one of 57,344 was
// infinite.

#mesh = #weft.mesh<"a"=1, "c"=1, "d"=2>
module attributes {weft.fuzz = "inputs=66", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<3x30xf16> {weft.draw = "large", weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> tensor<30xf16> {
    %0 = weft.reduce sum %arg0 dims [0] : tensor<3x30xf16> -> tensor<30xf16>
    return %0 : tensor<30xf16>
  }
}
