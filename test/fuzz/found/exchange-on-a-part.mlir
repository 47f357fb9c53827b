// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 888180 --count 1 --ops 8 --compiled-every 8
// It is refused:
//   stage 'partitioned': 'coll.exchange' communicates over "a", but only the devices of "a"=0 run it

#mesh = #weft.mesh<"a"=2, "b"=6>
#layout = #weft.layout<#mesh, [{}, {"b":(3)2}, {}, {}]>
module attributes {weft.fuzz = "inputs=888180 detours=888180", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1xf32>, %arg1: tensor<i32>, %arg2: tensor<1x1x1x1xf32>, %arg3: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xi1> {weft.layout = #layout}, tensor<1x1x1xi8>) {
    %0 = weft.constant dense<1.000000e+00> : tensor<1x1x1xf32>
    %1 = weft.constant dense<0.000000e+00> : tensor<1x1x1xf32>
    %2 = weft.div %0, %arg0 : tensor<1x1x1xf32>
    %3 = weft.compare lt %2, %1 : tensor<1x1x1xf32>, tensor<1x1x1xf32> -> tensor<1x1x1xi1>
    %4 = weft.triangular_solve %arg3, %arg2 {unit_diagonal} : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x1x1xf32>
    %5 = weft.case %arg1(%4, %4) : tensor<i32>, (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
    ^bb0(%arg4: tensor<1x1x1x1xf32>, %arg5: tensor<1x1x1x1xf32>):
      weft.yield %arg4 : tensor<1x1x1x1xf32>
    }, {
    ^bb0(%arg4: tensor<1x1x1x1xf32>, %arg5: tensor<1x1x1x1xf32>):
      weft.yield %arg4 : tensor<1x1x1x1xf32>
    }, {
    ^bb0(%arg4: tensor<1x1x1x1xf32>, %arg5: tensor<1x1x1x1xf32>):
      %11 = weft.constant dense<0.000000e+00> : tensor<1x1x1x1xf32>
      weft.yield %11 : tensor<1x1x1x1xf32>
    }
    %6 = weft.constant dense<1.000000e+00> : tensor<1x1x1x1xf32>
    %7 = weft.constant dense<0.000000e+00> : tensor<1x1x1x1xf32>
    %8 = weft.div %6, %arg2 : tensor<1x1x1x1xf32>
    %9 = weft.compare lt %8, %7 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32> -> tensor<1x1x1x1xi1>
    %10 = weft.convert %3 : tensor<1x1x1xi1> -> tensor<1x1x1xi8>
    return %5, %9, %10 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xi1>, tensor<1x1x1xi8>
  }
}

