// RUN: weft-opt --split-input-file --verify-diagnostics %s

// @mesh_c1
// expected-error@+1 {{axis "a" is declared twice}}
func.func private @mesh_c1() attributes {a = #weft.mesh<"a"=2, "a"=3>}

// -----

// @mesh_c2
// expected-error@+1 {{axis "a" has size 0}}
func.func private @mesh_c2() attributes {a = #weft.mesh<"a"=0>}

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

func.func @broadcast_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims has 1 entries for 2 dimensions}}
  %0 = weft.broadcast %x dims [0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim}}
  %0 = weft.broadcast %x dims [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @broadcast_c2_range(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 2 is out of the result's rank 2}}
  %0 = weft.broadcast %x dims [2] : tensor<4xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 0 of the input has size 4, but dim 0 of the result 6}}
  %0 = weft.broadcast %x dims [0] : tensor<4xf32> -> tensor<6x4xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 0 is used twice}}
  %0 = weft.transpose %x [0, 0] : tensor<4x6xf32> -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [6, 4], not [4, 6]}}
  %0 = weft.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the input has 24 elements, but the result 25}}
  %0 = weft.reshape %x : tensor<4x6xf32> -> tensor<25xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{start has 1 entries for 2 dimensions}}
  %0 = weft.slice %x from [0] to [4, 6] by [1, 1] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{takes [0, 7) of dim 1 of size 6}}
  %0 = weft.slice %x from [0, 0] to [4, 7] by [1, 1] : tensor<4x6xf32> -> tensor<4x7xf32>
  return
}

// -----

func.func @slice_c2_stride(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{stride of dim 1 is 0, the least is 1}}
  %0 = weft.slice %x from [0, 0] to [4, 6] by [1, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [4, 3], not [4, 2]}}
  %0 = weft.slice %x from [0, 1] to [4, 6] by [1, 2] : tensor<4x6xf32> -> tensor<4x2xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{low has 1 entries for 2 dimensions}}
  %0 = weft.pad %x low [0] high [0, 0] interior [0, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{interior of dim 1 is -1, the least is 0}}
  %0 = weft.pad %x low [0, 0] high [0, 0] interior [0, -1] : tensor<4x6xf32> -> tensor<4x1xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [5, 6], not [4, 6]}}
  %0 = weft.pad %x low [1, 0] high [0, 0] interior [0, 0] : tensor<4x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @concatenate_c1() {
  // expected-error@+1 {{needs at least one input}}
  %0 = "weft.concatenate"() {dim = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_c2(%x: tensor<4x6xf32>, %y: tensor<4x5xf32>) {
  // expected-error@+1 {{input 1 is 'tensor<4x5xf32>', which does not fit in 'tensor<8x6xf32>' along dim 0}}
  %0 = weft.concatenate %x, %y dim 0 : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @concatenate_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{inputs have 8 elements along dim 0, but the result 9}}
  %0 = weft.concatenate %x, %x dim 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<9x6xf32>
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

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @constrain_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout has 2 dimensions, but the value has 1}}
  %0 = weft.constrain %x to <#mesh, [{}, {}]> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @constrain_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{a constraint cannot be partial}}
  %0 = weft.constrain %x to <#mesh, [{}], partial = sum{"data"}> : tensor<4xf32> -> tensor<4xf32>
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

#mesh = #weft.mesh<"data"=2, "model"=4>
#x = #weft.layout<#mesh, [{"data"}]>
#p = #weft.layout<#mesh, [{}], partial = sum{"data"}>
#other = #weft.layout<#weft.mesh<"a"=2>, [{"a"}]>
#q = #weft.layout<#mesh, [{}], partial = max{"data"}>
func.func @reshard_c2_kind(%x: tensor<4xf32, #q>) {
  // expected-error@+1 {{the input holds partial maxs, but the result sums}}
  %0 = weft.reshard %x : tensor<4xf32, #q> -> tensor<4xf32, #p>
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

func.func @pad_c4(%x: tensor<4x6xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{, not one element of}}
  %0 = weft.pad %x with %v low [1, 0] high [0, 0] interior [0, 0] : tensor<4x6xf32>, tensor<1xf32> -> tensor<5x6xf32>
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

func.func @reverse_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dims should rise, but 0 follows 1}}
  %0 = weft.reverse %x dims [1, 0] : tensor<4x6xf32>
  return
}

// -----

func.func @roll_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{shift has 1 entries for 2 dimensions}}
  %0 = weft.roll %x by [1] : tensor<4x6xf32>
  return
}

// -----

