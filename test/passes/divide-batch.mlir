// RUN: weft-opt %s --split-input-file --weft-divide-batch | FileCheck %s

// Rows of microbatch k are k, k + 4, ...: a batch that lies on devices stays there. Sums are added up, and what follows
// from them is computed once, after the loop; what no sample changes is computed before it.
// CHECK-LABEL: func.func @mean
// CHECK-DAG: %[[ROWS:.*]] = weft.reshape %arg1 : tensor<8x3xf32> -> tensor<2x4x3xf32>
// CHECK-DAG: %[[W:.*]] = weft.mul %arg0, %arg0
// CHECK: %[[R:.*]]:3 = weft.for 4(%[[ROWS]], %[[W]], %{{.*}})
// CHECK: ^bb0(%[[K:.*]]: tensor<i32>, %[[X:.*]]: tensor<2x4x3xf32>, %[[V:.*]]: tensor<3xf32>, %[[SUM:.*]]: tensor<f32>)
// CHECK: %[[SLICE:.*]] = weft.dynamic_slice %[[X]] at
// CHECK-SAME: -> tensor<2x1x3xf32>
// CHECK: %[[BLOCK:.*]] = weft.reshape %[[SLICE]] : tensor<2x1x3xf32> -> tensor<2x3xf32>
// CHECK: %[[Y:.*]] = weft.dot %[[BLOCK]], %[[V]]
// CHECK: %[[PART:.*]] = weft.reduce sum %[[Y]] dims [0] : tensor<2xf32> -> tensor<f32>
// CHECK: %[[NEXT:.*]] = weft.add %[[SUM]], %[[PART]]
// CHECK: weft.yield %[[X]], %[[V]], %[[NEXT]]
// CHECK: weft.div %[[R]]#2, %{{.*}} : tensor<f32>
module attributes {weft.microbatches = 4 : i64} {
  func.func @mean(%w: tensor<3xf32> {weft.role = "weight"}, %x: tensor<8x3xf32> {weft.role = "input"}) -> tensor<f32> {
    %0 = weft.mul %w, %w : tensor<3xf32>
    %1 = weft.dot %x, %0 contract [1] x [0] : tensor<8x3xf32>, tensor<3xf32> -> tensor<8xf32>
    %2 = weft.reduce sum %1 dims [0] : tensor<8xf32> -> tensor<f32>
    %3 = weft.constant dense<8.0> : tensor<f32>
    %4 = weft.div %2, %3 : tensor<f32>
    return %4 : tensor<f32>
  }
}

// -----

