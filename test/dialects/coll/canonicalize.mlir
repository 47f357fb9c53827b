// RUN: weft-opt --cse --canonicalize --loop-invariant-code-motion %s | FileCheck %s

#mesh = #weft.mesh<"data"=2>

// Unused and repeated collectives are removed.
// CHECK-LABEL: @unused
// CHECK-COUNT-1: coll.all_reduce
// CHECK-NOT: coll
// CHECK: return
func.func @unused(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = coll.all_gather %x dim 0 over #mesh ["data"] : tensor<4xf32> -> tensor<8xf32>
  %1 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  %2 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// A loop may not run at all: nothing is communicated in front of it.
// CHECK-LABEL: @in_loop
// CHECK: scf.for
// CHECK: coll.all_reduce
func.func @in_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %1 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
    %2 = weft.add %a, %1 : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
