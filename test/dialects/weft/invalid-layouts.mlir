// RUN: weft-opt --split-input-file --verify-diagnostics %s

// @axes_comma
#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{expected an axis after the comma}}
func.func private @axes_comma() attributes {a = #weft.layout<#mesh, [{"data", }]>}

// -----

#mesh = #weft.mesh<"data"=2>
#x = #weft.layout<#mesh, [{"data"}]>
#other = #weft.layout<#weft.mesh<"a"=2>, [{"a"}]>
func.func @reshard_c1_meshes(%x: tensor<4xf32, #x>) {
  // expected-error@+1 {{the input lies on #weft.mesh<"data"=2>, but the result on #weft.mesh<"a"=2>}}
  %0 = weft.reshard %x : tensor<4xf32, #x> -> tensor<4xf32, #other>
  return
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<f32>
func.func @value_and_grad_c1_result(%w: tensor<4xf32>) {
  // expected-error@+1 {{result 0 is 'tensor<f64>', but that of @f is 'tensor<f32>'}}
  %0:2 = weft.value_and_grad @f(%w) wrt [0] : (tensor<4xf32>) -> (tensor<f64>, tensor<4xf32>)
  return
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<f32>
func.func @value_and_grad_c1_gradient(%w: tensor<4xf32>) {
  // expected-error@+1 {{the gradient of argument 0 is 'tensor<5xf32>', but the argument 'tensor<4xf32>'}}
  %0:2 = weft.value_and_grad @f(%w) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<5xf32>)
  return
}

// -----

func.func @broadcast_c2_order(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims should rise from 0, but 0 follows 1}}
  %0 = weft.broadcast %x dims [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @rng_bits_c3_offset(%k: tensor<2xui32>, %o: tensor<i32>) {
  // expected-error@+1 {{an offset is tensor<i64>, not 'tensor<i32>'}}
  %0 = weft.rng_bits %k offsets(%o) of [4] : (tensor<2xui32>, tensor<i32>) -> tensor<4xui32>
  return
}

// -----

func.func @rng_bits_types(%k: tensor<2xui32>) {
  // expected-error@+1 {{expected the key's type, the offsets' types and one result type, not '() -> tensor<4xui32>'}}
  %0 = weft.rng_bits %k : () -> tensor<4xui32>
  return
}

// -----

func.func @unary_types(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected 1 operand types and one result type, not '(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>'}}
  %0 = weft.exp %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// @layout_c5
#mesh = #weft.mesh<"branch"=2, "data"=4>
// expected-error@+1 {{layout uses axis "branch", of which its part has one coordinate only: "branch"=1}}
func.func private @layout_c5() attributes {a = #weft.layout<#mesh, [{"branch"}], at = {"branch" = 1}>}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=4>
// expected-error@+1 {{axis "branch" has 2 coordinates, 0 to 1; the part has coordinate 2}}
func.func private @layout_c5_range() attributes {a = #weft.layout<#mesh, [], at = {"branch" = 2}>}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=4>
// expected-error@+1 {{the mesh has no axis "brunch"}}
func.func private @layout_c5_axis() attributes {a = #weft.layout<#mesh, [], at = {"brunch" = 0}>}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=4>
// expected-error@+1 {{expected partial = or at =, found 'on'}}
func.func private @layout_word() attributes {a = #weft.layout<#mesh, [], on = {"branch" = 0}>}
