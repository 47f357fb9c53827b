// RUN: weft-opt %s --split-input-file --weft-divide-batch --verify-diagnostics

// Batch statistics: the mean depends on a weight, and each sample needs it.
module attributes {weft.microbatches = 4 : i64} {
  func.func @statistics(%w: tensor<8x3xf32> {weft.role = "weight"}, %x: tensor<16x8xf32> {weft.role = "input"}) -> tensor<3xf32> {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x8xf32>, tensor<8x3xf32> -> tensor<16x3xf32>
    // expected-error@unknown {{in bn, weft.reduce combines all samples of a batch of 16 in a value that each sample needs again, but each of 4 microbatches has 4 samples; run the whole batch, without --microbatches, or let each microbatch use its own statistics, with --allow-microbatch-statistics}}
    %1 = weft.reduce sum %0 dims [0] : tensor<16x3xf32> -> tensor<3xf32> loc("bn")
    %2 = weft.broadcast %1 dims [1] : tensor<3xf32> -> tensor<16x3xf32>
    // expected-note @+1 {{needed here}}
    %3 = weft.sub %0, %2 : tensor<16x3xf32>
    %4 = weft.reduce sum %3 dims [0] : tensor<16x3xf32> -> tensor<3xf32>
    return %4 : tensor<3xf32>
  }
}

// -----

// Every sample with every other one: there is no estimate.
module attributes {weft.microbatches = 4 : i64, weft.microbatch_statistics} {
  func.func @contrast(%w: tensor<8x3xf32> {weft.role = "weight"}, %x: tensor<16x8xf32> {weft.role = "input"}) -> tensor<8x3xf32> {
    %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x8xf32>, tensor<8x3xf32> -> tensor<16x3xf32>
    // expected-error @+1 {{weft.dot combines all samples of a batch of 16 in a value that each sample needs again, but each of 4 microbatches has 4 samples; run the whole batch, without --microbatches}}
    %1 = weft.dot %0, %0 contract [1] x [1] : tensor<16x3xf32>, tensor<16x3xf32> -> tensor<16x16xf32>
    // expected-note @+1 {{needed here}}
    %2 = weft.dot %1, %0 contract [1] x [0] : tensor<16x16xf32>, tensor<16x3xf32> -> tensor<16x3xf32>
    %3 = weft.dot %x, %2 contract [0] x [0] : tensor<16x8xf32>, tensor<16x3xf32> -> tensor<8x3xf32>
    return %3 : tensor<8x3xf32>
  }
}

// -----

module attributes {weft.microbatches = 4 : i64} {
  // expected-error @+1 {{@sizes: argument 1 has 5 rows, and argument 0 has 8; microbatches need inputs of one batch size, or run the whole batch, without --microbatches}}
  func.func @sizes(%x: tensor<8xf32> {weft.role = "input"}, %y: tensor<5xf32> {weft.role = "label"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {weft.microbatches = 4 : i64} {
  // expected-error @+1 {{@none has no argument of role input, label or sample_weight, whose rows 4 microbatches divide; leave out --microbatches}}
  func.func @none(%x: tensor<8xf32>) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @+1 {{weft.microbatches is 0 : i64; write the number of microbatches as 4 : i64}}
module attributes {weft.microbatches = 0 : i64} {
}

// -----

module attributes {weft.microbatches = 2 : i64} {
  func.func @controlled(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<f32> {
    %0 = weft.reduce sum %x dims [0] : tensor<8xf32> -> tensor<f32>
    %1 = weft.constant dense<0.0> : tensor<f32>
    %2:2 = weft.for 3 (%1, %x) : (tensor<f32>, tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
    ^bb0(%i: tensor<i32>, %a: tensor<f32>, %rows: tensor<8xf32>):
      %3 = weft.reduce sum %rows dims [0] : tensor<8xf32> -> tensor<f32>
      // expected-error @+1 {{takes a sum over a batch of 8 within a loop or branch, which microbatches do not have; run the whole batch, without --microbatches}}
      %4 = weft.exp %3 : tensor<f32>
      weft.yield %4, %rows : tensor<f32>, tensor<8xf32>
    }
    return %2#0 : tensor<f32>
  }
}

// -----

module attributes {weft.microbatches = 2 : i64} {
  func.func @mixed(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<8xf32> {
    %0 = weft.for 3 (%x) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%i: tensor<i32>, %rows: tensor<8xf32>):
      // expected-error @+1 {{combines samples of a batch of 8 within a loop or branch, which microbatches cannot divide; run the whole batch, without --microbatches}}
      %1 = weft.cumulative sum %rows dim 0 : tensor<8xf32>
      weft.yield %1 : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {weft.microbatches = 2 : i64} {
  func.func @turned(%x: tensor<8x8xf32> {weft.role = "input"}) -> tensor<8x8xf32> {
    %0 = weft.for 3 (%x) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    ^bb0(%i: tensor<i32>, %rows: tensor<8x8xf32>):
      %1 = weft.transpose %rows [1, 0] : tensor<8x8xf32> -> tensor<8x8xf32>
      // expected-error @+1 {{a value of a loop or branch has rows of a batch of 8 at one time and not at another, which microbatches cannot divide; run the whole batch, without --microbatches}}
      weft.yield %1 : tensor<8x8xf32>
    }
    return %0 : tensor<8x8xf32>
  }
}

// -----

module attributes {weft.microbatches = 2 : i64} {
  func.func @counted(%x: tensor<8xi32> {weft.role = "input"}) -> tensor<8xi32> {
    %0 = weft.for 3 (%x) : (tensor<8xi32>) -> tensor<8xi32> {
    ^bb0(%i: tensor<i32>, %rows: tensor<8xi32>):
      // expected-error @+1 {{computes all rows of a batch of 8 within a loop or branch, which microbatches cannot divide; run the whole batch, without --microbatches}}
      %1 = weft.iota dim 0 : tensor<8xi32>
      %2 = weft.add %1, %rows : tensor<8xi32>
      weft.yield %2 : tensor<8xi32>
    }
    return %0 : tensor<8xi32>
  }
}

// -----

// A loop that ends by a sum over the batch.
module attributes {weft.microbatches = 2 : i64} {
  func.func @until(%x: tensor<8xf32> {weft.role = "input"}) -> tensor<8xf32> {
    %0 = weft.while (%x) : (tensor<8xf32>) -> (tensor<8xf32>) {
    ^bb0(%rows: tensor<8xf32>):
      %1 = weft.reduce sum %rows dims [0] : tensor<8xf32> -> tensor<f32>
      %2 = weft.constant dense<9.0> : tensor<f32>
      // expected-error @+1 {{takes a sum over a batch of 8 within a loop or branch, which microbatches do not have; run the whole batch, without --microbatches}}
      %3 = weft.compare lt %1, %2 : tensor<f32>, tensor<f32> -> tensor<i1>
      weft.condition %3(%rows) : tensor<i1>, tensor<8xf32>
    } do {
    ^bb0(%rows: tensor<8xf32>):
      %4 = weft.add %rows, %rows : tensor<8xf32>
      weft.yield %4 : tensor<8xf32>
    }
    return %0 : tensor<8xf32>
  }
}