func.func @dynamic_slice_c1(%x: tensor<4x6xf32>, %i: tensor<f32>) {
  // expected-error@+1 {{a start is one integer, not}}
  %0 = weft.dynamic_slice %x at (%i, %i) : (tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @dynamic_slice_c1_count(%x: tensor<4x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{starts has 1 entries for 2 dimensions}}
  %0 = weft.dynamic_slice %x at (%i) : (tensor<4x6xf32>, tensor<i32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @dynamic_slice_c2(%x: tensor<4x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{does not fit in}}
  %0 = weft.dynamic_slice %x at (%i, %i) : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<2x7xf32>
  return
}

// -----

func.func @dynamic_update_slice_c1(%x: tensor<4x6xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{a start is one integer, not}}
  %0 = weft.dynamic_update_slice %x, %x at (%i, %i) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @dynamic_update_slice_c2(%x: tensor<4x6xf32>, %u: tensor<5x6xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{does not fit in}}
  %0 = weft.dynamic_update_slice %x, %u at (%i, %i) : (tensor<4x6xf32>, tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @gather_c1_type(%x: tensor<4x6xf32>, %i: tensor<3xf32>) {
  // expected-error@+1 {{indices are integers, not}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xf32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_vector(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{index_vector_dim 2 is out of the indices' rank 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 2 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_blocks(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 2 of blocks is out of the rank 2}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 2>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_input(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dims of the input should be distinct and rise, but 0 follows 0}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0, 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_map(%x: tensor<4x6xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{dims of the index map should be distinct, but 0 follows 0}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0, 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3x2xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_batching(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{has 1 batching dims of the input, but 0 of the indices}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64, operand_batching_dims = array<i64: 0>} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_batching_size(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{batching dim 0 of the input has size 4, which is not that of dim 0 of the indices}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_size(%x: tensor<4x6xf32>, %i: tensor<3x2xi32>) {
  // expected-error@+1 {{maps 1 indices, but a vector has 2}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3x2xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c1_block(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{that are neither collapsed nor batching}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice size of dim 1 is 7, the most is 6}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 7>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x7xf32>
  return
}

// -----

func.func @gather_c2_collapsed(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice size of dim 0 is 2, collapsed and batching dims have 1, not more than 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 2, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c2_count(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{slice_sizes has 1 entries for 2 dimensions}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6xf32>
  return
}

// -----

func.func @gather_c3(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 1 of the result has size 5, but slices 6}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x5xf32>
  return
}

// -----

func.func @gather_c3_batch(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{dim 0 of results has size 2, but dim 0 of the indices 3}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<2x6xf32>
  return
}

// -----

func.func @gather_c3_rank(%x: tensor<4x6xf32>, %i: tensor<3xi32>) {
  // expected-error@+1 {{results have 2 dimensions beside those of a block, the indices 1}}
  %0 = weft.gather %x at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, slice_sizes = array<i64: 1, 6>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32> -> tensor<3x6x1xf32>
  return
}

// -----

func.func @scatter_c1(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<3x6xf32>) {
  // expected-error@+1 {{dim 2 of blocks is out of the rank 2}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 2>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @scatter_c2(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<3x7xf32>) {
  // expected-error@+1 {{dim 1 of updates has size 7, but dim 1 of the input only 6}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<3x7xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @scatter_c2_batch(%x: tensor<4x6xf32>, %i: tensor<3xi32>, %u: tensor<2x6xf32>) {
  // expected-error@+1 {{dim 0 of updates has size 2, but dim 0 of the indices 3}}
  %0 = weft.scatter sum %x at %i with %u {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, tensor<3xi32>, tensor<2x6xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @one_hot_c1(%i: tensor<3xi32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.one_hot %i dim 2 : tensor<3xi32> -> tensor<3x5xf32>
  return
}

// -----

func.func @one_hot_c2(%i: tensor<3xi32>) {
  // expected-error@+1 {{the result's shape should be [3, 5], not [4, 5]}}
  %0 = weft.one_hot %i dim 1 : tensor<3xi32> -> tensor<4x5xf32>
  return
}

// -----

func.func @one_hot_c3(%i: tensor<3xf32>) {
  // expected-error@+1 {{indices are integers, not}}
  %0 = weft.one_hot %i dim 1 : tensor<3xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @one_hot_c4(%i: tensor<3xi32>, %o: tensor<i32>) {
  // expected-error@+1 {{the offset is tensor<i64>, not}}
  %0 = weft.one_hot %i dim 1 offset %o : tensor<3xi32>, tensor<i32> -> tensor<3x5xf32>
  return
}

// -----

func.func @cumulative_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.cumulative sum %x dim 2 : tensor<4x6xf32>
  return
}

// -----

func.func @cumulative_c2(%x: tensor<4xi32>) {
  // expected-error@+1 {{logsumexp is of floats, not of}}
  %0 = weft.cumulative logsumexp %x dim 0 : tensor<4xi32>
  return
}

// -----

func.func @arg_max_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.arg_max %x dim 2 : tensor<4x6xf32> -> tensor<4xi32>
  return
}

// -----

func.func @arg_max_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{positions are integers, not}}
  %0 = weft.arg_max %x dim 1 : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arg_min_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.arg_min %x dim 2 : tensor<4x6xf32> -> tensor<4xi32>
  return
}

// -----

func.func @arg_min_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{positions are integers, not}}
  %0 = weft.arg_min %x dim 1 : tensor<4x6xf32> -> tensor<4xf32>
  return
}

