// A sum with an array that is zero outside of a block changes the block alone.
// RUN: weft-opt --weft-add-blocks --split-input-file %s | FileCheck %s

// What a loop carries is zero at first, and no round makes a -0 of it.
// CHECK-LABEL: func.func @carried
// CHECK: ^bb0(%[[I:.*]]: tensor<i32>, %[[SUM:.*]]: tensor<12x64xf32>, %[[U:.*]]: tensor<1x64xf32>):
// CHECK: %[[READ:.*]] = weft.dynamic_slice %[[SUM]] at(%[[I]], %{{.*}}) : {{.*}} -> tensor<1x64xf32>
// CHECK: %[[ADDED:.*]] = weft.add %[[READ]], %[[U]] : tensor<1x64xf32>
// CHECK: %[[NEXT:.*]] = weft.dynamic_update_slice %[[SUM]], %[[ADDED]] at(%[[I]], %{{.*}})
// CHECK: weft.yield %[[NEXT]]
func.func @carried(%u: tensor<1x64xf32>) -> tensor<12x64xf32> {
  %first = weft.constant dense<0.0> : tensor<12x64xf32>
  %r:2 = weft.for 12(%first, %u) : (tensor<12x64xf32>, tensor<1x64xf32>) -> (tensor<12x64xf32>, tensor<1x64xf32>) {
  ^bb0(%i: tensor<i32>, %sum: tensor<12x64xf32>, %v: tensor<1x64xf32>):
    %zeros = weft.constant dense<0.0> : tensor<12x64xf32>
    %start = weft.constant dense<0> : tensor<i32>
    %g = weft.dynamic_update_slice %zeros, %v at (%i, %start) : (tensor<12x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<12x64xf32>
    %next = weft.add %sum, %g : tensor<12x64xf32>
    weft.yield %next, %v : tensor<12x64xf32>, tensor<1x64xf32>
  }
  return %r#0 : tensor<12x64xf32>
}

// -----

// Two blocks a round, of which one is at a known place; the first operand is the
// block. A condition passes the sum on.
// CHECK-LABEL: func.func @twice
// CHECK: weft.condition
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[SUM:.*]]: tensor<64xf32>, %[[U:.*]]: tensor<4xf32>):
// CHECK: %[[READ:.*]] = weft.slice %[[SUM]] from [8] to [12] by [1]
// CHECK: %[[ADDED:.*]] = weft.add %[[READ]], %[[U]]
// CHECK: %[[ONCE:.*]] = weft.dynamic_update_slice %[[SUM]], %[[ADDED]] at(%{{.*}}) : (tensor<64xf32>, tensor<4xf32>, tensor<i64>)
// CHECK: %[[AGAIN:.*]] = weft.dynamic_slice %[[ONCE]]
// CHECK: %[[ADDED2:.*]] = weft.add %[[AGAIN]], %[[U]]
// CHECK: %[[BOTH:.*]] = weft.dynamic_update_slice %[[ONCE]], %[[ADDED2]]
// CHECK: weft.yield %{{.*}}, %[[BOTH]]
func.func @twice(%u: tensor<4xf32>) -> tensor<64xf32> {
  %first = weft.constant dense<0.0> : tensor<64xf32>
  %start = weft.constant dense<1> : tensor<i32>
  %r:3 = weft.while(%start, %first, %u) : (tensor<i32>, tensor<64xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<64xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %sum: tensor<64xf32>, %v: tensor<4xf32>):
    %n = weft.constant dense<9> : tensor<i32>
    %more = weft.compare lt %i, %n : tensor<i32>, tensor<i32> -> tensor<i1>
    weft.condition %more (%i, %sum, %v) : tensor<i1>, tensor<i32>, tensor<64xf32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %sum: tensor<64xf32>, %v: tensor<4xf32>):
    %zeros = weft.constant dense<0.0> : tensor<64xf32>
    %zero = weft.constant dense<0.0> : tensor<f32>
    %one = weft.constant dense<1> : tensor<i32>
    %a = weft.pad %v with %zero low [8] high [52] interior [0] : tensor<4xf32>, tensor<f32> -> tensor<64xf32>
    %s = weft.add %a, %sum : tensor<64xf32>
    %b = weft.dynamic_update_slice %zeros, %v at (%i) : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
    %t = weft.add %s, %b : tensor<64xf32>
    %j = weft.add %i, %one : tensor<i32>
    weft.yield %j, %t, %v : tensor<i32>, tensor<64xf32>, tensor<4xf32>
  }
  return %r#1 : tensor<64xf32>
}

// -----

