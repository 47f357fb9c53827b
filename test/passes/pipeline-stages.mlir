// Two stages in 1F1B: an iteration has a pass of each kind of each stage. Stage 0 computes the forward pass of microbatch i and
// then the backward pass of microbatch i - 1; stage 1 both of i - 1. What a stage gives the other is moved behind the pass.

// RUN: weft-opt %s --weft-differentiate --canonicalize --cse --weft-divide-batch --weft-pipeline-stages | FileCheck %s
// RUN: weft-opt %s --weft-pipeline="to=partitioned" | FileCheck %s --check-prefix=LOCAL
// RUN: sed s/1f1b/gpipe/ %s | weft-opt --weft-pipeline="to=differentiated" | FileCheck %s --check-prefix=GPIPE
// RUN: sed 's/"1f1b"/["F0 F1 F2 B0 F3 B1 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"]/' %s | weft-opt --weft-pipeline="to=differentiated" | FileCheck %s --check-prefix=LISTS

// CHECK: weft.for 5({{.*}}) {weft.ordered}
// CHECK: ^bb0(%[[I:[a-z0-9]+]]: tensor<i32>
// The forward pass of stage 0 keeps what its backward pass reads in rings of two.
// CHECK: %[[F0:.+]]:3 = weft.case
// CHECK-SAME: {weft.taken = array<i64: 0, 4>}
// CHECK: weft.dot
// CHECK: weft.relu
// CHECK: weft.dynamic_update_slice {{.*}} -> tensor<2x4x6xf32>
// CHECK: weft.dynamic_update_slice {{.*}} -> tensor<2x4x6xf32>
// CHECK: weft.constrain %[[F0]]#0 to {{.*}} reason "stage 1 of the pipeline" {weft.open
// CHECK-NEXT: weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// CHECK: weft.reduce sum
// CHECK: %[[B1:.+]]:2 = weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// CHECK: weft.constrain %[[B1]]#0 to {{.*}} reason "stage 0 of the pipeline" {weft.open
// CHECK-NEXT: weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// CHECK: weft.dynamic_slice {{.*}}tensor<2x4x6xf32>
// CHECK: weft.add {{.*}} : tensor<6x6xf32>
// CHECK-NOT: weft.case
// CHECK: weft.yield

// Each device runs the passes of its stage. Only microbatches are moved. Gradients are summed over "data" once, after the loop.
// LOCAL: weft.for 5
// LOCAL: weft.at #mesh {"stage" = 0}
// LOCAL: weft.case {{.*}} {weft.taken = array<i64: 0, 4>}
// LOCAL: weft.case {{.*}} {weft.taken = array<i64: 0, 4>}
// LOCAL-NEXT: ^bb0
// LOCAL-NEXT: coll.exchange
// LOCAL: weft.at #mesh {"stage" = 1}
// LOCAL: weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// LOCAL: weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// LOCAL: weft.case {{.*}} {weft.taken = array<i64: 1, 4>}
// LOCAL-NEXT: ^bb0
// LOCAL-NEXT: coll.exchange
// LOCAL: weft.at #mesh {"stage" = 0}
// LOCAL-NOT: coll.
// LOCAL: weft.yield {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}
// GPIPE: weft.for 7(
// GPIPE: tensor<4x4x6xf32>
// LISTS: weft.for 6(

#mesh = #weft.mesh<"stage"=2, "data"=2>
#x = #weft.layout<#mesh, [{"data"}, {}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{"data"}, {}], at = {"stage" = 1}>
#w0 = #weft.layout<#mesh, [{}, {}], at = {"stage" = 0}>
#w1 = #weft.layout<#mesh, [{}, {}], at = {"stage" = 1}>
module attributes {weft.mesh = #mesh, weft.microbatches = 4 : i64, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @train(%u: tensor<6x6xf32> {weft.layout = #w0, weft.role = "weight", weft.donated = 0 : i64},
                   %v: tensor<6x4xf32> {weft.layout = #w1, weft.role = "weight", weft.donated = 1 : i64},
                   %x: tensor<16x6xf32> {weft.layout = #x, weft.role = "input"},
                   %y: tensor<16x4xf32> {weft.layout = #y, weft.role = "label"})
      -> (tensor<6x6xf32> {weft.layout = #w0}, tensor<6x4xf32> {weft.layout = #w1}, tensor<f32>) {
    %l, %g:2 = weft.value_and_grad @loss(%u, %v, %x, %y) wrt [0, 1] : (tensor<6x6xf32>, tensor<6x4xf32>, tensor<16x6xf32>, tensor<16x4xf32>) -> (tensor<f32>, tensor<6x6xf32>, tensor<6x4xf32>)
    %a = weft.sub %u, %g#0 : tensor<6x6xf32>
    %b = weft.sub %v, %g#1 : tensor<6x4xf32>
    return %a, %b, %l : tensor<6x6xf32>, tensor<6x4xf32>, tensor<f32>
  }
  func.func private @loss(%u: tensor<6x6xf32>, %v: tensor<6x4xf32>, %x: tensor<16x6xf32>, %y: tensor<16x4xf32>) -> tensor<f32> {
    %0 = weft.dot %x, %u contract [1] x [0] : tensor<16x6xf32>, tensor<6x6xf32> -> tensor<16x6xf32>
    %1 = weft.constrain %0 to #x : tensor<16x6xf32> -> tensor<16x6xf32>
    %2 = weft.relu %1 : tensor<16x6xf32>
    %20 = weft.constrain %2 to #x : tensor<16x6xf32> -> tensor<16x6xf32>
    %3 = weft.constrain %20 to #y : tensor<16x6xf32> -> tensor<16x6xf32>
    %4 = weft.dot %3, %v contract [1] x [0] : tensor<16x6xf32>, tensor<6x4xf32> -> tensor<16x4xf32>
    %5 = weft.constrain %4 to #y : tensor<16x4xf32> -> tensor<16x4xf32>
    %6 = weft.sub %5, %y : tensor<16x4xf32>
    %7 = weft.mul %6, %6 : tensor<16x4xf32>
    %8 = weft.reduce sum %7 dims [0, 1] : tensor<16x4xf32> -> tensor<f32>
    return %8 : tensor<f32>
  }
}
