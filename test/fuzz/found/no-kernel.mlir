// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 100010 --count 1 --ops 8 --compiled-every 1
// It was refused: linking failed: ld.lld: error: no input files

#mesh = #weft.mesh<"b"=2>
module attributes {weft.fuzz = "inputs=100010 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1xbf16>) -> tensor<1xbf16> {
    return %arg0 : tensor<1xbf16>
  }
}
