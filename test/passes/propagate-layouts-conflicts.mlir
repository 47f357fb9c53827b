// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts | FileCheck %s

// An axis that two factors of an op want goes to the side that is cheaper for
// all values concerned, not for the op alone.

// CHECK-DAG: #[[$SPLIT:.+]] = #weft.layout<#mesh, [{"data", "model"}, {}]>
// CHECK-DAG: #[[$ROWS:.+]] = #weft.layout<#mesh, [{"model"}, {}]>
// CHECK-DAG: #[[$WHOLE:.+]] = #weft.layout<#mesh, [{}]>
// CHECK-DAG: #[[$SUM:.+]] = #weft.layout<#mesh, [{"data"}, {}], partial = sum{"model"}>

#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {

// The bias wants "model" for columns that the contraction sums over "model":
// 4 numbers are gathered, and no row of 4 is cut again and again. Each device
// keeps its rows of the sum; one number of each row is gathered at the end.
// CHECK-LABEL: func.func @a_bias_is_gathered_rather_than_all_that_follows_cut
// CHECK: weft.dot {{.*}} -> tensor<4096x4xf32, #[[$SUM]]>
// CHECK: weft.reshard %arg2 {{.*}} -> tensor<4xf32, #[[$WHOLE]]>
// CHECK: weft.reshard {{.*}} tensor<4096x4xf32, #[[$SUM]]> -> tensor<4096x4xf32, #[[$SPLIT]]>
// CHECK-NOT: weft.reshard
// CHECK: weft.reshard {{.*}} : tensor<4096xf32, {{.*}}> -> tensor<4096xf32,
// CHECK-NEXT: return
func.func @a_bias_is_gathered_rather_than_all_that_follows_cut(
    %h: tensor<4096x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>},
    %w: tensor<32x4xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %b: tensor<4xf32> {weft.layout = #weft.layout<#mesh, [{"model"}]>}) -> tensor<4096xf32> {
  %y = weft.dot %h, %w contract [1] x [0] : tensor<4096x32xf32>, tensor<32x4xf32> -> tensor<4096x4xf32>
  %c = weft.broadcast %b dims [1] : tensor<4xf32> -> tensor<4096x4xf32>
  %z = weft.add %y, %c : tensor<4096x4xf32>
  %e = weft.exp %z : tensor<4096x4xf32>
  %s = weft.reduce sum %e dims [1] : tensor<4096x4xf32> -> tensor<4096xf32>
  %t = weft.broadcast %s dims [0] : tensor<4096xf32> -> tensor<4096x4xf32>
  %d = weft.div %e, %t : tensor<4096x4xf32>
  %m = weft.reduce max %d dims [1] : tensor<4096x4xf32> -> tensor<4096xf32>
  %n = weft.broadcast %m dims [0] : tensor<4096xf32> -> tensor<4096x4xf32>
  %f = weft.sub %d, %n : tensor<4096x4xf32>
  %r = weft.reduce sum %f dims [1] : tensor<4096x4xf32> -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// Three of four agree on rows, so the fourth moves, and the result is by rows.
// CHECK-LABEL: func.func @the_minority_moves
// CHECK-SAME: -> tensor<12x32xf32, #[[$ROWS]]>
// CHECK: weft.reshard %arg0
// CHECK-NOT: weft.reshard
// CHECK: weft.concatenate
// CHECK-NOT: weft.reshard
func.func @the_minority_moves(
    %a: tensor<12x8xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
    %b: tensor<12x8xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %c: tensor<12x8xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %d: tensor<12x8xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>}) -> tensor<12x32xf32> {
  %0 = weft.concatenate %a, %b, %c, %d dim 1 : (tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x32xf32>
  %1 = weft.relu %0 : tensor<12x32xf32>
  return %1 : tensor<12x32xf32>
}

// Two sums that are added have the price of one, but a bias is no sum: 6,144
// bytes of %x are gathered, and not 12,288 of the product summed.
// CHECK-LABEL: func.func @a_bias_is_no_sum
// CHECK: %[[X:.+]] = weft.reshard %arg0 {{.*}} -> tensor<64x32xf32, #[[$WHOLE2:.+]]>
// CHECK: weft.dot %[[X]], %arg1 {{.*}} -> tensor<64x64xf32, #[[$COLUMNS:.+]]>
// CHECK-NOT: weft.reshard
// CHECK: return
func.func @a_bias_is_no_sum(
    %x: tensor<64x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
    %w: tensor<32x64xf32> {weft.layout = #weft.layout<#mesh, [{}, {"data"}]>},
    %b: tensor<64xf32> {weft.layout = #weft.layout<#mesh, [{"data"}]>}) -> tensor<64x64xf32> {
  %y = weft.dot %x, %w contract [1] x [0] : tensor<64x32xf32>, tensor<32x64xf32> -> tensor<64x64xf32>
  %c = weft.broadcast %b dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %z = weft.add %y, %c : tensor<64x64xf32>
  %r = weft.relu %z : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// An operand becomes an argument of a branch that nothing uses; the min wants
// "model" for its rows, the results "data".
// CHECK-LABEL: func.func @an_unused_argument_of_a_branch
// CHECK: weft.case
// CHECK: return
func.func @an_unused_argument_of_a_branch(
    %a: tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
    %b: tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %i: tensor<i32>) -> (tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>}) {
  %m = weft.min %a, %b : tensor<8x8xf32>
  %c = weft.case %i(%a, %m) : tensor<i32>, (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>):
    weft.yield %q : tensor<8x8xf32>
  }, {
  ^bb0(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>):
    weft.yield %q : tensor<8x8xf32>
  }
  return %c : tensor<8x8xf32>
}
}
