// A loop of another dialect, whose body sees values from outside: layouts,
// hoisting and partitioning know it by RegionBranchOpInterface alone.
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reductions --weft-hoist-reshards --weft-merge-reshards --weft-verify-layouts %s | FileCheck %s
// RUN: weft-opt --weft-propagate-layouts --weft-sink-reshards --weft-hoist-reductions --weft-hoist-reshards --weft-merge-reshards --weft-partition %s | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"data"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @outside
  // CHECK: %[[W:.*]] = weft.reshard %arg1
  // CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %arg0) -> (tensor<16x8xf32, #[[ROWS:.*]]>)
  // CHECK-NOT: weft.reshard
  // CHECK: weft.dot %[[V]], %[[W]]
  // CHECK: scf.yield
  // LOCAL-LABEL: func.func @outside(%arg0: tensor<4x8xf32>
  // LOCAL: coll.all_gather
  // LOCAL: scf.for {{.*}} -> (tensor<4x8xf32>)
  // LOCAL-NOT: coll.all_gather
  // LOCAL: return
  func.func @outside(%x: tensor<16x8xf32> {weft.layout = #rows}, %w: tensor<8x8xf32> {weft.layout = #rows}) -> tensor<16x8xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %r = scf.for %i = %zero to %five step %one iter_args(%v = %x) -> (tensor<16x8xf32>) {
      %0 = weft.dot %v, %w contract [1] x [0] : tensor<16x8xf32>, tensor<8x8xf32> -> tensor<16x8xf32>
      %1 = weft.tanh %0 : tensor<16x8xf32>
      scf.yield %1 : tensor<16x8xf32>
    }
    return %r : tensor<16x8xf32>
  }

  // CHECK-LABEL: func.func @accumulates
  // CHECK: %[[SUM:.*]] = scf.for
  // CHECK-NOT: weft.reshard
  // CHECK: scf.yield
  // CHECK: weft.reshard %[[SUM]]
  // LOCAL-LABEL: func.func @accumulates
  // LOCAL: scf.for
  // LOCAL-NOT: coll.all_reduce
  // LOCAL: }
  // LOCAL: coll.all_reduce
  func.func @accumulates(%x: tensor<16x8xf32> {weft.layout = #rows}) -> tensor<8xf32> {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %five = arith.constant 5 : index
    %start = weft.constant dense<0.0> : tensor<8xf32>
    %r = scf.for %i = %zero to %five step %one iter_args(%sum = %start) -> (tensor<8xf32>) {
      %0 = weft.reduce sum %x dims [0] : tensor<16x8xf32> -> tensor<8xf32>
      %1 = weft.add %sum, %0 : tensor<8xf32>
      scf.yield %1 : tensor<8xf32>
    }
    return %r : tensor<8xf32>
  }
}
