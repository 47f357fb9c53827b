// RUN: weft-opt --split-input-file --verify-diagnostics %s

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @coordinate_c1() {
  // expected-error@+1 {{a coordinate is tensor<i64>, not 'tensor<i32>'}}
  %0 = coll.coordinate over #mesh ["model"] : tensor<i32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @slice_c1(%x: tensor<7x3xf32>) {
  // expected-error@+1 {{dim 1 should keep its size 3, but the result has 4}}
  %0 = coll.slice %x dim 0 over #mesh ["model"] : tensor<7x3xf32> -> tensor<2x4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @slice_c2(%x: tensor<7xf32>) {
  // expected-error@+1 {{dim 0 of 7 elements over 4 devices has blocks of 2, not 1}}
  %0 = coll.slice %x dim 0 over #mesh ["model"] : tensor<7xf32> -> tensor<1xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @make_partial_c1(%x: tensor<7xf32>) {
  // expected-error@+1 {{operand and result should have one type}}
  %0 = coll.make_partial sum %x over #mesh ["model"] : tensor<7xf32> -> tensor<8xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @all_reduce_c1(%x: tensor<7xf32>) {
  // expected-error@+1 {{results should have the operands' types}}
  %0 = coll.all_reduce sum %x over #mesh ["model"] : tensor<7xf32> -> tensor<8xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @all_gather_c1(%x: tensor<2xf32>) {
  // expected-error@+1 {{dim 1 is out of the rank 1}}
  %0 = coll.all_gather %x dim 1 over #mesh ["model"] : tensor<2xf32> -> tensor<8xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @all_gather_c2(%x: tensor<2xf32>) {
  // expected-error@+1 {{dim 0 of 9 elements over 4 devices has blocks of 3, not 2}}
  %0 = coll.all_gather %x dim 0 over #mesh ["model"] : tensor<2xf32> -> tensor<9xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @reduce_scatter_c1(%x: tensor<8xf32>) {
  // expected-error@+1 {{dim -1 is out of the rank 1}}
  %0 = coll.reduce_scatter sum %x dim -1 over #mesh ["model"] : tensor<8xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @reduce_scatter_c2(%x: tensor<8xf32>) {
  // expected-error@+1 {{dim 0 of 8 elements over 4 devices has blocks of 2, not 4}}
  %0 = coll.reduce_scatter sum %x dim 0 over #mesh ["model"] : tensor<8xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @all_to_all_c1(%x: tensor<8x2xf32>) {
  // expected-error@+1 {{splits and concatenates along the same dim 0}}
  %0 = coll.all_to_all %x split 0 concat 0 over #mesh ["model"] : tensor<8x2xf32> -> tensor<2x8xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @all_to_all_c2(%x: tensor<8x2xf32>) {
  // expected-error@+1 {{dim 1 of 9 elements over 4 devices has blocks of 3, not 2}}
  %0 = coll.all_to_all %x split 0 concat 1 over #mesh ["model"] : tensor<8x2xf32> -> tensor<2x9xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#p = #weft.layout<#mesh, [{"model"}], partial = sum{"data"}>
func.func @permute_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result's local shape is [2], but its type 'tensor<4xf32>'}}
  %0 = coll.permute %x of [8] from #a to #b : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#p = #weft.layout<#mesh, [{"model"}], partial = sum{"data"}>
func.func @permute_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout of the result should not be partial}}
  %0 = coll.permute %x of [8] from #a to #p : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#p = #weft.layout<#mesh, [{"model"}], partial = sum{"data"}>
