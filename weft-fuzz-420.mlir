// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 420 --count 1 --ops 8 --compiled-every 20
// It differs:
//   compiled result 1 differs at [0]: 2 is expected, -nan is found

#mesh = #weft.mesh<"a"=2>
#layout = #weft.layout<#mesh, [{"a"}]>
module attributes {weft.fuzz = "inputs=420 detours=420 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1xf32>) -> (tensor<1xi1> {weft.layout = #layout}, tensor<1xf32>) {
    %0 = weft.compare lt %arg0, %arg0 : tensor<1xf32>, tensor<1xf32> -> tensor<1xi1>
    return %0, %arg0 : tensor<1xi1>, tensor<1xf32>
  }
}

