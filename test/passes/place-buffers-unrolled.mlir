// Where kernels are launches, the plan repeats the body of a counted loop: no condition is read between the rounds.
// DEFINE: %{kernels} = weft-opt --weft-lower-control-flow --weft-outline-kernels=target=cuda:sm_80 --split-input-file %s
// RUN: %{kernels} | weft-opt --weft-place-buffers=target=cuda:sm_80 --split-input-file | FileCheck %s
// RUN: not weft-opt --weft-place-buffers=target=tpu %s --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}tpu

// All rounds; the kernel of the condition is not launched, and not there.
// CHECK-LABEL: plan.program @few
// CHECK-NOT: plan.label
// CHECK-NOT: plan.jump
// CHECK-COUNT-3: plan.launch @{{.*}}mul
// CHECK-NOT: plan.launch @{{.*}}mul
// CHECK: func.func private @{{.*}}mul
// CHECK-NOT: compare
func.func @few(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = weft.for 3 (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    %0 = weft.mul %v, %u : tensor<4xf32>
    weft.yield %0, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// Of 100,003 rounds, those that are left over come first, and then sets of as many bodies as the limit allows.
// CHECK-LABEL: plan.program @many
// CHECK: plan.launch @{{.*}}mul
// CHECK: plan.label "loop 0" rounds [[SETS:[0-9]+]]
// CHECK-NEXT: plan.launch @{{.*}}compare
// CHECK-NEXT: plan.jump_unless %{{.*}} "end 1"
// CHECK-NEXT: plan.launch @{{.*}}mul
// CHECK-NEXT: plan.launch @{{.*}}add
// CHECK-NEXT: plan.launch @{{.*}}mul
// CHECK: plan.jump "loop 0"
// CHECK-NEXT: plan.label "end 1"
// CHECK-NEXT: }
func.func @many(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = weft.for 100003 (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    %0 = weft.mul %v, %u : tensor<4xf32>
    weft.yield %0, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// Rounds that exchange buffers stay in pairs: the carried value alternates between two buffers, and is in the result's in the end.
// CHECK-LABEL: plan.program @exchanged
// CHECK: %[[Y:.*]] = plan.output "out/0"
// CHECK: plan.launch @[[STEP:general_.*]](%[[A:.*]], %[[B:.*]])
// CHECK: plan.launch @[[STEP]](%[[B]], %[[A]])
// CHECK: plan.launch @[[STEP]](%[[A]], %[[B]])
// CHECK: plan.launch @[[STEP]](%[[B]], %[[A]])
// CHECK-NOT: plan.launch @[[STEP]]
func.func @exchanged(%x: tensor<8192xf32>) -> tensor<8192xf32> {
  %r = weft.for 4 (%x) : (tensor<8192xf32>) -> tensor<8192xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<8192xf32>):
    %0 = weft.reverse %v dims [0] : tensor<8192xf32>
    %1 = weft.add %v, %0 : tensor<8192xf32>
    weft.yield %1 : tensor<8192xf32>
  }
  return %r : tensor<8192xf32>
}

// -----

// A condition that depends on data is read in each round.
// CHECK-LABEL: plan.program @unknown
// CHECK: plan.label "loop 0"
// CHECK: plan.jump_unless
// CHECK-COUNT-1: plan.launch @{{.*}}mul
// CHECK-NOT: plan.launch @{{.*}}mul
// CHECK: plan.jump "loop 0"
func.func @unknown(%x: tensor<f32>) -> tensor<f32> {
  %r = weft.while (%x) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    %l = weft.constant dense<100.0> : tensor<f32>
    %0 = weft.compare lt %v, %l : tensor<f32>, tensor<f32> -> tensor<i1>
    weft.condition %0 (%v) : tensor<i1>, tensor<f32>
  } do {
  ^bb0(%v: tensor<f32>):
    %0 = weft.mul %v, %v : tensor<f32>
    weft.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}
