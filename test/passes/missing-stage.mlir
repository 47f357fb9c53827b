// A pass whose predecessor was left out says so, instead of doing nothing.

// RUN: split-file %s %t
// RUN: not weft-opt %t/annotated.mlir --weft-partition 2>&1 | FileCheck %s --check-prefix=PARTITION
// PARTITION: error: 'func.func' has a tensor without a layout; run --weft-propagate-layouts before --weft-partition
// RUN: not weft-opt %t/annotated.mlir --weft-merge-reshards 2>&1 | FileCheck %s --check-prefix=MERGE
// MERGE: error: 'func.func' has a tensor without a layout; run --weft-propagate-layouts before --weft-merge-reshards
// RUN: not weft-opt %t/inner.mlir --weft-partition 2>&1 | FileCheck %s --check-prefix=INNER
// INNER: error: 'weft.iota' has a tensor without a layout; run --weft-propagate-layouts before --weft-partition
// RUN: not weft-opt %t/annotated.mlir --weft-outline-kernels --weft-choose-nests --weft-place-buffers 2>&1 | FileCheck %s --check-prefix=PORT
// PORT: error: 'func.func' has a port laid out #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>, but of global size; run --weft-partition before --weft-outline-kernels
// RUN: not weft-opt %t/result.mlir --weft-place-buffers 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: error: 'func.func' has a port laid out #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>, but of global size; run --weft-partition before --weft-place-buffers
// RUN: not weft-opt %t/annotated.mlir --weft-propagate-layouts --weft-lower-control-flow 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: error: 'func.func' has a port laid out {{.*}}, but of global size; run --weft-partition before --weft-lower-control-flow
// RUN: not weft-opt %t/plain.mlir --weft-propagate-layouts --weft-combine-all-reduces 2>&1 | FileCheck %s --check-prefix=CARRIES
// CARRIES: error: 'weft.tanh' has a layout in a type; run --weft-partition before --weft-combine-all-reduces
// RUN: weft-opt %t/annotated.mlir --weft-propagate-layouts --weft-partition --weft-lower-control-flow --weft-outline-kernels --weft-choose-nests --weft-place-buffers

//--- annotated.mlir
#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @f(%v: tensor<8xf32> {weft.layout = #weft.layout<#mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = weft.tanh %v : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
//--- inner.mlir
func.func @f() -> tensor<8xi32> {
  %0 = weft.iota dim 0 : tensor<8xi32>
  return %0 : tensor<8xi32>
}
//--- result.mlir
#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @f(%v: tensor<8xf32>) -> (tensor<8xf32> {weft.layout = #weft.layout<#mesh, [{"x"}]>}) {
    return %v : tensor<8xf32>
  }
}
//--- plain.mlir
func.func @f(%v: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.tanh %v : tensor<8xf32>
  return %0 : tensor<8xf32>
}
