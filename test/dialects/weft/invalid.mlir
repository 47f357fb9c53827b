// RUN: weft-opt --split-input-file --verify-diagnostics %s

// @mesh_c1
// expected-error@+1 {{axis "a" is declared twice}}
func.func private @mesh_c1() attributes {a = #weft.mesh<"a"=2, "a"=3>}

// -----

// @mesh_c2
// expected-error@+1 {{axis "a" has size 0}}
func.func private @mesh_c2() attributes {a = #weft.mesh<"a"=0>}

// -----

// expected-error@+1 {{mesh has more than 1048576 devices at axis "b"}}
func.func private @mesh_too_large() attributes {a = #weft.mesh<"a"=2, "b"=1000000>}

// -----

// @mesh_c3
// expected-error@+1 {{device}}
func.func private @mesh_c3() attributes {a = #weft.mesh<"a"=2, devices = [0, 0]>}

// -----

// @mesh_field
// expected-error@+1 {{unknown field 'speed'; known are devices, latency, bandwidth}}
func.func private @mesh_field() attributes {a = #weft.mesh<"a"=2, speed = [1]>}

// -----

// @mesh_links
// expected-error@+1 {{mesh has 1 axes, but 2 latencies}}
func.func private @mesh_links() attributes {a = #weft.mesh<"a"=2, latency = [1.0, 2.0]>}

// -----

// @layout_c1
#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{the mesh has no axis "rows"}}
func.func private @layout_c1() attributes {a = #weft.layout<#mesh, [{"rows"}]>}

// -----

// @layout_c2
#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{axis "data" is used twice}}
func.func private @layout_c2() attributes {a = #weft.layout<#mesh, [{"data"}, {"data"}]>}

// -----

// @layout_c3
#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{model}}
func.func private @layout_c3() attributes {a = #weft.layout<#mesh, [{"model":(1)3}]>}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{layout has 1 dimensions, but the tensor has 2}}
func.func private @layout_c4(tensor<4x4xf32, #weft.layout<#mesh, [{"data"}]>>)

// -----

// @reduce_kind
#mesh = #weft.mesh<"data"=2, "model"=4>
// expected-error@+1 {{unknown reduction 'mean'; known are sum, max, min, prod, and, or}}
func.func private @reduce_kind() attributes {a = #weft.layout<#mesh, [], partial = mean{"data"}>}

// -----

func.func @shapes_agree(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@+1 {{failed to verify that all of {lhs, rhs, result} have same shape}}
  %0 = weft.add %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elements_agree(%x: tensor<4xf32>) {
  // expected-error@+1 {{failed to verify that all of {input, result} have same element type}}
  %0 = weft.exp %x : (tensor<4xf32>) -> tensor<4xbf16>
  return
}

// -----

func.func @compare_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{a comparison has elements of i1, not 'f32'}}
  %0 = weft.compare lt %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @select_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{a condition has elements of i1, not 'f32'}}
  %0 = weft.select %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @bitcast_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{element types differ in width: 'f32' and 'ui8'}}
  %0 = weft.bitcast %x : tensor<4xf32> -> tensor<4xui8>
  return
}

// -----

func.func @constant_c1() {
  // expected-error@+1 {{data is 'tensor<4xf32>', but the result 'tensor<5xf32>'}}
  %0 = weft.constant dense<1.0> : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.iota dim 2 : tensor<4x4xi32>
  return
}

// -----

func.func @iota_c2(%o: tensor<i32>) {
  // expected-error@+1 {{the offset is tensor<i64>, not 'tensor<i32>'}}
  %0 = weft.iota dim 0 offset %o : (tensor<i32>) -> tensor<4xi32>
  return
}

// -----

func.func @rng_bits_c1(%k: tensor<3xui32>) {
  // expected-error@+1 {{the key is tensor<2xui32>, not 'tensor<3xui32>'}}
  %0 = weft.rng_bits %k : tensor<3xui32> -> tensor<4xui32>
  return
}

// -----

func.func @rng_bits_c2(%k: tensor<2xui32>) {
  // expected-error@+1 {{the result's elements are ui32, not 'f32'}}
  %0 = weft.rng_bits %k : tensor<2xui32> -> tensor<4xf32>
  return
}

// -----

func.func @rng_bits_c3(%k: tensor<2xui32>, %o: tensor<i64>) {
  // expected-error@+1 {{has 1 offsets and 2 global sizes for 2 dimensions}}
  %0 = weft.rng_bits %k offsets(%o) of [4, 4] : (tensor<2xui32>, tensor<i64>) -> tensor<4x4xui32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims should rise, but 0 follows 1}}
  %0 = weft.reduce sum %x dims [1, 0] : tensor<4x6xf32> -> tensor<f32>
  return
}

// -----

func.func @reduce_c1_range(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.reduce sum %x dims [2] : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [6], not [4]}}
  %0 = weft.reduce sum %x dims [0] : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @dot_c1(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) {
  // expected-error@+1 {{lhs has 2 contracted dims, but rhs 1}}
  %0 = weft.dot %x, %y contract [0, 1] x [0] : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @dot_c2(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) {
  // expected-error@+1 {{dim 2 of lhs is out of the rank 2}}
  %0 = weft.dot %x, %y contract [2] x [0] : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @dot_c2_twice(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) {
  // expected-error@+1 {{dim 1 of lhs is used twice}}
  %0 = weft.dot %x, %y batch [1] x [0] contract [1] x [1] : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @dot_c3(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) {
  // expected-error@+1 {{dim 0 of lhs has size 4, but dim 0 of rhs 6}}
  %0 = weft.dot %x, %y contract [0] x [0] : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @dot_c4(%x: tensor<4x6xf32>, %y: tensor<6x5xf32>) {
  // expected-error@+1 {{the result's shape should be [4, 5], not [5, 4]}}
  %0 = weft.dot %x, %y contract [1] x [0] : tensor<4x6xf32>, tensor<6x5xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @dot_c5(%x: tensor<4x6xf32>, %y: tensor<6x5xbf16>) {
  // expected-error@+1 {{operand 0 has elements of 'f32', but the result of 'bf16', which does not have all numbers of 'f32'; convert the operand to 'bf16' or give the result a wider type}}
  %0 = weft.dot %x, %y contract [1] x [0] : tensor<4x6xf32>, tensor<6x5xbf16> -> tensor<4x5xbf16>
  return
}

// -----

// Neither type contains the other: f16 has more digits, bf16 larger numbers.
func.func @dot_c5_range(%x: tensor<4x6xf16>, %y: tensor<6x5xbf16>) {
  // expected-error@+1 {{operand 0 has elements of 'f16', but the result of 'bf16', which does not have all numbers of 'f16'}}
  %0 = weft.dot %x, %y contract [1] x [0] : tensor<4x6xf16>, tensor<6x5xbf16> -> tensor<4x5xbf16>
  return
}

// -----

func.func @dot_c5_sign(%x: tensor<4x6xui8>, %y: tensor<6x5xi8>) {
  // expected-error@+1 {{operand 1 has elements of 'i8', but the result of 'ui32', which does not have all numbers of 'i8'; convert the operand to 'ui32' or give the result a wider type}}
  %0 = weft.dot %x, %y contract [1] x [0] : tensor<4x6xui8>, tensor<6x5xi8> -> tensor<4x5xui32>
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x6xi32>) {
  // expected-error@+1 {{operand 0 has elements of 'i32', but the result of 'f64', which does not have all numbers of 'i32'; convert the operand to 'f64' or give the result a wider type}}
  %0 = weft.reduce sum %x dims [0] : tensor<4x6xi32> -> tensor<6xf64>
  return
}

// -----

func.func @reduce_c4_max(%x: tensor<4x6xbf16>) {
  // expected-error@+1 {{operand 0 has elements of 'bf16', but the result of 'f32'; ops that pick elements keep their type, convert the result}}
  %0 = weft.reduce max %x dims [0] : tensor<4x6xbf16> -> tensor<6xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @constrain_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout has 2 dimensions, but the value has 1}}
  %0 = weft.constrain %x to <#mesh, [{}, {}]> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#x = #weft.layout<#mesh, [{"data"}]>
#p = #weft.layout<#mesh, [{}], partial = sum{"data"}>
#other = #weft.layout<#weft.mesh<"a"=2>, [{"a"}]>
#q = #weft.layout<#mesh, [{}], partial = max{"data"}>
func.func @reshard_c1(%x: tensor<4xf32, #x>) {
  // expected-error@+1 {{both types need a layout, but the result is}}
  %0 = weft.reshard %x : tensor<4xf32, #x> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#x = #weft.layout<#mesh, [{"data"}]>
#p = #weft.layout<#mesh, [{}], partial = sum{"data"}>
#other = #weft.layout<#weft.mesh<"a"=2>, [{"a"}]>
#q = #weft.layout<#mesh, [{}], partial = max{"data"}>
func.func @reshard_c1_mesh(%x: tensor<4xf32, #x>) {
  // expected-error@+1 {{the input lies on}}
  %0 = weft.reshard %x : tensor<4xf32, #x> -> tensor<4xf32, #other>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#x = #weft.layout<#mesh, [{"data"}]>
#p = #weft.layout<#mesh, [{}], partial = sum{"data"}>
#other = #weft.layout<#weft.mesh<"a"=2>, [{"a"}]>
#q = #weft.layout<#mesh, [{}], partial = max{"data"}>
func.func @reshard_c2(%x: tensor<4xf32, #x>) {
  // expected-error@+1 {{the result is partial over axis "data", which splits the input; only copies can become partial}}
  %0 = weft.reshard %x : tensor<4xf32, #x> -> tensor<4xf32, #p>
  return
}

// -----

func.func @value_and_grad_c1(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{there is no function @g}}
  %0:2 = weft.value_and_grad @g(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
func.func private @v(tensor<4xf32>) -> tensor<4xf32>
func.func @value_and_grad_c1_types(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{operand types are}}
  %0:2 = weft.value_and_grad @f(%w, %w) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
func.func private @v(tensor<4xf32>) -> tensor<4xf32>
func.func @value_and_grad_c1_count(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{has 1 results, but 1 results of @f and 1 gradients make 2}}
  %0 = weft.value_and_grad @f(%w, %x) wrt [0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>)
  return
}

// -----

func.func private @f(tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
func.func private @v(tensor<4xf32>) -> tensor<4xf32>
func.func @value_and_grad_c2(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{the first result of @v should be a float scalar such as tensor<f32>}}
  %0:2 = weft.value_and_grad @v(%w) wrt [0] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func private @f(tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
func.func private @v(tensor<4xf32>) -> tensor<4xf32>
func.func @value_and_grad_c3(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{argument 1 has no gradient: its type is 'tensor<4xi32>'}}
  %0:2 = weft.value_and_grad @f(%w, %x) wrt [1] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xi32>)
  return
}

// -----

func.func private @f(tensor<4xf32>, tensor<4xi32>) -> tensor<f32>
func.func private @v(tensor<4xf32>) -> tensor<4xf32>
func.func @value_and_grad_c3_twice(%w: tensor<4xf32>, %x: tensor<4xi32>) {
  // expected-error@+1 {{wrt names argument 0 twice}}
  %0:3 = weft.value_and_grad @f(%w, %x) wrt [0, 0] : (tensor<4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @reduce_precision_c1(%x: tensor<4xi32>) {
  // expected-error@+1 {{rounds floats, not}}
  %0 = weft.reduce_precision %x to e 5 m 7 : tensor<4xi32>
  return
}

// -----

func.func @reduce_precision_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{needs at least 1 exponent bit and 0 mantissa bits, not 0 and 7}}
  %0 = weft.reduce_precision %x to e 0 m 7 : tensor<4xf32>
  return
}

// -----

func.func @is_finite_c1(%x: tensor<4xi32>) {
  // expected-error@+1 {{goes from floats to i1, not from}}
  %0 = weft.is_finite %x : tensor<4xi32> -> tensor<4xi1>
  return
}

// -----

func.func @function_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{operand #0 must be ranked tensor of floating-point or complex-type values}}
  %0 = weft.exp %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @bits_of_floats(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{operand #0 must be ranked tensor of integer values}}
  %0 = weft.xor %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @conjunction_of_floats(%x: tensor<4xf32>) -> tensor<f32> {
  // expected-error @below {{elements of 'f32' have no and; compare them first, which gives i1}}
  %0 = weft.reduce and %x dims [0] : tensor<4xf32> -> tensor<f32>
  return %0 : tensor<f32>
}
