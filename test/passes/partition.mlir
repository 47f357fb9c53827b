// RUN: weft-opt %s --split-input-file --weft-verify-layouts --weft-partition | FileCheck %s

// Seven rows over three devices are blocks of three: the last device holds one
// valid row, so a sum over rows masks the rows behind it.
#mesh = #weft.mesh<"d"=3>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#partial = #weft.layout<#mesh, [{}], partial = sum{"d"}>
#whole = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @uneven
  // CHECK-SAME: %[[X:.+]]: tensor<3x4xf32> {weft.global_type = tensor<7x4xf32>, weft.layout = #
  // CHECK: %[[C:.+]] = coll.coordinate over #mesh ["d"]
  // CHECK: %[[BLOCK:.+]] = weft.constant dense<3>
  // CHECK: %[[OFFSET:.+]] = weft.mul %[[C]], %[[BLOCK]]
  // CHECK: %[[ROW:.+]] = weft.iota dim 0 offset %[[OFFSET]]
  // CHECK: %[[SIZE:.+]] = weft.constant dense<7>
  // CHECK: %[[VALID:.+]] = weft.compare lt %[[ROW]], %[[SIZE]]
  // CHECK: %[[ZERO:.+]] = weft.constant dense<-0.0{{.*}}>
  // CHECK: %[[MASKED:.+]] = weft.select %[[VALID]], %[[X]], %[[ZERO]]
  // CHECK: %[[SUM:.+]] = weft.reduce sum %[[MASKED]]
  // CHECK: coll.all_reduce sum %[[SUM]] over #mesh ["d"] reason "why"
  func.func @uneven(%x: tensor<7x4xf32, #rows>) -> tensor<4xf32, #whole> {
    %0 = weft.reduce sum %x dims [0] : tensor<7x4xf32, #rows> -> tensor<4xf32, #partial>
    %1 = weft.reshard %0 reason "why" : tensor<4xf32, #partial> -> tensor<4xf32, #whole>
    return %1 : tensor<4xf32, #whole>
  }
}

// -----

#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#cols = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @even
  // CHECK-NOT: weft.select
  // CHECK: coll.all_to_all {{.*}} split 1 concat 0 over #mesh ["d"] {{.*}}: tensor<4x4xf32> -> tensor<8x2xf32>
  // CHECK-NOT: weft.select
  func.func @even(%x: tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #cols> {
    %0 = weft.reshard %x : tensor<8x4xf32, #rows> -> tensor<8x4xf32, #cols>
    return %0 : tensor<8x4xf32, #cols>
  }
}
