// Decisions that a kernel's nests cannot have, each refused by name.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{no loop nests for 'cpu:avx1024'; use one of cpu:avx512, cpu:avx2}}
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx1024">, weft.kernel = #weft.kernel<general>} {
  return %x : tensor<4xf32>
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{'weft.neg' stands between the nests of kernel 'k'; move it into a nest}}
  %0 = weft.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{kernel 'k' is called elementwise but needs 2 loop nests instead of 1}}
func.func private @k(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<elementwise>} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %2 = weft.neg %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  %1 = nest.loops #nest.elements<flat> to [#nest.place<result 1>] {
    %2 = weft.exp %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{places a value in #nest.place<result 1>; the kernel has 1 results}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 1>] {
    %2 = weft.neg %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @k(%x: tensor<40xf32>) -> tensor<40xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 128>, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{places 160 bytes at #nest.place<scratch 0>; begin at a multiple of 64 and end within the kernel's scratch of 128 bytes}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<scratch 0>] {
    %2 = weft.neg %x : tensor<40xf32>
    nest.store %2 : tensor<40xf32>
  } : tensor<40xf32>
  %1 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %2 = weft.exp %0 : tensor<40xf32>
    nest.store %2 : tensor<40xf32>
  } : tensor<40xf32>
  return %1 : tensor<40xf32>
}

// -----

// The value at byte 64 overlaps that of the first nest, which the third reads.
func.func private @k(%x: tensor<32xf32>) -> tensor<32xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 256>, weft.kernel = #weft.kernel<general>} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<scratch 0>] {
    %3 = weft.neg %x : tensor<32xf32>
    nest.store %3 : tensor<32xf32>
  } : tensor<32xf32>
  // expected-error @below {{stores a value in #nest.place<scratch 64>, where kernel 'k' still needs one that an earlier nest stored in #nest.place<scratch 0>}}
  %1 = nest.loops #nest.elements<flat> to [#nest.place<scratch 64>] {
    %3 = weft.exp %x : tensor<32xf32>
    nest.store %3 : tensor<32xf32>
  } : tensor<32xf32>
  %2 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %3 = weft.add %0, %1 : tensor<32xf32>
    nest.store %3 : tensor<32xf32>
  } : tensor<32xf32>
  return %2 : tensor<32xf32>
}

// -----

func.func private @k(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{is flat, but its stored values do not follow from row-major positions; write #nest.elements<dimensions>}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %1 = weft.broadcast %b dims [1] : tensor<4xf32> -> tensor<8x4xf32>
    %2 = weft.add %x, %1 : tensor<8x4xf32>
    nest.store %2 : tensor<8x4xf32>
  } : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

func.func private @k(%x: tensor<8x40xf32>) -> tensor<40xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 192>, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{a dimension of 8 positions has no blocks of 16}}
  %0 = nest.loops #nest.reduction<row, blocks[16]> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<8x40xf32> -> tensor<40xf32>
    nest.store %1 : tensor<40xf32>
  } : tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

func.func private @k(%x: tensor<8x40xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{reduces the innermost dimension of}}
  %0 = nest.loops #nest.reduction<row> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<8x40xf32> -> tensor<8xf32>
    nest.store %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @k(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 1000000>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{a block of 500 is no multiple of 16, which a tile takes}}
  %0 = nest.loops #nest.contraction<packed, tile[6, 2], blocks[60, 500, 64]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %y contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// expected-error @below {{kernel 'k' keeps 0 bytes and a nest works with 19968 more; its scratch memory has 64}}
