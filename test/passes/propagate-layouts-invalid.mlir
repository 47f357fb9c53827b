// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-propagate-layouts

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{@main: argument 0: weft.open names dimension 2, the tensor has 2}}
func.func @main(%x: tensor<16x32xf32> {weft.open = array<i64: 2>}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{argument 0: weft.replicated names "model", which is no axis of}}
func.func @main(%x: tensor<16x32xf32> {weft.replicated = ["model"]}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{argument 0: weft.replicated names "data", but its layout is sharded over it: [{"data"}, {}]}}
func.func @main(%x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>, weft.replicated = ["data"]}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{argument 0: weft.priority is -1, the first is 0}}
func.func @main(%x: tensor<16x32xf32> {weft.priority = -1}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{argument 0: group "g" joins it, of rank 2, with argument 1 of rank 1}}
func.func @main(%x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>, weft.group = "g"},
                %y: tensor<16xf32> {weft.group = "g"}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{argument 0: group "g" joins [{"data"}, {}] with [{}, {}] of argument 1}}
func.func @main(%x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}]>, weft.group = "g"},
                %y: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>, weft.group = "g"}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{@main: argument 0: weft.open is 1 : i64; write it as array<i64: 0>}}
func.func @main(%x: tensor<16x32xf32> {weft.open = 1}) { return }
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
func.func @main(%x: tensor<16x32xf32>) {
  // expected-error @below {{@main: weft.constrain: weft.open names dimension 2, the tensor has 2; the first dimension is 0}}
  %0 = weft.constrain %x to #rows {weft.open = array<i64: 2>} : tensor<16x32xf32> -> tensor<16x32xf32>
  return
}
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}, {}]>
module attributes {weft.mesh = #mesh} {
// expected-error @below {{@main: argument 0: group "g" joins [{}, {}] with [{"data"}, {}] of weft.constrain; annotate them alike, or one of them}}
func.func @main(%x: tensor<16x32xf32> {weft.layout = #weft.layout<#mesh, [{}, {}]>, weft.group = "g"}) {
  // expected-note @below {{the other is here}}
  %0 = weft.constrain %x to #rows {weft.group = "g"} : tensor<16x32xf32> -> tensor<16x32xf32>
  return
}
}
