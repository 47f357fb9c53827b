// A budget may be any cost that an integer has, also above 1e18 bytes.
// RUN: weft-fuzz --program %s

#mesh = #weft.mesh<"a"=65536>
#layout = #weft.layout<#mesh, [{}, {}, {}]>
#layout1 = #weft.layout<#mesh, [{}, {}, {"a"}]>
module attributes {weft.fuzz = "inputs=52000788 detours=52000788 planned", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1099511627777x5x5xf32>) -> (tensor<1099511627777x5x5xf32> {weft.layout = #layout}) {
    %0 = weft.constrain %arg0 to #layout1  : tensor<1099511627777x5x5xf32> -> tensor<1099511627777x5x5xf32>
    return %0 : tensor<1099511627777x5x5xf32>
  }
}
