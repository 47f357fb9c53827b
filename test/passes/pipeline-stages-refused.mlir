// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-divide-batch --weft-pipeline-stages

#mesh = #weft.mesh<"stage"=2>
// expected-error @+1 {{weft.pipeline is "1f1b"; write it as {axis = "stage", schedule = "1f1b"}}}
module attributes {weft.mesh = #mesh, weft.microbatches = 4 : i64, weft.pipeline = "1f1b"} {
}

// -----

#mesh = #weft.mesh<"stage"=2>
// expected-error @+1 {{weft.pipeline names the axis "x", which the mesh does not have; name one of its 1 axes}}
module attributes {weft.mesh = #mesh, weft.microbatches = 4 : i64, weft.pipeline = {axis = "x", schedule = "1f1b"}} {
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
// expected-error @+1 {{"x" is no schedule; }}
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = "x"}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #x, weft.role = "input"}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = weft.constrain %x to #x : tensor<8xf32> -> tensor<8xf32>
    %1 = weft.exp %0 : tensor<8xf32>
    %2 = weft.constrain %1 to #y : tensor<8xf32> -> tensor<8xf32>
    %3 = weft.exp %2 : tensor<8xf32>
    return %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
// expected-error @+1 {{stage 0, item 2 (B1): needs the result of item 3 (F1)}}
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = ["F0 B0 B1 F1", "F0 B0 F1 B1"]}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #x, weft.role = "input"}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = weft.constrain %x to #x : tensor<8xf32> -> tensor<8xf32>
    %1 = weft.exp %0 : tensor<8xf32>
    %2 = weft.constrain %1 to #y : tensor<8xf32> -> tensor<8xf32>
    %3 = weft.exp %2 : tensor<8xf32>
    return %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
// expected-error @+1 {{the schedule has 3 stages, and the axis has 2 coordinates; give both the same number}}
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = ["F0 F1 B0 B1", "F0 F1 B0 B1", "F0 F1 B0 B1"]}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #x, weft.role = "input"}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = weft.constrain %x to #x : tensor<8xf32> -> tensor<8xf32>
    %1 = weft.exp %0 : tensor<8xf32>
    %2 = weft.constrain %1 to #y : tensor<8xf32> -> tensor<8xf32>
    %3 = weft.exp %2 : tensor<8xf32>
    return %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
// expected-error @+1 {{the schedule has 1 microbatches, and the step has 2; give both the same number}}
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = ["F0 B0", "F0 B0"]}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #x, weft.role = "input"}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = weft.constrain %x to #x : tensor<8xf32> -> tensor<8xf32>
    %1 = weft.exp %0 : tensor<8xf32>
    %2 = weft.constrain %1 to #y : tensor<8xf32> -> tensor<8xf32>
    %3 = weft.exp %2 : tensor<8xf32>
    return %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #x, weft.role = "input"}) -> (tensor<8xf32>, tensor<8xf32>) {
    %0 = weft.constrain %x to #y : tensor<8xf32> -> tensor<8xf32>
    %1 = weft.exp %0 : tensor<8xf32>
    // expected-error @+1 {{of stage 0 needs a value of stage 1, which is computed later for the same microbatch}}
    %2 = weft.constrain %1 to #x : tensor<8xf32> -> tensor<8xf32>
    %3 = weft.exp %2 : tensor<8xf32>
    return %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @predict(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<f32> {
    // expected-error @+1 {{is computed for each microbatch by no stage of the pipeline; put the layer that it belongs to into a stage}}
    %0 = weft.reduce sum %x dims [0] : tensor<8xf32> -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
module attributes {weft.mesh = #mesh, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @predict(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @+1 {{adds up a value of the batch in several passes of a pipeline; leave out "pipeline"}}
    %z:2 = weft.for 2(%x, %y) {weft.microbatches = 2 : i64} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<8xf32>, %w: tensor<8xf32>):
      %0 = weft.exp %w : tensor<8xf32>
      weft.yield %0, %w : tensor<8xf32>, tensor<8xf32>
    }
    return %z#0 : tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
// expected-error @+1 {{@predict divides the batch in 99999999999 microbatches, more than the limit of 4194304; use fewer}}
module attributes {weft.mesh = #mesh, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @predict(%x: tensor<8xf32>) -> tensor<8xf32> {
    %z = weft.for 99999999999(%x) {weft.microbatches = 2 : i64} : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<8xf32>):
      weft.yield %v : tensor<8xf32>
    }
    return %z : tensor<8xf32>
  }
}

// -----

#mesh = #weft.mesh<"stage"=2>
#x = #weft.layout<#mesh, [{}], at = {"stage" = 0}>
#y = #weft.layout<#mesh, [{}], at = {"stage" = 1}>
module attributes {weft.mesh = #mesh, weft.microbatches = 2 : i64, weft.pipeline = {axis = "stage", schedule = "1f1b"}} {
  func.func @predict(%x: tensor<8xf32> {weft.layout = #y, weft.role = "input"}) -> tensor<8xf32> {
    %0 = weft.constrain %x to #y : tensor<8xf32> -> tensor<8xf32>
    // expected-error @+1 {{of stage 0 needs a value of stage 1, which is computed later for the same microbatch; put both layers into one stage, or the first one into an earlier stage}}
    %1 = weft.constrain %0 to #x : tensor<8xf32> -> tensor<8xf32>
    %2 = weft.exp %1 : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
