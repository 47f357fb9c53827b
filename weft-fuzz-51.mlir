// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 51 --count 1 --ops 8 --compiled-every 1
// It differs:
//   compiled result 0 differs at [0, 0, 0, 0]: -3 is expected, -1 is found

#mesh = #weft.mesh<"a"=2, "b"=2>
module attributes {weft.fuzz = "inputs=51 detours=51 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1x1xf32>, %arg1: tensor<1x1x1x1xi8> {weft.layout = #weft.layout<#mesh, [{"a"}, {}, {}, {"b"}]>}, %arg2: tensor<1x1x1x1xi8>) -> (tensor<1x1x1x1xi8>, tensor<1x1x1x1xi1>) {
    %0 = weft.constant dense<true> : tensor<1x1x1x1xi1>
    %1 = weft.select %0, %arg2, %arg1 : tensor<1x1x1x1xi1>, tensor<1x1x1x1xi8>, tensor<1x1x1x1xi8> -> tensor<1x1x1x1xi8>
    %2 = weft.constant dense<0.000000e+00> : tensor<1x1x1x1xf32>
    %3 = weft.compare lt %arg0, %2 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x1x1xi1>
    return %1, %3 : tensor<1x1x1x1xi8>, tensor<1x1x1x1xi1>
  }
}

