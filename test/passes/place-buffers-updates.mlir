// Ops that change a part of an operand write in its memory where no op reads
// the old value afterwards. The large values are tensor<64x8xf32>.
// RUN: weft-opt --weft-lower-control-flow --weft-outline-kernels --weft-place-buffers --split-input-file %s | FileCheck %s

// A carried value, changed in each round, in the argument's memory.
// CHECK-LABEL: plan.program @carried
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[C]], {{.*}}, %[[C]]) : memref<64x8xf32>, memref<1x8xf32>
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: func.func private @{{.*}}dynamic_update_slice{{.*}}(%{{.*}}: tensor<64x8xf32> {weft.updated = 0 : i64}
func.func @carried(%c: tensor<64x8xf32> {weft.donated = 0 : i64}, %row: tensor<1x8xf32>) -> tensor<64x8xf32> {
  %r:2 = weft.for 100 (%c, %row) : (tensor<64x8xf32>, tensor<1x8xf32>) -> (tensor<64x8xf32>, tensor<1x8xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>, %u: tensor<1x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %0 = weft.dynamic_update_slice %v, %u at (%i, %zero) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    weft.yield %0, %u : tensor<64x8xf32>, tensor<1x8xf32>
  }
  return %r#0 : tensor<64x8xf32>
}

// -----

// The row is read from the same memory before: a kernel of its own.
// CHECK-LABEL: plan.program @read_before
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: plan.launch @{{.*}}(%[[C]], {{.*}}, %[[ROW:.*]]) : memref<64x8xf32>, memref<i32>, memref<1x8xf32>
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[C]], %[[ROW]], {{.*}}, %[[C]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: func.func
func.func @read_before(%c: tensor<64x8xf32> {weft.donated = 0 : i64}) -> tensor<64x8xf32> {
  %r = weft.for 100 (%c) : (tensor<64x8xf32>) -> tensor<64x8xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %one = weft.constant dense<1> : tensor<i32>
    %next = weft.add %i, %one : tensor<i32>
    %row = weft.dynamic_slice %v at (%i, %zero) : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %0 = weft.dynamic_update_slice %v, %row at (%next, %zero) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    weft.yield %0 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}

// -----

// The sum does not need the new value, so it comes first, wherever it stands.
// CHECK-LABEL: plan.program @read_first
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}reduce{{.*}}(%[[C]],
// CHECK-NEXT: plan.launch @{{.*}}scatter{{.*}}(%[[C]], {{.*}}, %[[C]])
// CHECK-NOT: plan.copy
// CHECK: func.func
func.func @read_first(%c: tensor<64x8xf32> {weft.donated = 0 : i64}, %i: tensor<1xi32>, %row: tensor<8xf32>) -> (tensor<64x8xf32>, tensor<f32>) {
  %0 = weft.scatter sum %c at %i with %row {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32> -> tensor<64x8xf32>
  %1 = weft.reduce sum %c dims [0, 1] : tensor<64x8xf32> -> tensor<f32>
  return %0, %1 : tensor<64x8xf32>, tensor<f32>
}

// -----

// The old value is needed together with the new one: a copy.
// CHECK-LABEL: plan.program @read_after
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK: %[[Y:.*]] = plan.output "out/1"
// CHECK: %[[NEW:.*]] = plan.buffer
// CHECK: plan.copy %[[C]] to %[[NEW]]
// CHECK-NEXT: plan.launch @{{.*}}scatter{{.*}}(%[[NEW]], {{.*}}, %[[NEW]])
// CHECK-NEXT: plan.launch @{{.*}}mul{{.*}}(%[[C]], %[[NEW]], %[[Y]])
// CHECK-NEXT: plan.copy %[[NEW]] to %[[C]]
func.func @read_after(%c: tensor<64x8xf32> {weft.donated = 0 : i64}, %i: tensor<1xi32>, %row: tensor<8xf32>) -> (tensor<64x8xf32>, tensor<64x8xf32>) {
  %0 = weft.scatter sum %c at %i with %row {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32> -> tensor<64x8xf32>
  %1 = weft.mul %c, %0 : tensor<64x8xf32>
  return %0, %1 : tensor<64x8xf32>, tensor<64x8xf32>
}

// -----

// A caller keeps what it does not donate: one copy, to the result, for a chain.
// CHECK-LABEL: plan.program @kept
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK: %[[Y:.*]] = plan.output "out/0"
// CHECK: plan.copy %[[C]] to %[[Y]]
// CHECK-NOT: plan.copy
// CHECK: plan.launch @{{.*}}scatter{{.*}}(%[[Y]], {{.*}}, %[[Y]])
// CHECK-NEXT: plan.launch @{{.*}}scatter{{.*}}(%[[Y]], {{.*}}, %[[Y]])
// CHECK-NEXT: }
func.func @kept(%c: tensor<64x8xf32>, %i: tensor<1xi32>, %row: tensor<8xf32>) -> tensor<64x8xf32> {
  %0 = weft.scatter sum %c at %i with %row {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32> -> tensor<64x8xf32>
  %1 = weft.scatter max %0 at %i with %row {update_window_dims = array<i64: 0>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 0 : i64} : tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32> -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}

// -----

// A branch of a loop in a loop; the other branch passes the value on.
// CHECK-LABEL: plan.program @nested
// CHECK: %[[C:.*]] = plan.input "in/0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[C]], {{.*}}, %[[C]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: func.func
func.func @nested(%c: tensor<64x8xf32> {weft.donated = 0 : i64}, %row: tensor<1x8xf32>, %p: tensor<i1>) -> tensor<64x8xf32> {
  %r:3 = weft.for 10 (%c, %row, %p) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>) -> (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>) {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>, %u: tensor<1x8xf32>, %q: tensor<i1>):
    %s:3 = weft.for 20 (%v, %u, %q) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>) -> (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>) {
    ^bb0(%j: tensor<i32>, %w: tensor<64x8xf32>, %t: tensor<1x8xf32>, %o: tensor<i1>):
      %0 = weft.case %o(%w, %t, %j) : tensor<i1>, (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>) -> tensor<64x8xf32> {
      ^bb0(%a: tensor<64x8xf32>, %b: tensor<1x8xf32>, %d: tensor<i32>):
        %zero = weft.constant dense<0> : tensor<i32>
        %1 = weft.dynamic_update_slice %a, %b at (%d, %zero) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
        weft.yield %1 : tensor<64x8xf32>
      }, {
      ^bb0(%a: tensor<64x8xf32>, %b: tensor<1x8xf32>, %d: tensor<i32>):
        weft.yield %a : tensor<64x8xf32>
      }
      weft.yield %0, %t, %o : tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>
    }
    weft.yield %s#0, %s#1, %s#2 : tensor<64x8xf32>, tensor<1x8xf32>, tensor<i1>
  }
  return %r#0 : tensor<64x8xf32>
}

// -----

// Rows of a scan's outputs: its own buffer, filled once, then row by row.
// CHECK-LABEL: plan.program @stacked
// CHECK: %[[X:.*]] = plan.input "in/0"
// CHECK: %[[YS:.*]] = plan.output "out/0"
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: plan.launch @{{.*}}dynamic_update_slice{{.*}}(%[[YS]], {{.*}}, %[[YS]])
// CHECK-NOT: plan.copy {{.*}} : memref<64x8xf32>
// CHECK: func.func
func.func @stacked(%x: tensor<1x8xf32>) -> tensor<64x8xf32> {
  %zeros = weft.constant dense<0.0> : tensor<64x8xf32>
  %r:2 = weft.for 64 (%x, %zeros) : (tensor<1x8xf32>, tensor<64x8xf32>) -> (tensor<1x8xf32>, tensor<64x8xf32>) {
  ^bb0(%i: tensor<i32>, %h: tensor<1x8xf32>, %ys: tensor<64x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %0 = weft.exp %h : tensor<1x8xf32>
    %1 = weft.dynamic_update_slice %ys, %0 at (%i, %zero) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    weft.yield %0, %1 : tensor<1x8xf32>, tensor<64x8xf32>
  }
  return %r#1 : tensor<64x8xf32>
}
