// RUN: weft-opt --split-input-file --verify-diagnostics %s

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#b = #weft.layout<#mesh, [{"model"}]>
func.func @permute_c1_rank(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout of the operand has 1 dimensions, but the global shape 2}}
  %0 = coll.permute %x of [8, 8] from #a to #b : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}]>
#p = #weft.layout<#mesh, [{"model"}], partial = sum{"data"}>
func.func @permute_c2_value(%x: tensor<4xf32>) {
  // expected-error@+1 {{layout of the result should not be partial: #weft.layout<#weft.mesh<"data"=2, "model"=4>, [{"model"}], partial = sum{"data"}>}}
  %0 = coll.permute %x of [8] from #a to #p : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @make_partial_c1_types(%x: tensor<7xf32>) {
  // expected-error@+1 {{operand and result should have one type, but are 'tensor<7xf32>' and 'tensor<7xi32>'}}
  %0 = coll.make_partial sum %x over #mesh ["model"] : tensor<7xf32> -> tensor<7xi32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @slice_c1_rank(%x: tensor<8x3xf32>) {
  // expected-error@+1 {{rank and element type should stay, but 'tensor<8x3xf32>' becomes 'tensor<2xf32>'}}
  %0 = coll.slice %x dim 0 over #mesh ["model"] : tensor<8x3xf32> -> tensor<2xf32>
  return
}

// -----

#mesh = #weft.mesh<"data"=2, "model"=4>
func.func @slice_c1_element(%x: tensor<8xf32>) {
  // expected-error@+1 {{rank and element type should stay, but 'tensor<8xf32>' becomes 'tensor<2xi32>'}}
  %0 = coll.slice %x dim 0 over #mesh ["model"] : tensor<8xf32> -> tensor<2xi32>
  return
}