func.func private @k(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 64>, weft.kernel = #weft.kernel<dot>} {
  %0 = nest.loops #nest.contraction<packed, tile[6, 2], blocks[12, 64, 64]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %y contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @k(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{but contracted elements do not lie side by side}}
  %0 = nest.loops #nest.contraction<depth, tile[2, 4]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %y contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @k(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", share = #nest.share<dim = 0, size = 64, unit = 8, shares = 4>>, weft.kernel = #weft.kernel<dot>} {
  // expected-error @below {{which cannot be shared as #nest.share<dim = 0, size = 64, unit = 8, shares = 4>}}
  %0 = nest.loops #nest.contraction<columns, tile[4, 2]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %y contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func private @k(%x: tensor<64x10xf32>) -> tensor<64x10xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{cannot walk over rows: weft.reduce combines dimension 0 of tensor<64x10xf32>, which is not among its last 1}}
  %0 = nest.loops #nest.rows<dims = 1, lanes = 32> to [#nest.place<result 0>] {
    %1 = weft.reduce max %x dims [0] : tensor<64x10xf32> -> tensor<10xf32>
    %2 = weft.broadcast %1 dims [1] : tensor<10xf32> -> tensor<64x10xf32>
    %3 = weft.sub %x, %2 : tensor<64x10xf32>
    nest.store %3 : tensor<64x10xf32>
  } : tensor<64x10xf32>
  return %0 : tensor<64x10xf32>
}

// -----

func.func private @loops_c1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{has 1 results but 0 places; give each result one}}
  %0 = nest.loops #nest.elements<flat> to [] {
    %1 = weft.neg %x : tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @loops_c1_types(%x: tensor<4xf32>) -> tensor<4xi1> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{has results of types 'tensor<4xi1>' but stores 'tensor<4xf32>'}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %1 = weft.neg %x : tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func private @loops_c1_outside(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{, which its body does not compute}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    nest.store %x : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @loops_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stands outside of a kernel; give the function the attribute 'nest.kernel'}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %1 = weft.neg %x : tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @loops_c3(%x: tensor<8x4xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{walks over elements but computes 'weft.reduce', which has loops; give it a nest}}
  %0 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    nest.store %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @loops_c3_op(%x: tensor<8x4xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{walks as #nest.contraction<plain> but its body computes 'weft.reduce', which is no contraction}}
  %0 = nest.loops #nest.contraction<plain> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    nest.store %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @loops_c3_own(%x: tensor<8x4xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{walks as #nest.own but 'weft.reduce' has no loops of its own}}
  %0 = nest.loops #nest.own to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    nest.store %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @loops_c3_shapes(%x: tensor<4xf32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<8xf32>) attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{stores 'tensor<4xf32>' and 'tensor<8xf32>', of two shapes; give each shape a nest}}
  %0:2 = nest.loops #nest.elements<flat> to [#nest.place<result 0>, #nest.place<result 1>] {
    %1 = weft.neg %x : tensor<4xf32>
    %2 = weft.neg %y : tensor<8xf32>
    nest.store %1, %2 : tensor<4xf32>, tensor<8xf32>
  } : tensor<4xf32>, tensor<8xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<8xf32>
}

// -----

func.func private @loops_c3_positions(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{, which reads other positions of a value stored beside it; give it a nest}}
  %0:2 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>, #nest.place<result 1>] {
    %1 = weft.neg %x : tensor<4xf32>
    %2 = weft.reverse %1 dims [0] : tensor<4xf32>
    nest.store %1, %2 : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @loops_c3_nothing() attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{stores nothing}}
  nest.loops #nest.elements<dimensions> to [] {
    nest.store
  }
  return
}

// -----

