// Layouts may cut one axis in ways that do not align: 6 = 3 * 2 and 6 = 2 * 3.
// A step between them works over the axis.
// RUN: weft-opt --weft-propagate-layouts --weft-partition --split-input-file %s | FileCheck %s

#mesh = #weft.mesh<"a"=6>
#from = #weft.layout<#mesh, [{"a":(1)3}, {}, {"a":(3)2}]>
#to = #weft.layout<#mesh, [{}, {"a":(1)2}, {"a":(2)3}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @permute
  // CHECK: coll.{{permute|exchange}}
  func.func @permute(%x: tensor<1x1x1xf32> {weft.layout = #from}) -> (tensor<1x1x1xf32> {weft.layout = #to}) {
    return %x : tensor<1x1x1xf32>
  }
  // CHECK-LABEL: func.func @larger
  // CHECK: coll.
  func.func @larger(%x: tensor<6x6x6xf32> {weft.layout = #from}) -> (tensor<6x6x6xf32> {weft.layout = #to}) {
    return %x : tensor<6x6x6xf32>
  }
  // An op whose operands cut the axis otherwise.
  // CHECK-LABEL: func.func @add
  // CHECK: coll.
  func.func @add(%x: tensor<6x6x6xf32> {weft.layout = #from}, %y: tensor<6x6x6xf32> {weft.layout = #to}) -> tensor<6x6x6xf32> {
    %0 = weft.add %x, %y : tensor<6x6x6xf32>
    return %0 : tensor<6x6x6xf32>
  }
}

// -----

#mesh = #weft.mesh<"a"=24, "b"=2>
#from = #weft.layout<#mesh, [{"a":(1)4, "b"}, {"a":(8)3}], partial = sum{"a":(4)2}>
#to = #weft.layout<#mesh, [{"a":(6)2}, {"a":(1)3}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @summed
  // CHECK: coll.
  func.func @summed(%x: tensor<5x7xf32> {weft.layout = #from}) -> (tensor<5x7xf32> {weft.layout = #to}) {
    return %x : tensor<5x7xf32>
  }
}
