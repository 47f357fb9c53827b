// Attributes of arguments and results that have another form than their readers expect.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-verify-stage=stage=imported

// expected-error@+1 {{@range: argument 0 is donated to result 99999, the function has 1}}
func.func @range(%x: tensor<4xf32> {weft.donated = 99999 : i64}) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{@negative: argument 0 is donated to result -1, the function has 1}}
func.func @negative(%x: tensor<4xf32> {weft.donated = -1 : i64}) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{@number: argument 0: weft.donated is "y"; on an argument, write the number of the result that reuses its memory, as 0 : i64}}
func.func @number(%x: tensor<4xf32> {weft.donated = "y"}) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{@place: result 0: weft.donated is 0 : i64; on an argument, write the number of the result that reuses its memory, as 0 : i64}}
func.func @place(%x: tensor<4xf32>) -> (tensor<4xf32> {weft.donated = 0 : i64}) {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{@type: argument 0 of type 'tensor<4xf32>' is donated to result 0 of type 'tensor<i32>'; donate it to a result of its type}}
func.func @type(%x: tensor<4xf32> {weft.donated = 0 : i64}, %y: tensor<i32>) -> tensor<i32> {
  return %y : tensor<i32>
}

// -----

// expected-error@+1 {{@twice: argument 1 and argument 0 are both donated to result 0; a result reuses the memory of one}}
func.func @twice(%x: tensor<4xf32> {weft.donated = 0 : i64}, %y: tensor<4xf32> {weft.donated = 0 : i64}) -> tensor<4xf32> {
  %0 = weft.add %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{@annotation: argument 0: the annotation is no layout of a ranked tensor}}
func.func @annotation(%x: tensor<4xf32> {weft.layout = "rows"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@rank: result 0: layout has 1 dimensions, the tensor 2; give each dimension a list of axes}}
func.func @rank(%x: tensor<4x4xf32>) -> (tensor<4x4xf32> {weft.layout = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>}) {
  return %x : tensor<4x4xf32>
}

// -----

module attributes {weft.mesh = #weft.mesh<"y"=2>} {
  // expected-error@+1 {{@mesh: argument 0: the layout's mesh is not the module's weft.mesh; use one mesh for all annotations}}
  func.func @mesh(%x: tensor<4xf32> {weft.layout = #weft.layout<#weft.mesh<"x"=2>, [{"x"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@+1 {{@global: argument 0 of type 'tensor<4xf32>': weft.global_type is tensor<4x4xf32>; write a tensor type of its rank and elements}}
func.func @global(%x: tensor<4xf32> {weft.global_type = tensor<4x4xf32>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@name: argument 0: weft.name is 3 : i64; write it as a text in quotes}}
func.func @name(%x: tensor<4xf32> {weft.name = 3 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@facts: argument 0: the facts are "saved"; write them as {saved = "layers/dense/vars/0"}}}
func.func @facts(%x: tensor<4xf32> {weft.facts = "saved"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@fact: argument 0: "savd" is no fact of a port; did you mean saved?}}
func.func @fact(%x: tensor<4xf32> {weft.facts = {savd = "a"}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@seed: argument 0: seed is "a"; write a number, as 7 : i64}}
func.func @seed(%x: tensor<4xf32> {weft.facts = {seed = "a"}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@h5: argument 0: h5 is 1 : i64; write a list, as array<i64: 1, 2>}}
func.func @h5(%x: tensor<4xf32> {weft.facts = {h5 = 1 : i64}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@value: argument 0: value is 0.000000e+00 : f32; write a list, as array<f64: 0.5>}}
func.func @value(%x: tensor<4xf32> {weft.facts = {value = 0.0 : f32}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@running: argument 0: running is true; write its name alone}}
func.func @running(%x: tensor<4xf32> {weft.facts = {running = true}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{@layer: argument 0: layer is 3 : i64; write a text in quotes}}
func.func @layer(%x: tensor<4xf32> {weft.facts = {layer = 3 : i64}}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
