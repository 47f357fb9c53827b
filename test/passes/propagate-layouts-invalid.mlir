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
