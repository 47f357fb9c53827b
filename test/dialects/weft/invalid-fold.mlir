// RUN: weft-opt --split-input-file --verify-diagnostics %s

func.func @fold_c1(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{has 1 tensors, 2 inits and 1 results; give it as many of each}}
  %0 = weft.fold %x from %z, %z dims [0] : (tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c1_shape(%x: tensor<4xf32>, %y: tensor<5xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{tensor 1 is 'tensor<5xf32>', but the first 'tensor<4xf32>'; they have one shape}}
  %0:2 = weft.fold %x, %y from %z, %z dims [0] : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    weft.yield %a, %b : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @fold_c2(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{dim 1 is out of the rank 1}}
  %0 = weft.fold %x from %z dims [1] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c3(%x: tensor<4xf32>, %z: tensor<i32>) {
  // expected-error@+1 {{init 0 is 'tensor<i32>', not a scalar of 'f32'}}
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<i32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c3_result(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{result 0 is 'tensor<i32>', but its tensor has elements 'f32'}}
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<i32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c3_shape(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{the result's shape should be [], not [4]}}
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c4(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{the region takes 'tensor<f32>', but should take 'tensor<f32>', 'tensor<f32>'}}
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    weft.yield %a : tensor<f32>
  }
  return
}

// -----

func.func @fold_c4_end(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error@+1 {{the region ends with 'weft.yield' of 'tensor<f32>', 'tensor<f32>', but should end with 'weft.yield' of 'tensor<f32>'}}
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    weft.yield %a, %b : tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @fold_c5(%x: tensor<4xf32>, %z: tensor<f32>) {
  %0 = weft.fold %x from %z dims [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error@+1 {{stands in a fold, which holds elementwise ops and constants only}}
    %c = weft.reshape %b : tensor<f32> -> tensor<f32>
    weft.yield %c : tensor<f32>
  }
  return
}