func.func private @loops_c3_rows(%x: tensor<8x4xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{walks as #nest.rows<dims = -1, lanes = 32>; rows have at least 0 dimensions and 1 lane}}
  %0 = nest.loops #nest.rows<dims = -1, lanes = 32> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [1] : tensor<8x4xf32> -> tensor<8xf32>
    nest.store %1 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func private @data(%x: tensor<2xf32>) -> tensor<2xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    // expected-error @below {{is data, which is in memory: it stands between the nests of a kernel, not in one}}
    %1 = weft.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %2 = weft.add %x, %1 : tensor<2xf32>
    nest.store %2 : tensor<2xf32>
  } : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{stores result 0 of the kernel in #nest.place<result 1>; write #nest.place<result 0>}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 1>] {
    %2 = weft.neg %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  %1 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %2 = weft.exp %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @shared_sort(%x: tensor<64x8xf32>) -> tensor<64x8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", share = #nest.share<dim = 1, size = 8, unit = 1, shares = 4>>, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{computes 'weft.cumulative', which cannot be shared as #nest.share<dim = 1, size = 8, unit = 1, shares = 4>}}
  %0 = nest.loops #nest.own to [#nest.place<result 0>] {
    %1 = weft.cumulative sum %x dim 1 : tensor<64x8xf32>
    nest.store %1 : tensor<64x8xf32>
  } : tensor<64x8xf32>
  return %0 : tensor<64x8xf32>
}

// -----

// expected-error @below {{failed to parse Nest_KernelAttr parameter 'share'}}
// expected-error @below {{shares 8 positions of dimension 0 in units of 4 among 3 workers; each of at least 2 needs a unit}}
func.func private @workers(%x: tensor<8xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", share = #nest.share<dim = 0, size = 8, unit = 4, shares = 3>>, weft.kernel = #weft.kernel<general>} {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{failed to parse Nest_KernelAttr parameter 'share'}}
// expected-error @below {{runs its nests for blocks of 6 positions, which units of 4 do not divide}}
func.func private @blocks(%x: tensor<8xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", share = #nest.share<dim = 0, size = 8, unit = 4, shares = 2, block = 6>>, weft.kernel = #weft.kernel<general>} {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{function 'f' has 'nest.kernel' but is no kernel; give it 'weft.kernel'}}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">} {
  return %x : tensor<8xf32>
}

// -----

// expected-error @below {{write 'nest.kernel = #nest.kernel<target = "cpu:avx2">' on a kernel function}}
module attributes {nest.kernel = 3 : i32} {
}

// -----

func.func private @ends(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{ends with 'mine.end'; end it with 'nest.store'}}
  %0 = "nest.loops"() <{places = [#nest.place<result 0>], walk = #nest.elements<flat>}> ({
    "mine.end"() : () -> ()
  }) : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Ops in between make no difference.
func.func private @loops_c3_through(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{, which reads other positions of a value stored beside it; give it a nest}}
  %0:2 = nest.loops #nest.elements<dimensions> to [#nest.place<result 0>, #nest.place<result 1>] {
    %1 = weft.neg %x : tensor<4xf32>
    %2 = weft.abs %1 : tensor<4xf32>
    %3 = weft.reverse %2 dims [0] : tensor<4xf32>
    nest.store %1, %3 : tensor<4xf32>, tensor<4xf32>
  } : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func private @sums_block(%x: tensor<8x4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{combines blocks of -1 terms; a block has at least 0}}
  %0 = nest.loops #nest.sums<block = -1> to [#nest.place<result 0>] {
    %1 = weft.reduce sum %x dims [0] : tensor<8x4xf32> -> tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @sums_elementwise(%x: tensor<4xf32>) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{cannot combine terms: its 1 results do not follow from one op that combines terms}}
  %0 = nest.loops #nest.sums<block = 0> to [#nest.place<result 0>] {
    %1 = weft.neg %x : tensor<4xf32>
    nest.store %1 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @sums_of_two(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) -> tensor<8xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{cannot combine terms: it contains weft.reduce beside weft.dot}}
  %0 = nest.loops #nest.sums<block = 0> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %w contract [1] x [0] : tensor<8x4xf32>, tensor<4x3xf32> -> tensor<8x3xf32>
    %2 = weft.reduce sum %1 dims [1] : tensor<8x3xf32> -> tensor<8xf32>
    nest.store %2 : tensor<8xf32>
  } : tensor<8xf32>
  return %0 : tensor<8xf32>
}
