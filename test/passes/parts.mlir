// Two towers on the halves of a mesh. What a part runs is one region, and its
// results are brought to all devices by one exchange each.

// RUN: weft-opt %s --weft-propagate-layouts | FileCheck %s --check-prefix=LAYOUTS
// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-partition | FileCheck %s
// RUN: weft-opt %s --weft-pipeline="to=plan" | FileCheck %s --check-prefix=PLAN
// RUN: weft-fuzz --program %s

#mesh = #weft.mesh<"branch"=2, "data"=2>
#x0 = #weft.layout<#mesh, [{"data"}, {}], at = {"branch" = 0}>
#x1 = #weft.layout<#mesh, [{"data"}, {}], at = {"branch" = 1}>
#w0 = #weft.layout<#mesh, [{}, {}], at = {"branch" = 0}>
#w1 = #weft.layout<#mesh, [{}, {}], at = {"branch" = 1}>
#all = #weft.layout<#mesh, [{"branch", "data"}, {}]>
module attributes {weft.mesh = #mesh} {
  // LAYOUTS-DAG: #[[AT0:.+]] = #weft.layout<#mesh, [{"data"}, {}], at = {"branch" = 0}>
  // LAYOUTS-DAG: #[[AT1:.+]] = #weft.layout<#mesh, [{"data"}, {}], at = {"branch" = 1}>
  // LAYOUTS: weft.relu {{.*}}, #[[AT0]]>
  // LAYOUTS: weft.relu {{.*}}, #[[AT1]]>
  // LAYOUTS: weft.reshard %{{.+}} reason "result of weft.relu is on \22branch\22=0, and the whole mesh needs it for a constraint"

  // The second tower's ops come between those of the first.
  // CHECK-LABEL: func.func @main
  // CHECK: %[[A:.+]] = weft.at #mesh {"branch" = 0}(%arg0, %arg2)
  // CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<4x6xf32>, %[[U:.+]]: tensor<6x4xf32>):
  // CHECK-NEXT: %[[DOT:.+]] = weft.dot %[[X]], %[[U]]
  // CHECK-NEXT: %[[RELU:.+]] = weft.relu %[[DOT]]
  // CHECK-NEXT: weft.yield %[[RELU]]
  // CHECK: %[[B:.+]] = weft.at #mesh {"branch" = 1}(%arg1, %arg3)
  // CHECK: weft.dot
  // CHECK: weft.relu
  // CHECK: coll.exchange %[[A]] of [8, 4] from #{{.+}} to #{{.+}} reason {{.+}} : tensor<4x4xf32> -> tensor<2x4xf32>
  // CHECK: coll.exchange %[[B]] of [8, 4] from #{{.+}} to #{{.+}} reason {{.+}} : tensor<4x4xf32> -> tensor<2x4xf32>
  // CHECK: weft.mul

  // PLAN: plan.jump_outside #mesh {"branch" = 0} "[[END0:.+]]"
  // PLAN-NEXT: plan.launch @[[KERNEL:.+]](
  // PLAN-NEXT: plan.label "[[END0]]"
  // PLAN-NEXT: plan.jump_outside #mesh {"branch" = 1} "[[END1:.+]]"
  // PLAN-NEXT: plan.launch @[[KERNEL]](
  // PLAN-NEXT: plan.label "[[END1]]"
  // PLAN-NEXT: plan.start "exchange"
  func.func @main(%x: tensor<8x6xf32> {weft.layout = #x0}, %y: tensor<8x6xf32> {weft.layout = #x1},
                  %u: tensor<6x4xf32> {weft.layout = #w0}, %v: tensor<6x4xf32> {weft.layout = #w1})
      -> (tensor<8x4xf32> {weft.layout = #all}) {
    %0 = weft.dot %x, %u contract [1] x [0] : tensor<8x6xf32>, tensor<6x4xf32> -> tensor<8x4xf32>
    %2 = weft.dot %y, %v contract [1] x [0] : tensor<8x6xf32>, tensor<6x4xf32> -> tensor<8x4xf32>
    %1 = weft.relu %0 : tensor<8x4xf32>
    %3 = weft.relu %2 : tensor<8x4xf32>
    %a = weft.constrain %1 to #all : tensor<8x4xf32> -> tensor<8x4xf32>
    %b = weft.constrain %3 to #all : tensor<8x4xf32> -> tensor<8x4xf32>
    %4 = weft.mul %a, %b : tensor<8x4xf32>
    return %4 : tensor<8x4xf32>
  }
}
