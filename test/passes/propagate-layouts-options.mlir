// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts | FileCheck %s

// CHECK-DAG: #[[$DATA:.+]] = #weft.layout<#mesh, [{"data"}, {}]>
// CHECK-DAG: #[[$COLUMNS:.+]] = #weft.layout<#mesh, [{}, {"data"}]>
// CHECK-DAG: #[[$MODEL:.+]] = #weft.layout<#mesh, [{"model"}, {}]>
// CHECK-DAG: #[[$WHOLE:.+]] = #weft.layout<#mesh, [{}, {}]>

#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {

// Only x and the weights are annotated: the batch stays over "data" in every
// layer, each pair of layers has one all-reduce, and nothing is gathered.
// CHECK-LABEL: func.func @data_parallelism_is_not_lost_after_layer_0
// CHECK: weft.dot {{.*}} -> tensor<16x64xf32, #[[$HIDDEN:.+]]>
// CHECK: weft.dot {{.*}} -> tensor<16x32xf32, #[[$PARTIAL:.+]]>
// CHECK: weft.reshard {{.*}} tensor<16x32xf32, #[[$PARTIAL]]> -> tensor<16x32xf32, #[[$DATA]]>
// CHECK-NOT: weft.reshard
// CHECK: weft.dot {{.*}} -> tensor<16x64xf32, #[[$HIDDEN]]>
// CHECK: weft.dot {{.*}} -> tensor<16x32xf32, #[[$PARTIAL]]>
// CHECK: weft.reshard {{.*}} tensor<16x32xf32, #[[$PARTIAL]]> -> tensor<16x32xf32, #[[$DATA]]>
// CHECK-NOT: weft.reshard
// CHECK: return {{.*}} tensor<16x32xf32, #[[$DATA]]>
func.func @data_parallelism_is_not_lost_after_layer_0(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
    %w1: tensor<32x64xf32> {weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
    %w2: tensor<64x32xf32> {weft.role = "weight", weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %w3: tensor<32x64xf32> {weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
    %w4: tensor<64x32xf32> {weft.role = "weight", weft.layout = #weft.layout<#mesh, [{"model"}, {}]>}) -> tensor<16x32xf32> {
  %0 = weft.dot %x, %w1 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %1 = weft.relu %0 : tensor<16x64xf32>
  %2 = weft.dot %1, %w2 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  %3 = weft.relu %2 : tensor<16x32xf32>
  %4 = weft.dot %3, %w3 contract [1] x [0] : tensor<16x32xf32>, tensor<32x64xf32> -> tensor<16x64xf32>
  %5 = weft.relu %4 : tensor<16x64xf32>
  %6 = weft.dot %5, %w4 contract [1] x [0] : tensor<16x64xf32>, tensor<64x32xf32> -> tensor<16x32xf32>
  return %6 : tensor<16x32xf32>
}

// A closed dimension stays whole, an open one follows its neighbours.
// CHECK-LABEL: func.func @an_open_dimension_takes_more_axes
// CHECK-SAME: %arg1: tensor<16x32xf32, #[[$WHOLE]]>
// CHECK-SAME: %arg2: tensor<16x32xf32, #[[$DATA]]>
func.func @an_open_dimension_takes_more_axes(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>},
    %closed: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>},
    %open: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>, weft.open = array<i64: 0>}) -> tensor<16x32xf32> {
  %0 = weft.add %x, %closed : tensor<16x32xf32>
  %1 = weft.add %0, %open : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @a_replicated_axis_shards_nothing
// CHECK-SAME: %arg1: tensor<16x32xf32, #[[$DATA]]>
func.func @a_replicated_axis_shards_nothing(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>},
    %y: tensor<16x32xf32> {weft.replicated = ["model"]}) -> tensor<16x32xf32> {
  %0 = weft.add %x, %y : tensor<16x32xf32>
  return %0 : tensor<16x32xf32>
}

// y is propagated first although its use comes second.
// CHECK-LABEL: func.func @priority_0_spreads_before_priority_1
// CHECK: weft.add {{.*}} : tensor<16x32xf32, #[[$COLUMNS]]>
func.func @priority_0_spreads_before_priority_1(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>, weft.priority = 1},
    %y: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {"data"}]>},
    %z: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = weft.add %z, %z : tensor<16x32xf32>
  %1 = weft.add %0, %x : tensor<16x32xf32>
  %2 = weft.add %1, %y : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @a_group_is_laid_out_alike
// CHECK-SAME: %arg1: tensor<16x32xf32, #[[$MODEL]]>
func.func @a_group_is_laid_out_alike(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>, weft.group = "tables"},
    %y: tensor<16x32xf32> {weft.group = "tables"}) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = weft.relu %x : tensor<16x32xf32>
  %1 = weft.relu %y : tensor<16x32xf32>
  return %0, %1 : tensor<16x32xf32>, tensor<16x32xf32>
}

