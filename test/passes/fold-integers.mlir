// RUN: weft-opt %s --weft-fold-integers --canonicalize | FileCheck %s

#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  // The start of a block, as JAX clamps it, and the zero of a pad.
  // CHECK-LABEL: @start
  // CHECK-DAG: weft.constant dense<[8, 16]> : tensor<2xi64>
  // CHECK-DAG: weft.constant dense<3.000000e+00> : tensor<f32>
  // CHECK-NEXT: return
  func.func @start() -> (tensor<2xi64>, tensor<f32>) {
    %a = weft.constant dense<8> : tensor<1xi32>
    %b = weft.constant dense<20> : tensor<1xi32>
    %most = weft.constant dense<16> : tensor<2xi64>
    %i = weft.concatenate %a, %b dim 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %j = weft.convert %i : tensor<2xi32> -> tensor<2xi64>
    %k = weft.compare le %j, %most : tensor<2xi64>, tensor<2xi64> -> tensor<2xi1>
    %l = weft.select %k, %j, %most : tensor<2xi1>, tensor<2xi64>, tensor<2xi64> -> tensor<2xi64>
    %three = weft.constant dense<3> : tensor<i32>
    %z = weft.convert %three : tensor<i32> -> tensor<f32>
    return %l, %z : tensor<2xi64>, tensor<f32>
  }

  // Floats are computed by the device.
  // CHECK-LABEL: @floats
  // CHECK: weft.exp
  func.func @floats() -> tensor<f32> {
    %a = weft.constant dense<2.0> : tensor<f32>
    %b = weft.exp %a : tensor<f32>
    return %b : tensor<f32>
  }
}
