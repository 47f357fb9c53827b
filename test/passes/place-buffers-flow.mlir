// A loop's carried value has one buffer, to which the body writes the value of
// the next round.
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels --weft-place-buffers --split-input-file %s | FileCheck %s

// The weight is only read: no copy. The state has the result's buffer.
// CHECK-LABEL: plan.program @layers
// CHECK: %[[X:.*]] = plan.input "in/0"
// CHECK: %[[W:.*]] = plan.input "in/1"
// CHECK: %[[Y:.*]] = plan.output "out/0"
// CHECK: %[[I:.*]] = plan.buffer {{.*}} : memref<i32>
// CHECK: plan.copy %{{.*}} to %[[I]]
// CHECK-NEXT: plan.copy %[[X]] to %[[Y]]
// CHECK-NEXT: plan.label "loop 0"
// CHECK-NEXT: plan.launch @{{.*}}compare{{.*}}(%[[I]], %[[P:.*]])
// CHECK-NEXT: plan.jump_unless %[[P]] "end 1"
// CHECK-NEXT: plan.launch @{{.*}}mul{{.*}}(%{{.*}}, %[[Y]])
// CHECK-NEXT: plan.launch @{{.*}}add{{.*}}(%[[I]], %[[I]])
// CHECK-NEXT: plan.jump "loop 0"
// CHECK-NEXT: plan.label "end 1"
// CHECK-NEXT: }
func.func @layers(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = weft.for 3 (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    %0 = weft.mul %v, %u : tensor<4xf32>
    weft.yield %0, %u : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<4xf32>
}

// -----

// Two values change places through a third.
// CHECK-LABEL: plan.program @swap
// CHECK: plan.jump_unless
// CHECK: plan.copy %[[A:.*]] to %[[SAVED:.*]] :
// CHECK-NEXT: plan.copy %[[B:.*]] to %[[A]]
// CHECK-NEXT: plan.copy %[[SAVED]] to %[[B]]
// CHECK: plan.jump
func.func @swap(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %r:2 = weft.for 3 (%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>, %u: tensor<4xf32>):
    weft.yield %u, %v : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A donated state is carried in its own memory.
// CHECK-LABEL: plan.program @donated
// CHECK: %[[W:.*]] = plan.input "in/0"
// CHECK-NOT: plan.copy %[[W]]
// CHECK: plan.launch @{{.*}}add{{.*}}(%[[W]], %[[W]])
// CHECK-NOT: plan.copy
// CHECK: plan.label "end 1"
// CHECK-NEXT: }
func.func @donated(%w: tensor<4xf32> {weft.donated = 0 : i64}) -> tensor<4xf32> {
  %r = weft.for 3 (%w) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %0 = weft.add %v, %v : tensor<4xf32>
    weft.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Both branches write the result where its caller wants it.
// CHECK-LABEL: plan.program @branch
// CHECK: %[[P:.*]] = plan.input "in/0"
// CHECK: %[[X:.*]] = plan.input "in/1"
// CHECK: %[[Y:.*]] = plan.output "out/0"
// CHECK: plan.jump_unless %[[P]] "else 0"
// CHECK-NEXT: plan.launch @{{.*}}exp{{.*}}(%[[X]], %[[Y]])
// CHECK-NEXT: plan.jump "end 1"
// CHECK-NEXT: plan.label "else 0"
// CHECK-NEXT: plan.copy %[[X]] to %[[Y]]
// CHECK-NEXT: plan.label "end 1"
func.func @branch(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %r = weft.case %p(%x) : tensor<i1>, (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %0 = weft.exp %v : tensor<4xf32>
    weft.yield %0 : tensor<4xf32>
  }, {
  ^bb0(%v: tensor<4xf32>):
    weft.yield %v : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A condition runs once more than its body: four sums of flags, three of rows.
// The counts of loops in each other are multiplied.
// CHECK-LABEL: plan.program @asked
// CHECK: plan.label "loop 0"
// CHECK: plan.start "all_reduce" {{.*}} times 4
// CHECK: plan.jump_unless
// CHECK: plan.start "all_reduce" {{.*}} times 3
// CHECK: plan.jump "loop 0"
#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @asked(%x: tensor<4xf32>, %go: tensor<i1>) -> (tensor<4xf32>, tensor<i1>) {
    %r:2 = weft.while(%x, %go) times 3 : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<i1>) {
    ^bb0(%v: tensor<4xf32>, %g: tensor<i1>):
      %all = coll.all_reduce and %g over #mesh ["x"] : tensor<i1>
      weft.condition %all (%v, %g) : tensor<i1>, tensor<4xf32>, tensor<i1>
    } do {
    ^bb0(%v: tensor<4xf32>, %g: tensor<i1>):
      %0 = coll.all_reduce sum %v over #mesh ["x"] : tensor<4xf32>
      weft.yield %0, %g : tensor<4xf32>, tensor<i1>
    }
    return %r#0, %r#1 : tensor<4xf32>, tensor<i1>
  }
}

// -----

// A sum is in the memory of its own operand, and of no other: results of a branch whose sums change places are copied.
// CHECK-LABEL: plan.program @swapped
// CHECK: plan.start "all_reduce" #plan.combination<sum> (%[[V:.*]], %[[W:.*]]) to (%[[TO:.*]], %[[OTHER:.*]]) over
// CHECK-NEXT: plan.wait
// CHECK: plan.jump "end 1"
// CHECK-NEXT: plan.label "else 0"
// CHECK-DAG: plan.copy %[[V]] to %[[OTHER]]
// CHECK-DAG: plan.copy %[[W]] to %[[TO]]
#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @swapped(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %a = weft.exp %x : tensor<4xf32>
    %b = weft.exp %y : tensor<4xf32>
    %r:2 = weft.case %p(%a, %b) : tensor<i1>, (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%v: tensor<4xf32>, %w: tensor<4xf32>):
      %s:2 = coll.all_reduce sum %v, %w over #mesh ["x"] : tensor<4xf32>, tensor<4xf32>
      weft.yield %s#1, %s#0 : tensor<4xf32>, tensor<4xf32>
    }, {
    ^bb0(%v: tensor<4xf32>, %w: tensor<4xf32>):
      weft.yield %v, %w : tensor<4xf32>, tensor<4xf32>
    }
    %c = weft.exp %r#0 : tensor<4xf32>
    %d = weft.exp %r#1 : tensor<4xf32>
    return %c, %d : tensor<4xf32>, tensor<4xf32>
  }
}
