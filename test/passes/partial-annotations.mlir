// Annotations that are partial: an argument holds summands, a constraint or a
// result keeps them. Linear ops between them sum nothing.
// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-verify-stage=stage=sharded | FileCheck %s

// CHECK-DAG: #[[$SUMS:.+]] = #weft.layout<#mesh, [{"x"}, {}], partial = sum{"y"}>
// CHECK-DAG: #[[$ROWS:.+]] = #weft.layout<#mesh, [{"x"}, {}]>
// CHECK-DAG: #[[$WHOLE:.+]] = #weft.layout<#mesh, [{}, {}]>

#mesh = #weft.mesh<"x"=2, "y"=2>
#xy = #weft.layout<#mesh, [{"x"}, {"y"}]>
#y = #weft.layout<#mesh, [{"y"}, {}]>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
#sums = #weft.layout<#mesh, [{"x"}, {}], partial = sum{"y"}>
#eight = #weft.layout<#mesh, [{"x", "y"}]>
module attributes {weft.mesh = #mesh} {

// CHECK-LABEL: func.func @sums_are_added_before_they_are_reduced
// CHECK-COUNT-2: weft.dot {{.*}} -> tensor<8x6xf32, #[[$SUMS]]>
// CHECK-NOT: weft.reshard
// CHECK: %[[SUM:.*]] = weft.add {{.*}} : tensor<8x6xf32, #[[$SUMS]]>
// CHECK-NEXT: %[[R:.*]] = weft.reshard %[[SUM]] {{.*}} : tensor<8x6xf32, #[[$SUMS]]> -> tensor<8x6xf32, #[[$ROWS]]>
// CHECK-NEXT: return %[[R]]
func.func @sums_are_added_before_they_are_reduced(
    %a: tensor<8x4xf32> {weft.layout = #xy}, %b: tensor<4x6xf32> {weft.layout = #y}) -> (tensor<8x6xf32> {weft.layout = #rows}) {
  %0 = weft.dot %a, %b contract [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %1 = weft.constrain %0 to #sums : tensor<8x6xf32> -> tensor<8x6xf32>
  %2 = weft.dot %a, %b contract [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %3 = weft.constrain %2 to #sums : tensor<8x6xf32> -> tensor<8x6xf32>
  %4 = weft.add %1, %3 : tensor<8x6xf32>
  %5 = weft.constrain %4 to #sums : tensor<8x6xf32> -> tensor<8x6xf32>
  return %5 : tensor<8x6xf32>
}

// Another use takes the sum; this one goes on with the summands.
// CHECK-LABEL: func.func @from_argument_to_result
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8x6xf32, #[[$SUMS]]> {{.*}}, %[[S:[a-z0-9]+]]: tensor<8x6xf32, #[[$ROWS]]>
// CHECK-SAME: -> (tensor<8x6xf32, #[[$SUMS]]> {{.*}}, tensor<8x6xf32, #[[$ROWS]]>
// CHECK-DAG: %[[P:.*]] = weft.mul %[[A]], %[[S]] : (tensor<8x6xf32, #[[$SUMS]]>, tensor<8x6xf32, #[[$ROWS]]>) -> tensor<8x6xf32, #[[$SUMS]]>
// CHECK-DAG: %[[W:.*]] = weft.reshard %[[A]] {{.*}} -> tensor<8x6xf32, #[[$ROWS]]>
// CHECK-DAG: %[[E:.*]] = weft.exp %[[W]]
// CHECK: return %[[P]], %[[E]]
func.func @from_argument_to_result(
    %a: tensor<8x6xf32> {weft.layout = #sums}, %s: tensor<8x6xf32> {weft.layout = #rows}) -> (tensor<8x6xf32> {weft.layout = #sums}, tensor<8x6xf32>) {
  %0 = weft.mul %a, %s : tensor<8x6xf32>
  %1 = weft.exp %a : tensor<8x6xf32>
  return %0, %1 : tensor<8x6xf32>, tensor<8x6xf32>
}

// Copies become summands without a movement.
// CHECK-LABEL: func.func @copies_become_summands
// CHECK: %[[R:.*]] = weft.reshard %{{.*}} : tensor<8x6xf32, #[[$ROWS]]> -> tensor<8x6xf32, #[[$SUMS]]>
// CHECK: return %[[R]]
func.func @copies_become_summands(%a: tensor<8x6xf32> {weft.layout = #rows}) -> (tensor<8x6xf32> {weft.layout = #sums}) {
  return %a : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @per_device_code_takes_and_gives_summands
// CHECK: %[[M:.*]] = weft.manual(%{{.*}}) {{.*}} : (tensor<8x6xf32, #[[$SUMS]]>) -> tensor<8x6xf32, #[[$SUMS]]>
// CHECK: weft.reshard %[[M]] {{.*}} -> tensor<8x6xf32, #[[$WHOLE]]>
func.func @per_device_code_takes_and_gives_summands(%a: tensor<8x6xf32> {weft.layout = #sums}) -> (tensor<8x6xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>}) {
  %0 = weft.manual(%a) from [#sums] to [#sums] : (tensor<8x6xf32>) -> tensor<8x6xf32> {
  ^bb0(%p: tensor<4x6xf32>):
    %1 = weft.neg %p : tensor<4x6xf32>
    weft.yield %1 : tensor<4x6xf32>
  }
  return %0 : tensor<8x6xf32>
}

// Blocks of ports are full, where an annotation does not say otherwise: six over
// four are two blocks of three.
// CHECK-LABEL: func.func @full_ports
// CHECK-SAME: %{{.*}}: tensor<6xf32, #[[HALVES:[a-z0-9]+]]>) -> tensor<6xf32, #[[HALVES]]>
// CHECK: weft.exp {{.*}} : tensor<6xf32, #[[FOURTHS:[a-z0-9]+]]>
// CHECK: weft.reshard %{{.*}} tensor<6xf32, #[[FOURTHS]]> -> tensor<6xf32, #[[HALVES]]>
func.func @full_ports(%a: tensor<6xf32>) -> tensor<6xf32> attributes {weft.full_ports} {
  %0 = weft.exp %a : tensor<6xf32>
  %1 = weft.constrain %0 to #eight : tensor<6xf32> -> tensor<6xf32>
  return %1 : tensor<6xf32>
}
}
