// The other promises of Stages.def, one for each run.

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
// RUN: not weft-opt %t/region.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=sharded})" 2>&1 | FileCheck %s --check-prefix=REGION
// REGION: region.mlir:6:{{.*}}error: stage 'sharded': 'coll.all_reduce' has a tensor without a layout; run --weft-propagate-layouts
// RUN: not weft-opt %t/region.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=partitioned})" 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: stage 'partitioned': 'weft.manual' still has tensors of all devices; run --weft-partition
// RUN: not weft-opt %t/laid.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=sharded})" 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: laid.mlir:7:{{.*}}error: stage 'sharded': 'weft.reshard' has a layout over "x", which weft.manual around it takes itself; run --weft-propagate-layouts
// RUN: weft-opt %t/device.mlir --pass-pipeline="builtin.module(weft-verify-stage{stage=differentiated},weft-propagate-layouts,weft-verify-stage{stage=sharded})"

//--- region.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
func.func @f(%v: tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  ^bb0(%a: tensor<4xf32>):
    %1 = coll.all_reduce sum %a over #mesh ["x"] : tensor<4xf32>
    %2 = weft.tanh %1 : tensor<4xf32>
    weft.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<8xf32, #x>
}
//--- laid.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#whole = #weft.layout<#mesh, [{}]>
func.func @f(%v: tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<8xf32, #x>) -> tensor<8xf32, #x> {
  ^bb0(%a: tensor<4xf32, #whole>):
    %1 = weft.reshard %a : tensor<4xf32, #whole> -> tensor<4xf32, #x>
    %2 = weft.reshard %1 : tensor<4xf32, #x> -> tensor<4xf32, #whole>
    weft.yield %2 : tensor<4xf32, #whole>
  }
  return %0 : tensor<8xf32, #x>
}
//--- device.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#y = #weft.layout<#mesh, [{"y"}]>
module attributes {weft.mesh = #mesh} {
  // One device's program in a region with a free axis, and a loop beside it.
  func.func @f(%v: tensor<8xf32>) -> tensor<8xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = weft.manual(%a) from [#y] to [#y] : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%b: tensor<2xf32>):
        %3 = coll.all_reduce sum %b over #mesh ["y"] : tensor<2xf32>
        weft.yield %3 : tensor<2xf32>
      }
      %2 = weft.for 3 (%1) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%i: tensor<i32>, %c: tensor<4xf32>):
        %4 = coll.all_reduce sum %c over #mesh ["x"] : tensor<4xf32>
        weft.yield %4 : tensor<4xf32>
      }
      weft.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<8xf32>
  }
}

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
  %0 = weft.constrain %x to #weft.layout<#mesh, [{"data"}]> reason "a test" : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- talking.mlir
#mesh = #weft.mesh<"data"=2>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  return %0 : tensor<4xf32>
}
