// RUN: weft-opt %s --verify-diagnostics --weft-verify-layouts

#mesh = #weft.mesh<"d"=2>
#rows = #weft.layout<#mesh, [{"d"}, {}]>
#whole = #weft.layout<#mesh, [{}]>
func.func @missing_sum(%x: tensor<8x4xf32, #rows>) -> tensor<4xf32, #whole> {
  // expected-error @below {{layouts do not follow the sharding rule: result 0 should be partial over {"d"}, but is over {}}}
  %0 = weft.reduce sum %x dims [0] : tensor<8x4xf32, #rows> -> tensor<4xf32, #whole>
  return %0 : tensor<4xf32, #whole>
}

// A part of a sum passes through a contraction whose result is wider, but not
// where the sum wraps at the operand's width.
#parts = #weft.layout<#mesh, [{}, {}], partial = sum{"d"}>
#both = #weft.layout<#mesh, [{}, {}]>
func.func @wider_parts(%x: tensor<8x4xbf16, #parts>, %w: tensor<4x2xbf16, #both>, %i: tensor<8x4xi8, #parts>, %j: tensor<4x2xi8, #both>) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<8x4xbf16, #parts>, tensor<4x2xbf16, #both> -> tensor<8x2xf32, #parts>
  %1 = weft.dot %i, %j contract [1] x [0] : tensor<8x4xi8, #parts>, tensor<4x2xi8, #both> -> tensor<8x2xi8, #parts>
  // expected-error @below {{layouts do not follow the sharding rule: operand 0 is partial (sum over {"d"}), and the op does not pass that on: reshard it first}}
  %2 = weft.dot %i, %j contract [1] x [0] : tensor<8x4xi8, #parts>, tensor<4x2xi8, #both> -> tensor<8x2xi32, #parts>
  // expected-error @below {{layouts do not follow the sharding rule: operand 0 is partial (sum over {"d"}), and the op does not pass that on: reshard it first}}
  %3 = weft.reduce sum %i dims [1] : tensor<8x4xi8, #parts> -> tensor<8xi32, #weft.layout<#mesh, [{}], partial = sum{"d"}>>
  return
}
