// The other promises of Stages.def, one a run.

// RUN: split-file %s %t
// RUN: not weft-opt %t/abstract.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=differentiated})" 2>&1 | FileCheck %s --check-prefix=ABSTRACT
// ABSTRACT: error: stage 'differentiated': 'weft.value_and_grad' is still abstract; run --weft-differentiate
// RUN: not weft-opt %t/plain.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=sharded})" 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: error: stage 'sharded': 'weft.tanh' has a tensor without a layout; run --weft-propagate-layouts
// RUN: not weft-opt %t/plain.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=kernels})" 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: stage 'kernels': 'weft.tanh' computes outside a kernel; run --weft-outline-kernels
// RUN: not weft-opt %t/plain.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=plan})" 2>&1 | FileCheck %s --check-prefix=LEFT
// LEFT: error: stage 'plan': 'weft.tanh' is left in a function; run --weft-place-buffers
// RUN: not weft-opt %t/constrained.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=partitioned})" 2>&1 | FileCheck %s --check-prefix=CONSTRAINED
// CONSTRAINED: error: stage 'partitioned': 'weft.constrain' still says how a tensor lies; run --weft-partition
// RUN: not weft-opt %t/talking.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=differentiated})" 2>&1 | FileCheck %s --check-prefix=TALKING
// TALKING: error: stage 'differentiated': 'coll.all_reduce' communicates, which starts with the stage 'partitioned'

//--- abstract.mlir
func.func private @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = weft.reduce sum %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @step(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %0, %1 = weft.value_and_grad @loss(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %0, %1 : tensor<f32>, tensor<4xf32>
}
//--- plain.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- constrained.mlir
#mesh = #weft.mesh<"data"=2>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.constrain %x to #weft.layout<#mesh, [{"data"}]> because "a test" : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- talking.mlir
#mesh = #weft.mesh<"data"=2>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