func.func @exchange_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{the result's local shape is [2], but its type 'tensor<4xf32>'}}
  %0 = coll.exchange %x of [8] from #a to #b : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#p = #weft.layout<#mesh, [{"model"}], partial = sum{"data"}>
func.func @exchange_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout of the result should not be partial}}
  %0 = coll.exchange %x of [8] from #a to #p : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @group_axis(%x: tensor<7xf32>) {
  // expected-error@+1 {{the mesh has no axis "rows"}}
  %0 = coll.all_reduce sum %x over #mesh ["rows"] : tensor<7xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @group_twice(%x: tensor<7xf32>) {
  // expected-error@+1 {{axis "data" is used twice}}
  %0 = coll.all_reduce sum %x over #mesh ["data", "data"] : tensor<7xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @pick_c1(%x: tensor<4xf32>, %p: tensor<6xi32>) {
  // expected-error@+1 {{picks 'tensor<6xf32>' at positions 'tensor<6xi32>'; there is an i64 for each element}}
  %0 = coll.pick %x at %p dim 0 over #mesh ["data"] : tensor<4xf32>, tensor<6xi32> -> tensor<6xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @pick_c2(%x: tensor<4x2xf32>, %p: tensor<6x3xi64>) {
  // expected-error@+1 {{dim 1 should keep its size 2, but the result has 3}}
  %0 = coll.pick %x at %p dim 0 over #mesh ["data"] : tensor<4x2xf32>, tensor<6x3xi64> -> tensor<6x3xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @fetch_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 0 of 9 elements over 2 devices has blocks of 5, not 4}}
  %0 = coll.fetch %x dim 0 of 9 at block 4 step 1 offset 0 divisor 1 modulus 0 over #mesh ["data"] : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @fetch_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{divides by 0 modulo 0; the least are 1 and 0}}
  %0 = coll.fetch %x dim 0 of 8 at block 4 step 1 offset 0 divisor 0 modulus 0 over #mesh ["data"] : tensor<4xf32> -> tensor<6xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @fetch_c1(%x: tensor<4x2xf32>) {
  // expected-error@+1 {{dim 1 should keep its size 2, but the result has 3}}
  %0 = coll.fetch %x dim 0 of 8 at block 4 step 1 offset 0 divisor 1 modulus 0 over #mesh ["data"] : tensor<4x2xf32> -> tensor<6x3xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @collective_permute_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 3 sources for 2 devices}}
  %0 = coll.collective_permute %x sources [0, 1, 0] over #mesh ["data"] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @collective_permute_c1_member(%x: tensor<4xf32>) {
  // expected-error@+1 {{has the source 2; members are 0 to 1, and -1 is none}}
  %0 = coll.collective_permute %x sources [-1, 2] over #mesh ["data"] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @collective_permute_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{operand and result should have one type, but are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = coll.collective_permute %x sources [1, 0] over #mesh ["data"] : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{its layouts [4] to [3]}}
  %0 = coll.move %x of [8] to [6] boxes <[0:6] of 0 at [d0 + 1]> from #a to #a over #mesh ["data"] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c1_others(%x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{moves [4], [2] to [6], its layouts [4], [3] to [6]}}
  %0 = coll.move %x, %y of [8] and [#weft.source<[6] in #a>] to [12] boxes <[0:6] of 1 at [d0]> from #a to #a over #mesh ["data"] : tensor<4xf32>, tensor<2xf32> -> tensor<6xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c1_number(%x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error@+1 {{has 2 sources and 1 targets, not 1 and 1}}
  %0 = coll.move %x, %y of [8] to [8] boxes <[0:8] of 0 at [d0]> from #a to #a over #mesh ["data"] : tensor<4xf32>, tensor<2xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c3_others(%x: tensor<4xf32>, %y: tensor<1xf32>) {
  // expected-error@+1 {{has layouts on the meshes}}
  %0 = coll.move %x, %y of [8] and [#weft.source<[8] in #o>] to [8] boxes <[0:8] of 1 at [d0]> from #a to #a over #mesh ["data"] : tensor<4xf32>, tensor<1xf32> -> tensor<4xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{box 0 reads [3, 9) of dim 0 of size 8}}
  %0 = coll.move %x of [8] to [6] boxes <[0:6] of 0 at [d0 + 3]> from #a to #a over #mesh ["data"] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{moves boxes, but a layout has an axis that is none of the}}
  %0 = coll.move %x of [8] to [6] boxes <[0:6] of 0 at [d0 + 1]> from #a to #b over #mesh ["data"] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#other = #weft.mesh<"data"=8>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
#o = #weft.layout<#other, [{"data"}]>
func.func @move_c3_mesh(%x: tensor<4xf32>) {
  // expected-error@+1 {{has layouts on the meshes}}
  %0 = coll.move %x of [8] to [6] boxes <[0:6] of 0 at [d0 + 1]> from #a to #o over #mesh ["data"] : tensor<4xf32> -> tensor<1xf32>
  return
}
