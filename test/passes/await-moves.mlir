// Moves between parts of the mesh are awaited where they are used: in front of the op that reads them, or at the end of the loop's
// body. The collective of a branch is awaited behind the branch.

// RUN: weft-opt %s --weft-await-moves | FileCheck %s
// RUN: weft-opt %s --weft-await-moves --weft-place-buffers | FileCheck %s --check-prefix=PLAN
// RUN: sed 's/{weft.mesh/{weft.overlap = "off", weft.mesh/' %s | weft-opt --weft-await-moves | FileCheck %s --check-prefix=OFF

// CHECK: %[[B:.+]] = coll.exchange
// CHECK-NEXT: weft.at #mesh {"stage" = 0}
// CHECK: plan.await %[[B]]
// CHECK-NEXT: weft.at #mesh {"stage" = 1}
// CHECK: %[[C:.+]] = weft.case
// CHECK: weft.at #mesh {"stage" = 0}
// CHECK: plan.await %[[C]]
// CHECK-NEXT: return
// OFF-NOT: plan.await

// PLAN: %[[S:.+]] = plan.start "exchange"
// PLAN: plan.jump_outside #mesh {"stage" = 0}
// PLAN: plan.label
// PLAN-NEXT: plan.wait %[[S]]
// PLAN-NEXT: plan.jump_outside #mesh {"stage" = 1}
// PLAN: plan.jump_unless
// PLAN: %[[T:.+]] = plan.start "exchange"
// PLAN-NEXT: plan.jump
// PLAN: plan.jump_outside #mesh {"stage" = 0}
// PLAN: plan.wait %[[T]]

#mesh = #weft.mesh<"stage"=2>
#s0 = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#s1 = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
module attributes {weft.mesh = #mesh} {
  func.func @step(%a: tensor<4xf32> {weft.global_type = tensor<4xf32>, weft.layout = #s0}, %p: tensor<i1>)
      -> (tensor<4xf32> {weft.layout = #s0}, tensor<4xf32> {weft.layout = #s1}, tensor<4xf32> {weft.layout = #s1}) {
    %b = coll.exchange %a of [4] from #s0 to #s1 reason "a" : tensor<4xf32> -> tensor<4xf32>
    %c = weft.at #mesh {"stage" = 0}(%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %y = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      weft.yield %y : tensor<4xf32>
    }
    %d = weft.at #mesh {"stage" = 1}(%b) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %y = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      weft.yield %y : tensor<4xf32>
    }
    %e = weft.case %p(%c) : tensor<i1>, (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %y = coll.exchange %x of [4] from #s0 to #s1 reason "c" : tensor<4xf32> -> tensor<4xf32>
      weft.yield %y : tensor<4xf32>
    }, {
    ^bb0(%x: tensor<4xf32>):
      %z = weft.constant dense<0.0> : tensor<4xf32>
      weft.yield %z : tensor<4xf32>
    }
    %f = weft.at #mesh {"stage" = 0}(%c) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>):
      %y = func.call @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
      weft.yield %y : tensor<4xf32>
    }
    return %f, %d, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
  func.func private @relu(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
