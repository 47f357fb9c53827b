// RUN: weft-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --weft-propagate-layouts

// An error stands at the annotation, with both values, where others abort or
// complain late (docs/known-failures.md).

// jax-ml/jax#27808, #15788: JAX finds an annotation that does not fit when the
// program runs. A size that the devices do not divide is no error.
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{@rank: argument 0: layout has 1 dimensions, the tensor 2}}
func.func @rank(%x: tensor<10x4xf32> {weft.layout = #weft.layout<#mesh, [{"d"}]>}) -> tensor<10x4xf32> {
  return %x : tensor<10x4xf32>
}
}

// -----

// pytorch#164543: a failure that names neither the op nor the mistake.
#mesh = #weft.mesh<"d"=4>
#other = #weft.mesh<"d"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{@other_mesh: argument 0: the layout's mesh is not the module's weft.mesh; use one mesh for all annotations}}
func.func @other_mesh(%x: tensor<10x4xf32> {weft.layout = #weft.layout<#other, [{"d"}, {}]>}) -> tensor<10x4xf32> {
  return %x : tensor<10x4xf32>
}
}

// -----

#mesh = #weft.mesh<"data"=4, "model"=2>
module attributes {weft.mesh = #mesh} {
func.func @axis(%x: tensor<10x4xf32>) -> tensor<10x4xf32> {
  // expected-error @below {{the mesh has no axis "modle"}}
  %0 = weft.constrain %x to #weft.layout<#mesh, [{"modle"}, {}]> reason "x" : tensor<10x4xf32> -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
}

// -----

// openxla/xla#4340, PR45402: CHECK !IsManual fails, and that of FFT.
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @manual(%x: tensor<10x4xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> tensor<10x4xf32> {
  // expected-error @below {{an op with regions has no sharding rule; let it implement RegionBranchOpInterface, or flatten it before layouts are propagated}}
  "test.manual_computation"() ({
  }) : () -> ()
  return %x : tensor<10x4xf32>
}
}

// -----

// llvm/llvm-project#106172, #82375: crashes. An unknown op is
// computed whole, from gathered operands.
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
func.func @unknown_op(%x: tensor<10x4xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> tensor<10x4xf32> {
  %0 = "test.unknown"(%x) : (tensor<10x4xf32>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
}
