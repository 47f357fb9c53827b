// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 6002339 --count 1 --ops 8 --compiled-every 0
// It differed:
//   'func.func' op result 0 differs at [0, 0, 0]: the global program gives 0, the devices give nan

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=6002339", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1xf8E4M3FN> {weft.layout = #weft.layout<#mesh, [{}, {}, {"a"}]>}) -> tensor<1x1x1xf8E4M3FN> {
    %0 = weft.cumulative min %arg0 dim 2 : tensor<1x1x1xf8E4M3FN>
    return %0 : tensor<1x1x1xf8E4M3FN>
  }
}

