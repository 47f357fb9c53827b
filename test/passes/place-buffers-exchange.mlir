// Values that a loop exchanges, or computes while the old ones are read, exchange
// their buffers: the plan has the body twice. Arrays are tensor<64x64xf32>.
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels --weft-place-buffers --split-input-file %s | FileCheck %s
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels --weft-place-buffers --split-input-file %s | FileCheck --check-prefix=ONCE %s

// Two arrays are swapped, and a row of one is changed. After an even number of
// rounds each is where it was; after an odd number both are moved, once.
// CHECK-LABEL: plan.program @swapped
// CHECK: %[[A:.*]] = plan.input "in/0"
// CHECK: %[[B:.*]] = plan.input "in/1"
// CHECK: plan.label "loop 0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump_unless {{.*}} "end 1"
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[B]], {{.*}}, %[[B]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump_unless {{.*}} "exchanged 2"
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[A]], {{.*}}, %[[A]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump "loop 0"
// CHECK: plan.label "exchanged 2"
// CHECK-COUNT-3: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump "end 1"
// CHECK: plan.label "end 1"
// CHECK-NOT: plan.copy
// CHECK: func.func
func.func @swapped(%a: tensor<64x64xf32> {weft.donated = 0 : i64}, %b: tensor<64x64xf32> {weft.donated = 1 : i64}, %row: tensor<1x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %r:3 = weft.for 1000 (%a, %b, %row) : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x64xf32>) {
  ^bb0(%i: tensor<i32>, %u: tensor<64x64xf32>, %v: tensor<64x64xf32>, %w: tensor<1x64xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %0 = weft.dynamic_update_slice %v, %w at (%zero, %zero) : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
    weft.yield %0, %u, %w : tensor<64x64xf32>, tensor<64x64xf32>, tensor<1x64xf32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// The new value is written over the older of two, whose buffer is free.
// CHECK-LABEL: plan.program @leapfrog
// CHECK: %[[A:.*]] = plan.input "in/0"
// CHECK: %[[B:.*]] = plan.input "in/1"
// CHECK: plan.label "loop 0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.launch @elementwise_add_sub{{.*}}(%[[B]], %[[A]], %[[A]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.launch @elementwise_add_sub{{.*}}(%[[A]], %[[B]], %[[B]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump "loop 0"
func.func @leapfrog(%a: tensor<64x64xf32> {weft.donated = 0 : i64}, %b: tensor<64x64xf32> {weft.donated = 1 : i64}) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %r:2 = weft.for 1000 (%a, %b) : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%i: tensor<i32>, %u: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %0 = weft.add %v, %v : tensor<64x64xf32>
    %1 = weft.sub %0, %u : tensor<64x64xf32>
    weft.yield %v, %1 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A transpose is not computed in place: the value is in two buffers by turns.
// CHECK-LABEL: plan.program @turned
// CHECK: plan.label "loop 0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.launch @[[T:.*transpose.*]](%[[X:.*]], %[[Y:.*]]) : memref<64x64xf32>
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.launch @[[T]](%[[Y]], %[[X]]) : memref<64x64xf32>
// CHECK-NOT: plan.copy {{.*}} : memref<64x64xf32>
// CHECK: plan.jump "loop 0"
func.func @turned(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = weft.for 1000 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
    %0 = weft.transpose %v [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    weft.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----

// A loop of one round has one body.
// ONCE-LABEL: plan.program @once
// ONCE-NOT: "exchanged
func.func @once(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = weft.for 1 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
    %0 = weft.transpose %v [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
    weft.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
