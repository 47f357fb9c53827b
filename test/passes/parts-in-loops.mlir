// Values of one loop on two parts of the mesh: its ops are on the parts of their
// values, the loop itself on the whole mesh. Ports of a part are copied on its
// devices alone.

// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-partition | FileCheck %s
// RUN: weft-opt %s --weft-pipeline="to=plan" | FileCheck %s --check-prefix=PLAN
// RUN: weft-fuzz --program %s

// CHECK: weft.for 3(%arg0, %arg1)
// CHECK: %[[A:.+]] = weft.at #mesh {"branch" = 0}
// CHECK: %[[B:.+]] = coll.exchange %[[A]]
// CHECK: weft.at #mesh {"branch" = 1}(%[[B]],
// CHECK: weft.yield

// PLAN: plan.jump_outside #mesh {"branch" = 0} "[[FIRST:.+]]"
// PLAN-NEXT: plan.copy %0 to
// PLAN-NEXT: plan.label "[[FIRST]]"
// PLAN-NEXT: plan.jump_outside #mesh {"branch" = 1} "[[SECOND:.+]]"
// PLAN-NEXT: plan.copy %1 to
// PLAN-NEXT: plan.label "[[SECOND]]"
// PLAN: plan.label "{{.+}}" rounds 3
#mesh = #weft.mesh<"branch"=2, "data"=2>
#at0 = #weft.layout<#mesh, [{"data"}], at = {"branch" = 0}>
#at1 = #weft.layout<#mesh, [{"data"}], at = {"branch" = 1}>
module attributes {weft.mesh = #mesh} {
  func.func @main(%x: tensor<4xf32> {weft.layout = #at0}, %w: tensor<4xf32> {weft.layout = #at1}) -> (tensor<4xf32> {weft.layout = #at1}, tensor<4xf32>) {
    %y:2 = weft.for 3 (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
      %0 = weft.add %v, %v : tensor<4xf32>
      %1 = weft.constrain %0 to #at0 : tensor<4xf32> -> tensor<4xf32>
      %2 = weft.constrain %1 to #at1 : tensor<4xf32> -> tensor<4xf32>
      %3 = weft.mul %2, %u : tensor<4xf32>
      %5 = weft.relu %3 : tensor<4xf32>
      weft.yield %1, %5 : tensor<4xf32>, tensor<4xf32>
    }
    return %y#1, %y#0 : tensor<4xf32>, tensor<4xf32>
  }
}
