// Ops that per-device code cannot have are refused by name.
// RUN: split-file %s %t
// RUN: not weft-opt %t/derivative.mlir --weft-differentiate 2>&1 | FileCheck %s --check-prefix=DERIVATIVE
// DERIVATIVE: 'weft.manual' op
// RUN: not weft-opt %t/stage.mlir --weft-verify-stage=stage=partitioned 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: 'weft.manual' still has tensors of all devices; run --weft-partition
// RUN: not weft-opt %t/mesh.mlir --weft-propagate-layouts 2>&1 | FileCheck %s --check-prefix=MESH
// MESH: weft.manual: the layout's mesh is not the module's weft.mesh; use one mesh for all annotations

//--- derivative.mlir
#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#r = #weft.layout<#mesh, []>
module {
  func.func private @loss(%a: tensor<8xf32>) -> tensor<f32> {
    %0 = weft.manual(%a) from [#x] to [#r] : (tensor<8xf32>) -> tensor<f32> {
    ^bb0(%p: tensor<4xf32>):
      %s = weft.reduce sum %p dims [0] : tensor<4xf32> -> tensor<f32>
      %t = coll.all_reduce sum %s over #mesh ["x"] : tensor<f32>
      weft.yield %t : tensor<f32>
    }
    return %0 : tensor<f32>
  }
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0:2 = weft.value_and_grad @loss(%a) wrt [0] : (tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)
    return %0#1 : tensor<8xf32>
  }
}

//--- stage.mlir
#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
module attributes {weft.mesh = #mesh} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%p: tensor<4xf32>):
      weft.yield %p : tensor<4xf32>
    }
    return %0 : tensor<8xf32>
  }
}

//--- mesh.mlir
#mesh = #weft.mesh<"x"=2>
#x = #weft.layout<#mesh, [{"x"}]>
module attributes {weft.mesh = #weft.mesh<"z"=2>} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = weft.manual(%a) from [#x] to [#x] : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%p: tensor<4xf32>):
      weft.yield %p : tensor<4xf32>
    }
    return %0 : tensor<8xf32>
  }
}