// -----

func.func @arg_max_c1_empty(%x: tensor<4x0xf32>) {
  // expected-error@+1 {{is empty: it has no position}}
  %0 = weft.arg_max %x dim 1 : tensor<4x0xf32> -> tensor<4xi32>
  return
}

// -----

func.func @top_k_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0, %1 = weft.top_k %x dim 2 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xi32>
  return
}

// -----

func.func @top_k_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [4, 6], not [4, 7]}}
  %0, %1 = weft.top_k %x dim 1 : tensor<4x6xf32> -> tensor<4x7xf32>, tensor<4x7xi32>
  return
}

// -----

func.func @top_k_c2_type(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{and integers, not}}
  %0, %1 = weft.top_k %x dim 1 : tensor<4x6xf32> -> tensor<4x2xf32>, tensor<4x2xf32>
  return
}

// -----

func.func @sort_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{dim 2 is out of the rank 2}}
  %0 = weft.sort %x dim 2 keys 1 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @sort_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{sorts 1 tensors, but has 2 results}}
  %0:2 = weft.sort %x dim 0 keys 1 : (tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
  return
}

// -----

func.func @sort_c2_type(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{, but the first is}}
  %0 = weft.sort %x dim 0 keys 1 : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @sort_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{has 2 keys and 1 tensors to sort}}
  %0 = weft.sort %x dim 0 keys 2 : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @reduce_window_c1(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{window has 1 entries for 2 dimensions}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @reduce_window_c2(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{strides of dimension 1 is 0, the least is 1}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2, 2>, strides = array<i64: 1, 0>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @reduce_window_c3(%x: tensor<4x6xf32>) {
  // expected-error@+1 {{the result's shape should be [3, 5], not [3, 6]}}
  %0 = weft.reduce_window sum %x {window = array<i64: 2, 2>, strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<4x6xf32> -> tensor<3x6xf32>
  return
}

// -----

func.func @select_and_scatter_c1(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{window has 1 entries for 2 dimensions}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c2(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{window of dimension 0 is 0, the least is 1}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 0, 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c3(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{there are [3, 3] windows, but the source is}}
  %0 = weft.select_and_scatter ge %x, %s {window = array<i64: 2, 2>, strides = array<i64: 1, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @select_and_scatter_c4(%x: tensor<4x6xf32>, %s: tensor<2x3xf32>) {
  // expected-error@+1 {{selects with ge or le, not with lt}}
  %0 = weft.select_and_scatter lt %x, %s {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<4x6xf32>, tensor<2x3xf32> -> tensor<4x6xf32>
  return
}

// -----

func.func @convolution_c1(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{once, not [0, 1, 1]}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 1, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c2(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{strides of dimension 0 is 0, the least is 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 0>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c3(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{3 groups do not divide 2 input features}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 3 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c3_both(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{has 2 feature groups and 2 batch groups, one is 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 2 : i64, batch_groups = 2 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c4(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{rhs has 2 input features, but lhs 1}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>, feature_groups = 2 : i64} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x4x4xf32>
  return
}

// -----

func.func @convolution_c4_shape(%x: tensor<2x6x2xf32>, %w: tensor<3x2x4xf32>) {
  // expected-error@+1 {{the result's shape should be [2, 4, 4], not [2, 5, 4]}}
  %0 = weft.convolution %x, %w {lhs_dims = array<i64: 0, 2, 1>, rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, base_dilation = array<i64: 1>, window_dilation = array<i64: 1>} : tensor<2x6x2xf32>, tensor<3x2x4xf32> -> tensor<2x5x4xf32>
  return
}
