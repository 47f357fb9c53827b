// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func @while_c1(%a: tensor<i32>) {
  // expected-error @+1 {{region 0 ends with 'weft.yield' instead of 'weft.condition'}}
  %w = weft.while(%a) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>):
    weft.yield %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    weft.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @condition_c1(%a: tensor<i32>) {
  %w = weft.while(%a) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>):
    // expected-error @+1 {{the condition is 'tensor<i32>' instead of tensor<i1>}}
    weft.condition %i(%i) : tensor<i32>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    weft.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @for_c3(%a: tensor<i32>) {
  // expected-note @+2 {{region branch point}}
  // expected-error @+1 {{along control flow edge}}
  %w = weft.for 3 (%a) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>, %v: tensor<4xi32>):
    weft.yield %v : tensor<4xi32>
  }
  return
}

// -----

func.func @for_c1(%a: tensor<i32>) {
  // expected-error @+1 {{runs -1 times; the least is 0}}
  %w = weft.for -1 (%a) : (tensor<i32>) -> tensor<i32> {
  ^bb0(%i: tensor<i32>, %v: tensor<i32>):
    weft.yield %v : tensor<i32>
  }
  return
}

// -----

func.func @for_c2(%a: tensor<f32>) {
  // expected-error @+1 {{the region's first argument should be tensor<i32>, the counter}}
  %w = weft.for 3 (%a) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<f32>, %v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}

// -----

func.func @for_c4(%a: tensor<f32>) {
  // expected-error @+1 {{saved has 2 entries for 1 carried values}}
  %w = weft.for 3 (%a) {saved = array<i64: -1, -1>} : (tensor<f32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}

// -----

func.func @case_c1(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-error @+1 {{has 1 regions and a selector of type 'tensor<i1>'; tensor<i1> chooses one of 2, tensor<i32> one of several}}
  %w = weft.case %p(%a) : tensor<i1>, (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}

// -----

func.func @case_isolated(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %w = weft.case %p() : tensor<i1>, () -> tensor<f32> {
    // expected-error @+1 {{using value defined outside the region}}
    weft.yield %a : tensor<f32>
  }, {
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @optimization_barrier_c1(%a: tensor<f32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{takes 'tensor<f32>', but gives 'tensor<4xf32>'}}
  %0 = weft.optimization_barrier %a : tensor<f32> -> tensor<4xf32>
  return
}

// -----

func.func @optimization_barrier_count(%a: tensor<f32>, %b: tensor<f32>) {
  // expected-error @+1 {{has 2 operands, but 1 results}}
  %0 = weft.optimization_barrier %a, %b : tensor<f32>, tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @while_c2(%a: tensor<i32>) {
  // expected-error @+1 {{along control flow edge}}
  %w = weft.while(%a) : (tensor<i32>) -> tensor<f32> {
  ^bb0(%i: tensor<i32>):
    %p = weft.constant dense<true> : tensor<i1>
    // expected-note @+1 {{region branch point}}
    weft.condition %p(%i) : tensor<i1>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    weft.yield %i : tensor<i32>
  }
  return
}

// -----

func.func @case_c2(%p: tensor<i1>, %a: tensor<f32>) {
  // expected-note @+2 {{region branch point}}
  // expected-error @+1 {{along control flow edge}}
  %w = weft.case %p(%a) : tensor<i1>, (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<i32>):
    %0 = weft.constant dense<0.0> : tensor<f32>
    weft.yield %0 : tensor<f32>
  }, {
  ^bb0(%v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}

// -----

func.func @checkpoint_c1(%a: tensor<f32>) {
  // expected-note @+2 {{region branch point}}
  // expected-error @+1 {{along control flow edge}}
  %w = weft.checkpoint(%a) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<i32>):
    %0 = weft.constant dense<0.0> : tensor<f32>
    weft.yield %0 : tensor<f32>
  }
  return
}

// -----

#mesh = #weft.mesh<"branch"=2>
func.func @at_c1(%a: tensor<f32>) {
  // expected-error @+1 {{runs on the whole mesh; name a coordinate of an axis with several}}
  %w = weft.at #mesh {} (%a) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}

// -----

#mesh = #weft.mesh<"branch"=2>
func.func @at_c2(%a: tensor<f32>) {
  // expected-error @+1 {{region 0 ends with 'vector.yield' instead of 'weft.yield'}}
  %w = weft.at #mesh {"branch" = 1} (%a) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    vector.yield %v : tensor<f32>
  }
  return
}

// -----

#mesh = #weft.mesh<"branch"=2>
func.func @at_out_of_range(%a: tensor<f32>) {
  // expected-error @+1 {{axis "branch" has 2 coordinates, 0 to 1; the part has coordinate 2}}
  %w = weft.at #mesh {"branch" = 2} (%a) : (tensor<f32>) -> tensor<f32> {
  ^bb0(%v: tensor<f32>):
    weft.yield %v : tensor<f32>
  }
  return
}
