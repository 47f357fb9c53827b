// RUN: weft-opt %s --weft-sink-reshards --weft-verify-layouts | FileCheck %s

#mesh = #weft.mesh<"data"=4>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
#vector = #weft.layout<#mesh, [{}]>
#sum = #weft.layout<#mesh, [{}, {}], partial = sum{"data"}>
#max = #weft.layout<#mesh, [{}, {}], partial = max{"data"}>

module attributes {weft.mesh = #mesh} {

// One slice of stacked weights is gathered, not all of them.
// CHECK-LABEL: func.func @slice_moves_before_gather
// CHECK: %[[S:.+]] = weft.slice %arg0 {{.*}} -> tensor<16x2xf32, #[[$ROWS:.+]]>
// CHECK: weft.reshard %[[S]] reason "w" : tensor<16x2xf32, #[[$ROWS]]> -> tensor<16x2xf32, #
func.func @slice_moves_before_gather(%w: tensor<16x64xf32, #rows>) -> tensor<16x2xf32, #whole> {
  %0 = weft.reshard %w reason "w" : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.slice %0 from [0, 4] to [16, 6] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<16x2xf32, #whole>
  return %1 : tensor<16x2xf32, #whole>
}

// A slice may cut the sharded dimension: each device fetches the rows that it
// lacks, and two rows are gathered instead of sixteen.
// CHECK-LABEL: func.func @slice_of_the_sharded_dimension_moves_too
// CHECK: weft.slice
// CHECK-NEXT: weft.reshard
func.func @slice_of_the_sharded_dimension_moves_too(%w: tensor<16x64xf32, #rows>) -> tensor<2x64xf32, #whole> {
  %0 = weft.reshard %w reason "w" : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.slice %0 from [3, 0] to [5, 64] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<2x64xf32, #whole>
  return %1 : tensor<2x64xf32, #whole>
}

// CHECK-LABEL: func.func @cast_to_fewer_bytes_before_gather
// CHECK: %[[C:.+]] = weft.convert %arg0
// CHECK: weft.reshard %[[C]]
func.func @cast_to_fewer_bytes_before_gather(%w: tensor<16x64xf32, #rows>) -> tensor<16x64xbf16, #whole> {
  %0 = weft.reshard %w : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.convert %0 : tensor<16x64xf32, #whole> -> tensor<16x64xbf16, #whole>
  return %1 : tensor<16x64xbf16, #whole>
}

// A rounded sum is no sum of rounded summands.
// CHECK-LABEL: func.func @no_sum_passes_a_rounding_cast
// CHECK: weft.reshard %arg0
// CHECK-NEXT: weft.convert
func.func @no_sum_passes_a_rounding_cast(%w: tensor<16x64xf32, #sum>) -> tensor<16x64xbf16, #whole> {
  %0 = weft.reshard %w : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.convert %0 : tensor<16x64xf32, #whole> -> tensor<16x64xbf16, #whole>
  return %1 : tensor<16x64xbf16, #whole>
}

// A rounded maximum is the maximum of rounded ones.
// CHECK-LABEL: func.func @a_max_passes_a_rounding_cast
// CHECK: %[[C:.+]] = weft.convert %arg0 : {{.*}} -> tensor<16x64xbf16, #[[$MAX:.+]]>
// CHECK: weft.reshard %[[C]]
func.func @a_max_passes_a_rounding_cast(%w: tensor<16x64xf32, #max>) -> tensor<16x64xbf16, #whole> {
  %0 = weft.reshard %w : tensor<16x64xf32, #max> -> tensor<16x64xf32, #whole>
  %1 = weft.convert %0 : tensor<16x64xf32, #whole> -> tensor<16x64xbf16, #whole>
  return %1 : tensor<16x64xbf16, #whole>
}

// The negative of a maximum is a minimum of negatives, and a part of it is
// combined instead of all.
// CHECK-LABEL: func.func @a_max_passes_neg_as_a_min
// CHECK: %[[N:.+]] = weft.neg %arg0 : (tensor<16x64xf32, #[[$MAX]]>) -> tensor<16x64xf32, #[[$MIN:.+]]>
// CHECK: %[[S:.+]] = weft.slice %[[N]]
// CHECK: weft.reshard %[[S]]
func.func @a_max_passes_neg_as_a_min(%w: tensor<16x64xf32, #max>) -> tensor<2x64xf32, #whole> {
  %0 = weft.reshard %w : tensor<16x64xf32, #max> -> tensor<16x64xf32, #whole>
  %1 = weft.neg %0 : tensor<16x64xf32, #whole>
  %2 = weft.slice %1 from [3, 0] to [5, 64] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<2x64xf32, #whole>
  return %2 : tensor<2x64xf32, #whole>
}

// Gradients of two microbatches are added before one reduction, casts between.
// CHECK-LABEL: func.func @gradient_accumulation_reduces_once
// CHECK-NOT: weft.reshard
// CHECK: %[[A:.+]] = weft.convert %arg0
// CHECK: %[[B:.+]] = weft.convert %arg1
// CHECK: %[[S:.+]] = weft.add %[[A]], %[[B]]
// CHECK: weft.reshard %[[S]]
// CHECK-NOT: weft.reshard
func.func @gradient_accumulation_reduces_once(%a: tensor<16x64xf32, #sum>, %b: tensor<16x64xf32, #sum>) -> tensor<16x64xf64, #whole> {
  %0 = weft.convert %a : tensor<16x64xf32, #sum> -> tensor<16x64xf64, #sum>
  %1 = weft.reshard %0 reason "first" : tensor<16x64xf64, #sum> -> tensor<16x64xf64, #whole>
  %2 = weft.convert %b : tensor<16x64xf32, #sum> -> tensor<16x64xf64, #sum>
  %3 = weft.reshard %2 reason "second" : tensor<16x64xf64, #sum> -> tensor<16x64xf64, #whole>
  %4 = weft.add %1, %3 : tensor<16x64xf64, #whole>
  return %4 : tensor<16x64xf64, #whole>
}

// The whole value would be added four times.
// CHECK-LABEL: func.func @a_sum_and_a_whole_value_are_not_added_early
// CHECK: weft.reshard %arg0
// CHECK: weft.add
func.func @a_sum_and_a_whole_value_are_not_added_early(%a: tensor<16x64xf32, #sum>, %b: tensor<16x64xf32, #whole>) -> tensor<2x64xf32, #whole> {
  %0 = weft.reshard %a : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.add %0, %b : tensor<16x64xf32, #whole>
  %2 = weft.slice %1 from [3, 0] to [5, 64] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<2x64xf32, #whole>
  return %2 : tensor<2x64xf32, #whole>
}

// A product of sums is no sum of products.
// CHECK-LABEL: func.func @two_sums_are_not_multiplied_early
// CHECK: weft.reshard %arg0
// CHECK: weft.reshard %arg1
// CHECK: weft.mul
func.func @two_sums_are_not_multiplied_early(%a: tensor<16x64xf32, #sum>, %b: tensor<16x64xf32, #sum>) -> tensor<2x64xf32, #whole> {
  %0 = weft.reshard %a : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.reshard %b : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %2 = weft.mul %0, %1 : tensor<16x64xf32, #whole>
  %3 = weft.slice %2 from [3, 0] to [5, 64] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<2x64xf32, #whole>
  return %3 : tensor<2x64xf32, #whole>
}

// A sum passes a scale on the way to the smaller result of a reduce.
// CHECK-LABEL: func.func @a_sum_passes_a_scale
// CHECK: weft.mul %arg0, %arg1
// CHECK: %[[R:.+]] = weft.reduce sum %{{.+}} dims [0] : {{.*}} -> tensor<64xf32, #{{.+}}>
// CHECK: weft.reshard %[[R]]
func.func @a_sum_passes_a_scale(%a: tensor<16x64xf32, #sum>, %b: tensor<16x64xf32, #whole>) -> tensor<64xf32, #vector> {
  %0 = weft.reshard %a : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.mul %0, %b : tensor<16x64xf32, #whole>
  %2 = weft.reduce sum %1 dims [0] : tensor<16x64xf32, #whole> -> tensor<64xf32, #vector>
  return %2 : tensor<64xf32, #vector>
}

// relu is not linear.
// CHECK-LABEL: func.func @no_sum_passes_relu
// CHECK: weft.reshard %arg0
// CHECK-NEXT: weft.relu
func.func @no_sum_passes_relu(%a: tensor<16x64xf32, #sum>) -> tensor<2x64xf32, #whole> {
  %0 = weft.reshard %a : tensor<16x64xf32, #sum> -> tensor<16x64xf32, #whole>
  %1 = weft.relu %0 : tensor<16x64xf32, #whole>
  %2 = weft.slice %1 from [3, 0] to [5, 64] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<2x64xf32, #whole>
  return %2 : tensor<2x64xf32, #whole>
}

// A value with another use is moved for that one anyway.
// CHECK-LABEL: func.func @what_others_use_stays
// CHECK: weft.reshard %arg0
// CHECK-NEXT: weft.slice
func.func @what_others_use_stays(%w: tensor<16x64xf32, #rows>) -> (tensor<16x2xf32, #whole>, tensor<16x64xf32, #whole>) {
  %0 = weft.reshard %w : tensor<16x64xf32, #rows> -> tensor<16x64xf32, #whole>
  %1 = weft.slice %0 from [0, 4] to [16, 6] by [1, 1] : tensor<16x64xf32, #whole> -> tensor<16x2xf32, #whole>
  return %1, %0 : tensor<16x2xf32, #whole>, tensor<16x64xf32, #whole>
}

}
