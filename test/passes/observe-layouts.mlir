// RUN: weft-opt %s --canonicalize --weft-propagate-layouts --weft-verify-layouts | FileCheck %s
// RUN: weft-opt %s --weft-propagate-layouts --weft-partition | FileCheck %s --check-prefix=LOCAL

// CHECK-DAG: #[[$BOTH:.+]] = #weft.layout<#mesh, [{"a"}, {"b"}]>
// CHECK-DAG: #[[$ROWS:.+]] = #weft.layout<#mesh, [{"a"}, {}]>
// CHECK-DAG: #[[$TURNED:.+]] = #weft.layout<#mesh, [{"b"}, {"a"}]>

#mesh = #weft.mesh<"a"=4, "b"=2>
#both = #weft.layout<#mesh, [{"a"}, {"b"}]>
#open = #weft.layout<#mesh, [{}, {}]>
#turned = #weft.layout<#mesh, [{"b"}, {"a"}]>
module attributes {weft.mesh = #mesh} {

// An observation changes nothing, not even how a sum is made: it reports the
// layout in which the value is computed, a constraint's own, and for a partial
// value the one to which it is reduced. Equal reports are there once.
// CHECK-LABEL: func.func @asked
// CHECK-SAME: weft.observed = {{\[\[}}"sin", #[[$BOTH]]], ["dot", #[[$ROWS]]], ["constrained", #[[$TURNED]]]]
// CHECK-NOT: host.observe
// CHECK: return
// LOCAL-LABEL: func.func @asked
// LOCAL-NOT: host.observe
func.func @asked(%x: tensor<8x8xf32> {weft.layout = #both}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = weft.sin %x : tensor<8x8xf32>
  host.observe %0 as "sin" : tensor<8x8xf32>
  host.observe %0 as "sin" : tensor<8x8xf32>
  %1 = weft.dot %0, %0 contract [1] x [1] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  host.observe %1 as "dot" : tensor<8x8xf32>
  %2 = weft.constrain %0 to #turned : tensor<8x8xf32> -> tensor<8x8xf32>
  host.observe %2 as "constrained" : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Without a name there is no answer, but a member of a group that no op uses takes part in the group's layout.
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: weft.observed
// CHECK: weft.cos %arg1 : tensor<8x8xf32, #[[$BOTH]]>
func.func @grouped(%x: tensor<8x8xf32> {weft.layout = #both}, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = weft.constrain %x to #open {weft.group = "g", weft.open = array<i64: 0, 1>} : tensor<8x8xf32> -> tensor<8x8xf32>
  host.observe %0 : tensor<8x8xf32>
  %1 = weft.cos %y : tensor<8x8xf32>
  %2 = weft.constrain %1 to #open {weft.group = "g", weft.open = array<i64: 0, 1>} : tensor<8x8xf32> -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @in_regions
// CHECK-SAME: weft.observed = {{\[\[}}"round", #[[$BOTH]]], ["constant", #{{.*}}]]
func.func @in_regions(%x: tensor<8x8xf32> {weft.layout = #both}) -> tensor<8x8xf32> {
  %one = weft.constant dense<1> : tensor<i32>
  %0 = weft.for 5 (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<8x8xf32>):
    %turned = weft.cos %v : tensor<8x8xf32>
    host.observe %turned as "round" : tensor<8x8xf32>
    weft.yield %turned : tensor<8x8xf32>
  }
  host.observe %one as "constant" : tensor<i32>
  return %0 : tensor<8x8xf32>
}
}
