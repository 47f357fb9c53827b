// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts | FileCheck %s

// A value is moved on from the copy that an earlier use needed, where that is
// cheaper than a move from the value itself.

// CHECK-DAG: #[[$ROWS:.+]] = #weft.layout<#mesh, [{"data"}, {}]>
// CHECK-DAG: #[[$WHOLE:.+]] = #weft.layout<#mesh, [{}, {}]>
// CHECK-DAG: #[[$COLUMNS:.+]] = #weft.layout<#mesh, [{}, {"model"}]>

#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {

// The columns are a slice of the gathered weight.
// CHECK-LABEL: func.func @columns_are_cut_from_the_gathered_weight
// CHECK: %[[W:.+]] = weft.reshard %arg0 {{.*}} tensor<8x8xf32, #[[$ROWS]]> -> tensor<8x8xf32, #[[$WHOLE]]>
// CHECK: %[[C:.+]] = weft.reshard %[[W]] {{.*}} tensor<8x8xf32, #[[$WHOLE]]> -> tensor<8x8xf32, #[[$COLUMNS]]>
// CHECK: return %[[W]], %[[C]]
func.func @columns_are_cut_from_the_gathered_weight(
    %w: tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>})
    -> (tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>},
        tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>}) {
  return %w, %w : tensor<8x8xf32>, tensor<8x8xf32>
}

// A move of a quarter sends less than a gather would; the order of the uses
// does not matter for what is not there yet.
// CHECK-LABEL: func.func @columns_are_moved_if_nothing_is_gathered
// CHECK: weft.reshard %arg0 {{.*}} tensor<8x8xf32, #[[$ROWS]]> -> tensor<8x8xf32, #[[$COLUMNS]]>
// CHECK-NOT: weft.reshard
func.func @columns_are_moved_if_nothing_is_gathered(
    %w: tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>})
    -> (tensor<8x8xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>}) {
  return %w : tensor<8x8xf32>
}
}
