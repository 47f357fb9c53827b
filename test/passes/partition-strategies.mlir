// The communication of each kind of factor where it is sharded: one op of every
// kind, on three devices with an uneven dimension of 8.
// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-partition --canonicalize --cse | FileCheck %s

#mesh = #weft.mesh<"d"=3>
#split = #weft.layout<#mesh, [{"d"}]>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#whole = #weft.layout<#mesh, [{}]>
#table = #weft.layout<#mesh, [{}, {}]>
#columns = #weft.layout<#mesh, [{}, {"d"}]>
module attributes {weft.mesh = #mesh} {

// No communication.
// CHECK-LABEL: func.func @pass
// CHECK-NOT: coll.
// CHECK: weft.exp %{{.+}} : tensor<3xf32>
// CHECK-NOT: coll.
func.func @pass(%x: tensor<8xf32> {weft.layout = #split}) -> (tensor<8xf32> {weft.layout = #split}) {
  %0 = weft.exp %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// An offset from the coordinate.
// CHECK-LABEL: func.func @position
// CHECK: %[[C:.+]] = coll.coordinate over #mesh ["d"]
// CHECK: %[[AT:.+]] = weft.mul %[[C]],
// CHECK: weft.iota dim 0 offset %[[AT]] : (tensor<i64>) -> tensor<3xi32>
func.func @position() -> (tensor<8xi32> {weft.layout = #split}) {
  %0 = weft.iota dim 0 : tensor<8xi32>
  return %0 : tensor<8xi32>
}
// A partial result; elements behind the end are neutral.
// CHECK-LABEL: func.func @reduce
// CHECK: %[[MASKED:.+]] = weft.select %{{.+}}, %{{.+}}, %{{.+}} : tensor<3x4xi1>
// CHECK: %[[PART:.+]] = weft.reduce max %[[MASKED]] dims [0] : tensor<3x4xf32>
// CHECK: coll.all_reduce max %[[PART]] over #mesh ["d"] reason "result of weft.reduce is combined over
// CHECK-NOT: coll.
func.func @reduce(%x: tensor<8x4xf32> {weft.layout = #rows}) -> (tensor<4xf32> {weft.layout = #whole}) {
  %0 = weft.reduce max %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// A halo on both sides: 5 elements for 3 results.
// CHECK-LABEL: func.func @window
// CHECK: coll.fetch %{{.+}} dim 0 of 8 at block 3 step 1 offset -1 divisor 1 {{.*}}(window)" : tensor<3xf32> -> tensor<5xf32>
// CHECK: weft.reduce_window sum %{{.+}} {{{.*}}low = array<i64: 0>{{.*}} : tensor<5xf32> -> tensor<3xf32>
// CHECK-NOT: coll.{{[^c]}}
func.func @window(%x: tensor<8xf32> {weft.layout = #split}) -> (tensor<8xf32> {weft.layout = #split}) {
  %0 = weft.reduce_window sum %x {window = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// Elements on both sides, and the windows that reach in. Windows begin at the
// same places in blocks of 4, so the local ones have the stride.
// CHECK-LABEL: func.func @scattered_window
// CHECK: coll.fetch %{{.+}} dim 0 of 12 at block 4 step 1 offset -2 divisor 1 {{.*}} : tensor<4xf32> -> tensor<8xf32>
// CHECK: coll.fetch %{{.+}} dim 0 of 6 at block 4 step 1 offset -1 divisor 2 {{.*}} : tensor<2xf32> -> tensor<6xf32>
// CHECK: weft.select_and_scatter ge {{.*}}strides = array<i64: 2>{{.*}} : tensor<7xf32>, tensor<3xf32> -> tensor<7xf32>
// Gradients that the first device's padding would take are the first element's.
// CHECK: weft.reduce sum %{{.+}} dims [0] : tensor<1xf32>
// CHECK: weft.slice %{{.+}} from [1] to [7]
// CHECK: weft.add
// CHECK: weft.slice %{{.+}} from [0] to [4]
// CHECK-NOT: coll.
func.func @scattered_window(%x: tensor<12xf32> {weft.layout = #split}, %g: tensor<6xf32> {weft.layout = #split}) -> (tensor<12xf32> {weft.layout = #split}) {
  %0 = weft.select_and_scatter ge %x, %g {window = array<i64: 3>, strides = array<i64: 2>, low = array<i64: 1>, high = array<i64: 0>} : tensor<12xf32>, tensor<6xf32> -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
// A window larger than the result is sharded itself: a halo and a sum.
// CHECK-LABEL: func.func @large_window
// CHECK: coll.fetch %{{.+}} dim 1 of 14 at block 4 step 1 offset 0 {{.*}}(reduce)" : tensor<1x5x2xf32> -> tensor<1x6x2xf32>
// CHECK: weft.convolution {{.*}} : tensor<1x6x2xf32>, tensor<4x2x4xf32> -> tensor<1x3x4xf32>
// CHECK: coll.all_reduce sum
// CHECK-NOT: coll.
func.func @large_window(%x: tensor<1x14x2xf32> {weft.layout = #weft.layout<#mesh, [{}, {"d"}, {}]>}, %w: tensor<12x2x4xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}, {}]>}) -> (tensor<1x3x4xf32> {weft.layout = #weft.layout<#mesh, [{}, {}, {}]>}) {
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<1x14x2xf32>, tensor<12x2x4xf32> -> tensor<1x3x4xf32>
  return %0 : tensor<1x3x4xf32>
}
// Each device fetches the elements that it lacks; nothing is left to compute.
// CHECK-LABEL: func.func @shift
// CHECK: %[[MOVED:.+]] = coll.fetch %{{.+}} dim 0 of 8 at block 2 step 1 offset 2 {{.*}}(shift)" : tensor<3xf32> -> tensor<2xf32>
// CHECK-NEXT: return %[[MOVED]]
func.func @shift(%x: tensor<8xf32> {weft.layout = #split}) -> (tensor<6xf32> {weft.layout = #split}) {
  %0 = weft.slice %x from [2] to [8] by [1] : tensor<8xf32> -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
// Neither 8 nor 3 divides the other: elements of the block in row-major order.
// CHECK-LABEL: func.func @shifted_block
// CHECK: weft.reshape %{{.+}} : tensor<3x3xf32> -> tensor<1x9x1xf32>
// CHECK: coll.fetch %{{.+}} dim 1 of 27 at block 8 step 1 offset 0 {{.*}}reason "shards of weft.reshape along its shift dimension are fetched" : tensor<1x9x1xf32> -> tensor<1x8x1xf32>
// CHECK: weft.reshape %{{.+}} : tensor<1x8x1xf32> -> tensor<1x8xf32>
// CHECK-NOT: coll.
func.func @shifted_block(%x: tensor<8x3xf32> {weft.layout = #rows}) -> (tensor<3x8xf32> {weft.layout = #rows}) {
  %0 = weft.reshape %x : tensor<8x3xf32> -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}
// Rows of other devices are absent; a partial result.
// CHECK-LABEL: func.func @lookup
// CHECK: weft.gather {{.*}}{absent_outside, {{.*}}} : tensor<22x4xf32>, tensor<5xi64> -> tensor<5x4xf32>
// CHECK: coll.all_reduce sum %{{.+}} reason "result of weft.gather is summed
// CHECK-NOT: coll.
func.func @lookup(%x: tensor<66x4xf32> {weft.layout = #rows}, %i: tensor<5xi32> {weft.layout = #whole}) -> (tensor<5x4xf32> {weft.layout = #table}) {
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : tensor<66x4xf32>, tensor<5xi32> -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
// One element of each device.
// CHECK-LABEL: func.func @scan
// CHECK: weft.cumulative sum %{{.+}} dim 0 : tensor<3xf32>
// CHECK: coll.all_gather %{{.+}} reason "shards of weft.cumulative along its scan dimension are combined" : tensor<1xf32> -> tensor<3xf32>
// CHECK: weft.cumulative sum %{{.+}} dim 0 exclusive : tensor<3xf32>
// CHECK-NOT: coll.
func.func @scan(%x: tensor<8xf32> {weft.layout = #split}) -> (tensor<8xf32> {weft.layout = #split}) {
  %0 = weft.cumulative sum %x dim 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
// The best of each device.
// CHECK-LABEL: func.func @select
// CHECK: weft.top_k %{{.+}} dim 0 : tensor<30xf32> -> tensor<2xf32>, tensor<2xi32>
// CHECK: coll.all_gather %{{.+}} reason "shards of weft.top_k along its select dimension are combined" : tensor<2xf32> -> tensor<6xf32>
// CHECK: weft.sort %{{.+}} keys 1 descending : (tensor<6xf32>, tensor<6xi32>)
// CHECK-NOT: coll.{{[^a]}}
func.func @select(%x: tensor<90xf32> {weft.layout = #split}) -> (tensor<2xf32> {weft.layout = #whole}, tensor<2xi32> {weft.layout = #whole}) {
  %0, %1 = weft.top_k %x dim 0 : tensor<90xf32> -> tensor<2xf32>, tensor<2xi32>
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
}
// The folds of the blocks; padding is the value that a fold starts from.
// CHECK-LABEL: func.func @fold
// CHECK: %[[BLOCK:.+]] = weft.select {{.+}}, %arg0, {{.+}} tensor<3x4xi32>
// CHECK: %[[PART:.+]] = weft.fold %[[BLOCK]] from %{{.+}} dims [0] : (tensor<3x4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK: coll.all_gather %{{.+}} reason "shards of weft.fold along its select dimension are combined" : tensor<1x4xi32> -> tensor<3x4xi32>
// CHECK: weft.fold %{{.+}} dims [0] : (tensor<3x4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK: weft.xor
// CHECK-NOT: coll.
func.func @fold(%x: tensor<8x4xi32> {weft.layout = #rows}) -> (tensor<4xi32> {weft.layout = #whole}) {
  %zero = weft.constant dense<0> : tensor<i32>
  %0 = weft.fold %x from %zero dims [0] : (tensor<8x4xi32>, tensor<i32>) -> tensor<4xi32> {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %s = weft.xor %l, %r : tensor<i32>
    weft.yield %s : tensor<i32>
  }
  return %0 : tensor<4xi32>
}
// Rows after rows: columns over devices are folded first, row by row.
// CHECK-LABEL: func.func @fold_in_order
// CHECK: weft.fold %{{.+}} dims [1] : (tensor<8x2xi32>, tensor<i32>) -> tensor<8xi32>
// CHECK: coll.all_gather %{{.+}} : tensor<8x1xi32> -> tensor<8x3xi32>
// CHECK: weft.fold %{{.+}} dims [1] : (tensor<8x3xi32>, tensor<i32>) -> tensor<8xi32>
// CHECK: weft.fold %{{.+}} dims [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
// CHECK-NOT: coll.
func.func @fold_in_order(%x: tensor<8x4xi32> {weft.layout = #columns}) -> tensor<i32> {
  %zero = weft.constant dense<0> : tensor<i32>
  %0 = weft.fold %x from %zero dims [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32> {
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %s = weft.xor %l, %r : tensor<i32>
    weft.yield %s : tensor<i32>
  }
  return %0 : tensor<i32>
}
// Samples of the sorted blocks, until each device knows its part of them.
// CHECK-LABEL: func.func @sort
// CHECK: %[[BLOCK:.+]] = weft.sort %arg0 dim 0 keys 1 : (tensor<300xf64>) -> tensor<300xf64>
// CHECK: coll.pick %[[BLOCK]] at %{{.+}} dim 0 over #mesh ["d"] reason "shards of weft.sort along its select dimension are exchanged" : tensor<300xf64>, tensor<{{[0-9]+}}xi64>
// CHECK: coll.fetch %{{.+}} dim 0 of 9 at block 3 step 1 offset 3 {{.*}} : tensor<3xi64> -> tensor<3xi64>
// CHECK: %[[MINE:.+]] = coll.pick %[[BLOCK]] at %{{.+}} : tensor<300xf64>, tensor<300xi64> -> tensor<300xf64>
// CHECK: weft.sort %[[MINE]] dim 0 keys 1 : (tensor<300xf64>)
// CHECK-NOT: coll.
func.func @sort(%x: tensor<900xf64> {weft.layout = #split}) -> (tensor<900xf64> {weft.layout = #split}) {
  %0 = weft.sort %x dim 0 keys 1 : (tensor<900xf64>) -> tensor<900xf64>
  return %0 : tensor<900xf64>
}
// A gather in that dimension only, with its reason.
// CHECK-LABEL: func.func @whole
// CHECK: coll.all_gather %{{.+}} dim 1 over #mesh ["d"] reason "argument 0 is gathered over \22d\22 for weft.reshape, which needs dimension 1 whole: 3 shards do not divide 2 x 3" : tensor<4x2xf32> -> tensor<4x6xf32>
// CHECK-NOT: coll.
func.func @whole(%x: tensor<4x6xf32> {weft.layout = #columns}) -> (tensor<8x3xf32> {weft.layout = #table}) {
  %0 = weft.reshape %x : tensor<4x6xf32> -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}
}