// No value of the group is annotated: a layout that spreads to one spreads to all.
// CHECK-LABEL: func.func @a_group_grows_together
// CHECK-SAME: %arg2: tensor<16x32xf32, #[[$DATA]]>
func.func @a_group_grows_together(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
    %y: tensor<16x32xf32> {weft.group = "pair"},
    %z: tensor<16x32xf32> {weft.group = "pair"}) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = weft.add %x, %y : tensor<16x32xf32>
  %1 = weft.relu %z : tensor<16x32xf32>
  return %0, %1 : tensor<16x32xf32>, tensor<16x32xf32>
}

// Both want "model" for a dimension of the result: the small one is moved.
// CHECK-LABEL: func.func @the_cheaper_side_of_a_conflict_is_moved
// CHECK: %[[SMALL:.+]] = weft.reshard %arg1 {{.*}} -> tensor<32x4xf32, #[[$WHOLE]]>
// CHECK: weft.dot %arg0, %[[SMALL]] {{.*}} -> tensor<256x4xf32, #[[$MODEL]]>
func.func @the_cheaper_side_of_a_conflict_is_moved(
    %x: tensor<256x32xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>},
    %y: tensor<32x4xf32> {weft.layout = #weft.layout<#mesh, [{}, {"model"}]>}) -> tensor<256x4xf32> {
  %0 = weft.dot %x, %y contract [1] x [0] : tensor<256x32xf32>, tensor<32x4xf32> -> tensor<256x4xf32>
  return %0 : tensor<256x4xf32>
}

// Inside a function: a closed dimension of a constraint stays whole, an open
// one takes its neighbours' axes.
// CHECK-LABEL: func.func @a_constraint_leaves_a_dimension_open
// CHECK: %[[X:.+]] = weft.reshard %arg0 {{.*}} -> tensor<16x32xf32, #[[$DATA]]>
// CHECK: weft.relu %[[X]] : tensor<16x32xf32, #[[$DATA]]>
func.func @a_constraint_leaves_a_dimension_open(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>}) -> tensor<16x32xf32> {
  %0 = weft.constrain %x to <#mesh, [{}, {}]> {weft.open = array<i64: 0>} : tensor<16x32xf32> -> tensor<16x32xf32>
  %1 = weft.relu %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @a_constraint_bars_an_axis
// CHECK: weft.relu {{.*}} : tensor<16x32xf32, #[[$DATA]]>
func.func @a_constraint_bars_an_axis(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>}) -> tensor<16x32xf32> {
  %0 = weft.constrain %x to <#mesh, [{}, {}]> {weft.open = array<i64: 0, 1>, weft.replicated = ["model"]} : tensor<16x32xf32> -> tensor<16x32xf32>
  %1 = weft.relu %0 : tensor<16x32xf32>
  return %1 : tensor<16x32xf32>
}

// The second constraint counts first.
// CHECK-LABEL: func.func @a_constraint_of_priority_1_waits
// CHECK: weft.add {{.*}} : tensor<16x32xf32, #[[$COLUMNS]]>
func.func @a_constraint_of_priority_1_waits(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>) -> tensor<16x32xf32> {
  %0 = weft.constrain %x to #weft.layout<#mesh, [{"data"}, {}]> {weft.priority = 1 : i64} : tensor<16x32xf32> -> tensor<16x32xf32>
  %1 = weft.constrain %y to <#mesh, [{}, {"data"}]> : tensor<16x32xf32> -> tensor<16x32xf32>
  %2 = weft.add %0, %1 : tensor<16x32xf32>
  return %2 : tensor<16x32xf32>
}

// A group joins an argument and a value without a layout of its own.
// CHECK-LABEL: func.func @a_group_joins_values_inside
// CHECK: %[[Y:.+]] = weft.reshard %arg1 {{.*}} -> tensor<16x32xf32, #[[$MODEL]]>
// CHECK: weft.exp %[[Y]] : tensor<16x32xf32, #[[$MODEL]]>
func.func @a_group_joins_values_inside(
    %x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"model"}, {}]>, weft.group = "tables"},
    %y: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>}) -> (tensor<16x32xf32>, tensor<16x32xf32>) {
  %0 = weft.constrain %y to #weft.layout<#mesh, [{}, {}]> {weft.open = array<i64: 0, 1>, weft.group = "tables"} : tensor<16x32xf32> -> tensor<16x32xf32>
  %1 = weft.exp %0 : tensor<16x32xf32>
  return %x, %1 : tensor<16x32xf32>, tensor<16x32xf32>
}

}
