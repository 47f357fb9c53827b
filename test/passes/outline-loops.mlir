// A loop without communication becomes one launch of a routine.
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels --weft-choose-nests=target=cpu:avx2 --weft-place-buffers --weft-outline-loops --split-input-file %s | FileCheck %s

// The counter and the condition are the routine's; the state is copied in and out.
// CHECK-LABEL: plan.routine @loop_elementwise_mul_4
// CHECK-NEXT: ^bb0(%[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>):
// CHECK: plan.constant dense<0> : tensor<i32> : memref<i32>
// CHECK: plan.copy %[[X]] to %[[IN:.*]] : memref<4xf32>
// CHECK: plan.label "loop 0" rounds 3
// CHECK-NEXT: plan.launch @{{.*}}compare
// CHECK-NEXT: plan.jump_unless %{{.*}} "end 1"
// CHECK: plan.jump "loop 0"
// CHECK-NEXT: plan.label "end 1"
// CHECK-NEXT: plan.copy %{{.*}} to %[[Y]] : memref<4xf32>
// CHECK-NEXT: }
// CHECK-LABEL: plan.program @counted
// CHECK-SAME: arena 0
// CHECK: %[[A:.*]] = plan.input "in/0"
// CHECK: %[[B:.*]] = plan.output "out/0"
// CHECK-NOT: plan.buffer
// CHECK: plan.launch @loop_elementwise_mul_4(%[[A]], %[[B]]) : memref<4xf32>, memref<4xf32>
// CHECK-NEXT: }
func.func @counted(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = weft.for 3 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %0 = weft.mul %v, %v : tensor<4xf32>
    weft.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A loop in a loop is in the routine of the outer loop, as is a branch.
// CHECK-LABEL: plan.routine
// CHECK: plan.label "loop 0" rounds 3
// CHECK: plan.label "loop 2" rounds 5
// CHECK: plan.jump_unless %{{.*}} "else 4"
// CHECK: plan.jump "loop 2"
// CHECK: plan.jump "loop 0"
// CHECK-LABEL: plan.program @nested
// CHECK: plan.launch @loop_
// CHECK-NEXT: }
func.func @nested(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %r:2 = weft.for 3 (%x, %p) : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<i1>) {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>, %q: tensor<i1>):
    %s:2 = weft.for 5 (%v, %q) : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<i1>) {
    ^bb0(%j: tensor<i32>, %u: tensor<f32>, %c: tensor<i1>):
      %0 = weft.case %c(%u) : tensor<i1>, (tensor<f32>) -> tensor<f32> {
      ^bb0(%a: tensor<f32>):
        %1 = weft.exp %a : tensor<f32>
        weft.yield %1 : tensor<f32>
      }, {
      ^bb0(%a: tensor<f32>):
        %1 = weft.neg %a : tensor<f32>
        weft.yield %1 : tensor<f32>
      }
      weft.yield %0, %c : tensor<f32>, tensor<i1>
    }
    weft.yield %s#0, %q : tensor<f32>, tensor<i1>
  }
  return %r#0 : tensor<f32>
}

// -----

// A loop that communicates stays in the plan, with a routine for the loop in it.
#mesh = #weft.mesh<"a"=2>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: plan.program @communicates
  // CHECK: plan.label "loop 0" rounds 3
  // CHECK: plan.launch @loop_
  // CHECK-NEXT: plan.start "all_reduce"
  // CHECK: plan.jump "loop 0"
  func.func @communicates(%x: tensor<4xf32>) -> tensor<4xf32> {
    %r = weft.for 3 (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
      %s = weft.for 5 (%v) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%j: tensor<i32>, %u: tensor<4xf32>):
        %0 = weft.sin %u : tensor<4xf32>
        weft.yield %0 : tensor<4xf32>
      }
      %1 = coll.all_reduce sum %s over #mesh ["a"] : tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }
    return %r : tensor<4xf32>
  }
}

// -----

// Workers share the kernel of a large array: no routine, which one worker runs.
// CHECK-NOT: plan.routine
// CHECK-LABEL: plan.program @shared
// CHECK: plan.label "loop 0" rounds 3
func.func @shared(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %r = weft.for 3 (%x) : (tensor<1048576xf32>) -> tensor<1048576xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<1048576xf32>):
    %0 = weft.sin %v : tensor<1048576xf32>
    weft.yield %0 : tensor<1048576xf32>
  }
  return %r : tensor<1048576xf32>
}

// -----

// A larger array has no copy in the routine: the routine updates it where it is.
// CHECK-LABEL: plan.routine
// CHECK-NEXT: ^bb0(%[[T:.*]]: memref<4096xf32>):
// CHECK-NOT: plan.copy %[[T]]
// CHECK: plan.launch @{{.*}}update{{.*}}(%[[T]]
// CHECK-NOT: plan.copy {{.*}} to %[[T]]
// CHECK-LABEL: plan.program @table
func.func @table(%t: tensor<4096xf32> {weft.donated = 0 : i64}) -> tensor<4096xf32> {
  %r = weft.for 100 (%t) : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4096xf32>):
    %0 = weft.convert %i : tensor<i32> -> tensor<f32>
    %1 = weft.reshape %0 : tensor<f32> -> tensor<1xf32>
    %2 = weft.dynamic_update_slice %v, %1 at (%i) : (tensor<4096xf32>, tensor<1xf32>, tensor<i32>) -> tensor<4096xf32>
    weft.yield %2 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// -----

// Two arrays change places through a third, whose buffer the loop's end defines: the launch comes after it.
// CHECK-LABEL: plan.program @swap
// CHECK: %[[SAVED:.*]] = plan.buffer
// CHECK: plan.launch @loop_{{.*}}(%{{.*}}%[[SAVED]]
func.func @swap(%x: tensor<2048xf32>, %y: tensor<2048xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) {
  %r:2 = weft.for 1000 (%x, %y) : (tensor<2048xf32>, tensor<2048xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<2048xf32>, %u: tensor<2048xf32>):
    %0 = weft.sin %v : tensor<2048xf32>
    weft.yield %u, %0 : tensor<2048xf32>, tensor<2048xf32>
  }
  return %r#0, %r#1 : tensor<2048xf32>, tensor<2048xf32>
}

// -----

// A loop of copies has no kernel, and stays in the plan.
// CHECK-NOT: plan.routine
// CHECK-LABEL: plan.program @copies
// CHECK: plan.jump_unless
// CHECK: plan.jump "loop 0"
func.func @copies(%f: tensor<i1>, %g: tensor<i1>) -> tensor<i1> {
  %r:2 = weft.while(%f, %g) : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>) {
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    weft.condition %a(%a, %b) : tensor<i1>, tensor<i1>, tensor<i1>
  } do {
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    weft.yield %b, %b : tensor<i1>, tensor<i1>
  }
  return %r#1 : tensor<i1>
}
