// RUN: weft-opt %s --weft-merge-reshards --weft-verify-layouts | FileCheck %s
// RUN: weft-opt %s --weft-merge-reshards --weft-verify-layouts --weft-partition | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"data"=4>
#cube = #weft.mesh<"x"=2, "y"=2, "z"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"data"}]>
#whole = #weft.layout<#mesh, [{}, {}]>
#sum = #weft.layout<#mesh, [{}, {}], partial = sum{"data"}>

module attributes {weft.mesh = #mesh} {

// An all_reduce and a slice of it are a reduce_scatter.
// CHECK-LABEL: func.func @sum_to_sharded_is_a_reduce_scatter
// CHECK: weft.reshard %arg0 reason "sum; slice" : tensor<16x64xf32, #{{.+}}> -> tensor<16x64xf32, #[[$ROWS:.+]]>
// CHECK-NOT: weft.reshard
// LOCAL-LABEL: func.func @sum_to_sharded_is_a_reduce_scatter
// LOCAL: coll.reduce_scatter sum %arg0 dim 0
// LOCAL-NOT: coll.
func.func @sum_to_sharded_is_a_reduce_scatter(%a: tensor<16x64xf32, #sum>) -> tensor<16x64xf32, #rows> {
  %0 = weft.reshard %a reason "sum" : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %0 reason "slice" : tensor<16x64xf32, #whole> -> tensor<16x64xf32, #rows>
  return %1 : tensor<16x64xf32, #rows>
}

// CHECK-LABEL: func.func @a_gather_and_a_slice_are_an_all_to_all
// LOCAL-LABEL: func.func @a_gather_and_a_slice_are_an_all_to_all
// LOCAL: coll.all_to_all %arg0
// LOCAL-NOT: coll.
func.func @a_gather_and_a_slice_are_an_all_to_all(%a: tensor<16x64xf32, #rows>) -> tensor<16x64xf32, #columns> {
  %0 = weft.reshard %a : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %0 : tensor<16x64xf32, #whole> -> tensor<16x64xf32, #columns>
  return %1 : tensor<16x64xf32, #columns>
}

// The gather is needed by another use, too: a slice of it moves nothing.
// CHECK-LABEL: func.func @what_is_gathered_anyway_is_sliced
// CHECK: %[[G:.+]] = weft.reshard %arg0
// CHECK: weft.reshard %[[G]]
// LOCAL-LABEL: func.func @what_is_gathered_anyway_is_sliced
// LOCAL: coll.all_gather
// LOCAL-NEXT: coll.slice
func.func @what_is_gathered_anyway_is_sliced(%a: tensor<16x64xf32, #rows>) -> (tensor<16x64xf32, #whole>, tensor<16x64xf32, #columns>) {
  %0 = weft.reshard %a : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %0 : tensor<16x64xf32, #whole> -> tensor<16x64xf32, #columns>
  return %0, %1 : tensor<16x64xf32, #whole>, tensor<16x64xf32, #columns>
}

// CHECK-LABEL: func.func @there_and_back_again_moves_nothing
// CHECK-NEXT: return %arg0
func.func @there_and_back_again_moves_nothing(%a: tensor<16x64xf32, #rows>) -> tensor<16x64xf32, #rows> {
  %0 = weft.reshard %a : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %0 : tensor<16x64xf32, #whole> -> tensor<16x64xf32, #rows>
  return %1 : tensor<16x64xf32, #rows>
}

// CHECK-LABEL: func.func @equal_reshards_are_one
// CHECK: %[[G:.+]] = weft.reshard %arg0
// CHECK-NOT: weft.reshard
// CHECK: weft.add %[[G]], %[[G]]
func.func @equal_reshards_are_one(%a: tensor<16x64xf32, #rows>) -> tensor<16x64xf32, #whole> {
  %0 = weft.reshard %a reason "one" : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %a reason "two" : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %2 = weft.add %0, %1 : tensor<16x64xf32, #whole>
  return %2 : tensor<16x64xf32, #whole>
}

// CHECK-LABEL: func.func @dead_reshards_are_none
// CHECK-NEXT: return
func.func @dead_reshards_are_none(%a: tensor<16x64xf32, #rows>) -> tensor<16x64xf32, #rows> {
  %0 = weft.reshard %a : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %0 : tensor<16x64xf32, #whole> -> tensor<16x64xf32, #columns>
  return %a : tensor<16x64xf32, #rows>
}

// A permute of summands stays among the devices that hold the same summand.
// LOCAL-LABEL: func.func @summands_move_among_their_own
// LOCAL: %[[R:.+]] = weft.reshape %arg0 : tensor<8xf32> -> tensor<1x8xf32>
// LOCAL: coll.{{permute|exchange}} %[[R]] of [2, 16]
// LOCAL: weft.reshape {{.*}} -> tensor<8xf32>
func.func @summands_move_among_their_own(%a: tensor<16xf32, #weft.layout<#cube, [{"y"}], partial = sum{"x"}>>) -> tensor<16xf32, #weft.layout<#cube, [{"z"}], partial = sum{"x"}>> {
  %0 = weft.reshard %a : tensor<16xf32, #weft.layout<#cube, [{"y"}], partial = sum{"x"}>> -> tensor<16xf32, #weft.layout<#cube, [{"z"}], partial = sum{"x"}>>
  return %0 : tensor<16xf32, #weft.layout<#cube, [{"z"}], partial = sum{"x"}>>
}

}
