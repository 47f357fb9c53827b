// RUN: weft-opt %s --verify-diagnostics --weft-verify-layouts

#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#whole = #weft.layout<#mesh, [{}]>
func.func @missing_sum(%x: tensor<8x4xf32, #rows>) -> tensor<4xf32, #whole> {
  // expected-error @below {{layouts do not follow the sharding rule: result 0 should be partial over {"d"}, but is over {}}}
  %0 = weft.reduce sum %x dims [0] : tensor<8x4xf32, #rows> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}