// 4 microbatches of 10 rows: those of 2 and 3 have a row less, which sums leave out.
// CHECK-LABEL: func.func @uneven
// CHECK: weft.pad %arg0 low [0] high [2] interior [0]
// CHECK: weft.reshape %{{.*}} : tensor<12xf32> -> tensor<3x4xf32>
// CHECK: weft.for 4
// CHECK: %[[EARLIER:.*]] = weft.compare lt %{{.*}} : tensor<1x3x1xi64>
// CHECK: %[[EXISTS:.*]] = weft.reshape %[[EARLIER]] : tensor<1x3x1xi1> -> tensor<3xi1>
// CHECK: %[[KEPT:.*]] = weft.select %[[EXISTS]]
// CHECK: weft.reduce max %[[KEPT]] dims [0]
// CHECK: weft.max
module attributes {weft.microbatches = 4 : i64} {
  func.func @uneven(%x: tensor<10xf32> {weft.role = "input"}) -> tensor<f32> {
    %0 = weft.reduce max %x dims [0] : tensor<10xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// The sum of weights, which each sample needs, depends on data alone: it is computed before, from the whole batch.
// CHECK-LABEL: func.func @normalized
// CHECK: %[[TOTAL:.*]] = weft.reduce sum %arg1 dims [0] : tensor<8xf32> -> tensor<f32>
// CHECK: weft.for 2(%{{.*}}%[[TOTAL]]
module attributes {weft.microbatches = 2 : i64} {
  func.func @normalized(%x: tensor<8xf32> {weft.role = "input"}, %weights: tensor<8xf32> {weft.role = "sample_weight"}) -> tensor<f32> {
    %0 = weft.reduce sum %weights dims [0] : tensor<8xf32> -> tensor<f32>
    %1 = weft.broadcast %0 dims [] : tensor<f32> -> tensor<8xf32>
    %2 = weft.div %x, %1 : tensor<8xf32>
    %3 = weft.mul %2, %2 : tensor<8xf32>
    %4 = weft.reduce sum %3 dims [0] : tensor<8xf32> -> tensor<f32>
    return %4 : tensor<f32>
  }
}

// -----

// Random bits are those of the whole batch, at the microbatch's rows.
// CHECK-LABEL: func.func @dropout
// CHECK: weft.for 2
// CHECK: %[[BITS:.*]] = weft.rng_bits %{{.*}} offsets(%{{.*}}, %{{.*}}, %{{.*}}) of [4, 2, 3] : {{.*}} -> tensor<4x1x3xui32>
// CHECK: weft.reshape %[[BITS]] : tensor<4x1x3xui32> -> tensor<4x3xui32>
module attributes {weft.microbatches = 2 : i64} {
  func.func @dropout(%key: tensor<2xui32> {weft.role = "state"}, %x: tensor<8x3xui32> {weft.role = "input"}) -> tensor<3xui32> {
    %0 = weft.rng_bits %key : tensor<2xui32> -> tensor<8x3xui32>
    %1 = weft.and %0, %x : tensor<8x3xui32>
    %2 = weft.reduce or %1 dims [0] : tensor<8x3xui32> -> tensor<3xui32>
    return %2 : tensor<3xui32>
  }
}

// -----

// Rows that are counted: row i of microbatch k is row 2 i + k.
// CHECK-LABEL: func.func @counted
// CHECK: weft.for 2
// CHECK: %[[K:.*]] = weft.broadcast %{{.*}} dims [] : tensor<i64> -> tensor<1x4x1xi64>
// CHECK: weft.iota dim 1 : tensor<1x4x1xi64>
// CHECK: weft.convert %{{.*}} : tensor<4xi64> -> tensor<4xf32>
module attributes {weft.microbatches = 2 : i64} {
  func.func @counted(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<f32> {
    %0 = weft.iota dim 0 : tensor<8xf32>
    %1 = weft.mul %0, %x : tensor<8xf32>
    %2 = weft.reduce sum %1 dims [0] : tensor<8xf32> -> tensor<f32>
    return %2 : tensor<f32>
  }
}

// -----

// Results that have rows are put together; so are the rows that a sort of the whole batch takes after the loop.
// CHECK-LABEL: func.func @rows
// CHECK: %[[R:.*]]:2 = weft.for 2
// CHECK: weft.dynamic_update_slice
// CHECK: %[[ALL:.*]] = weft.reshape %[[R]]#1 : tensor<4x2x3xf32> -> tensor<8x3xf32>
// CHECK: weft.cumulative sum %[[ALL]] dim 0
module attributes {weft.microbatches = 2 : i64} {
  func.func @rows(%x: tensor<8x3xf32> {weft.role = "input"}) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
    %0 = weft.exp %x : tensor<8x3xf32>
    %1 = weft.cumulative sum %0 dim 0 : tensor<8x3xf32>
    return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
  }
}

// -----

// Sums of 16 bits are added up in f32 and rounded once.
// CHECK-LABEL: func.func @short
// CHECK: %[[R:.*]]:2 = weft.for 2(%{{.*}}) : (tensor<4x2xbf16>, tensor<f32>)
// CHECK: weft.reduce sum %{{.*}} dims [0] : tensor<4xbf16> -> tensor<f32>
// CHECK: weft.convert %[[R]]#1 : tensor<f32> -> tensor<bf16>
module attributes {weft.microbatches = 2 : i64} {
  func.func @short(%x: tensor<8xbf16> {weft.role = "input"}) -> tensor<bf16> {
    %0 = weft.reduce sum %x dims [0] : tensor<8xbf16> -> tensor<bf16>
    return %0 : tensor<bf16>
  }
}

// -----

// Rows and sums within a loop of the step: each of its rounds adds the microbatch's part.
// CHECK-LABEL: func.func @nested
// CHECK: weft.for 2
// CHECK: weft.for 5(%{{.*}}) : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
// CHECK: weft.reduce sum %{{.*}} dims [0] : tensor<4x3xf32> -> tensor<3xf32>
module attributes {weft.microbatches = 2 : i64} {
  func.func @nested(%x: tensor<8x3xf32> {weft.role = "input"}) -> tensor<3xf32> {
    %0 = weft.constant dense<0.0> : tensor<3xf32>
    %1:2 = weft.for 5 (%x, %0) : (tensor<8x3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>) {
    ^bb0(%i: tensor<i32>, %rows: tensor<8x3xf32>, %sum: tensor<3xf32>):
      %2 = weft.exp %rows : tensor<8x3xf32>
      %3 = weft.reduce sum %2 dims [0] : tensor<8x3xf32> -> tensor<3xf32>
      %4 = weft.add %sum, %3 : tensor<3xf32>
      weft.yield %2, %4 : tensor<8x3xf32>, tensor<3xf32>
    }
    return %1#1 : tensor<3xf32>
  }
}

// -----

// Without the attribute nothing changes.
// CHECK-LABEL: func.func @undivided
// CHECK-NOT: weft.for
module {
  func.func @undivided(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<f32> {
    %0 = weft.reduce sum %x dims [0] : tensor<8xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}