// A -0 may enter the loop, a round may make one, another op reads the sum, and a
// block may be a large part: these sums stay.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: weft.dynamic_slice
// CHECK: return
func.func @kept(%x: tensor<64xf32>, %u: tensor<4xf32>, %large: tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %first = weft.constant dense<0.0> : tensor<64xf32>
  %r:7 = weft.for 12(%x, %first, %first, %first, %first, %u, %large) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<32xf32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>, %d: tensor<64xf32>, %was: tensor<64xf32>, %v: tensor<4xf32>, %l: tensor<32xf32>):
    %zeros = weft.constant dense<0.0> : tensor<64xf32>
    %g = weft.dynamic_update_slice %zeros, %v at (%i) : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
    %g1 = weft.dynamic_update_slice %zeros, %v at (%i) : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
    %g2 = weft.dynamic_update_slice %zeros, %v at (%i) : (tensor<64xf32>, tensor<4xf32>, tensor<i32>) -> tensor<64xf32>
    %g3 = weft.dynamic_update_slice %zeros, %l at (%i) : (tensor<64xf32>, tensor<32xf32>, tensor<i32>) -> tensor<64xf32>
    %a1 = weft.add %a, %g : tensor<64xf32>
    %b1 = weft.add %b, %g1 : tensor<64xf32>
    %c1 = weft.add %c, %g2 : tensor<64xf32>
    %d1 = weft.add %d, %g3 : tensor<64xf32>
    %b2 = weft.neg %b1 : tensor<64xf32>
    weft.yield %a1, %b2, %c1, %d1, %c, %v, %l : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<4xf32>, tensor<32xf32>
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Blocks one after the other, with a gap; 0 is added where a block may have a -0.
// CHECK-LABEL: func.func @joined
// CHECK-DAG: %[[A:.*]] = weft.add %arg0, %{{.*}} : tensor<2x8xf32>
// CHECK-DAG: %[[GAP:.*]] = weft.constant dense<0.000000e+00> : tensor<3x8xf32>
// CHECK-DAG: %[[C:.*]] = weft.add %arg2, %{{.*}} : tensor<2x8xf32>
// CHECK: %[[ALL:.*]] = weft.concatenate %[[A]], %[[GAP]], %[[C]] dim 0
// CHECK: %[[SUM:.*]] = weft.add %arg1, %[[ALL]] : tensor<7x8xf32>
// CHECK: return %[[SUM]]
func.func @joined(%a: tensor<2x8xf32>, %other: tensor<7x8xf32>, %c: tensor<2x8xf32>) -> tensor<7x8xf32> {
  %0 = weft.pad %c low [5, 0] high [0, 0] interior [0, 0] : tensor<2x8xf32> -> tensor<7x8xf32>
  %1 = weft.add %0, %other : tensor<7x8xf32>
  %2 = weft.pad %a low [0, 0] high [5, 0] interior [0, 0] : tensor<2x8xf32> -> tensor<7x8xf32>
  %3 = weft.add %1, %2 : tensor<7x8xf32>
  return %3 : tensor<7x8xf32>
}

// -----

// Integers have no -0, and a block among other elements is no block among zeros.
// CHECK-LABEL: func.func @integers
// CHECK-NOT: weft.add
// CHECK: weft.concatenate %arg0, %arg1 dim 1 : (tensor<2x3xi32>, tensor<2x5xi32>) -> tensor<2x8xi32>
// CHECK: weft.pad
// CHECK: weft.pad
// CHECK: weft.add
func.func @integers(%a: tensor<2x3xi32>, %b: tensor<2x5xi32>, %x: tensor<i32>) -> (tensor<2x8xi32>, tensor<2x8xi32>) {
  %0 = weft.pad %a low [0, 0] high [0, 5] interior [0, 0] : tensor<2x3xi32> -> tensor<2x8xi32>
  %1 = weft.pad %b low [0, 3] high [0, 0] interior [0, 0] : tensor<2x5xi32> -> tensor<2x8xi32>
  %2 = weft.add %0, %1 : tensor<2x8xi32>
  %3 = weft.pad %a with %x low [0, 0] high [0, 5] interior [0, 0] : tensor<2x3xi32>, tensor<i32> -> tensor<2x8xi32>
  %4 = weft.pad %b low [0, 3] high [0, 0] interior [0, 0] : tensor<2x5xi32> -> tensor<2x8xi32>
  %5 = weft.add %3, %4 : tensor<2x8xi32>
  return %2, %5 : tensor<2x8xi32>, tensor<2x8xi32>
}

// -----

// Blocks that overlap, lie apart in two dimensions, have elements between them or
// are cut off, and sums of two other values, whose order counts, stay.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: weft.concatenate
// CHECK: return
func.func @apart(%a: tensor<4xf32>, %b: tensor<4xf32>, %m: tensor<2x2xf32>, %x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<7xf32>, tensor<4x4xf32>, tensor<8xf32>, tensor<7xf32>, tensor<8xf32>) {
  %0 = weft.pad %a low [0] high [3] interior [0] : tensor<4xf32> -> tensor<7xf32>
  %1 = weft.pad %b low [3] high [0] interior [0] : tensor<4xf32> -> tensor<7xf32>
  %2 = weft.add %0, %1 : tensor<7xf32>
  %3 = weft.pad %m low [0, 0] high [2, 2] interior [0, 0] : tensor<2x2xf32> -> tensor<4x4xf32>
  %4 = weft.pad %m low [2, 2] high [0, 0] interior [0, 0] : tensor<2x2xf32> -> tensor<4x4xf32>
  %5 = weft.add %3, %4 : tensor<4x4xf32>
  %6 = weft.pad %a low [0] high [1] interior [1] : tensor<4xf32> -> tensor<8xf32>
  %7 = weft.pad %b low [1] high [0] interior [1] : tensor<4xf32> -> tensor<8xf32>
  %8 = weft.add %6, %7 : tensor<8xf32>
  %9 = weft.pad %a low [-1] high [4] interior [0] : tensor<4xf32> -> tensor<7xf32>
  %10 = weft.pad %b low [3] high [0] interior [0] : tensor<4xf32> -> tensor<7xf32>
  %11 = weft.add %9, %10 : tensor<7xf32>
  %12 = weft.pad %a low [0] high [4] interior [0] : tensor<4xf32> -> tensor<8xf32>
  %13 = weft.pad %b low [4] high [0] interior [0] : tensor<4xf32> -> tensor<8xf32>
  %14 = weft.add %x, %12 : tensor<8xf32>
  %15 = weft.add %14, %13 : tensor<8xf32>
  %16 = weft.add %15, %y : tensor<8xf32>
  return %2, %5, %8, %11, %16 : tensor<7xf32>, tensor<4x4xf32>, tensor<8xf32>, tensor<7xf32>, tensor<8xf32>
}
