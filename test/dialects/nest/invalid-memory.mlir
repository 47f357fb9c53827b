// Planned memory and updated arguments that a kernel cannot have, each refused by name.
// RUN: weft-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

func.func private @k(%x: tensor<40xf32>) -> tensor<40xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", planned = 128>, weft.kernel = #weft.kernel<general>, weft.scratch = 128 : i64} {
  // expected-error @below {{places 160 bytes at #nest.place<planned 0>; begin at a multiple of 64 and end within the kernel's planned of 128 bytes}}
  %0 = nest.loops #nest.elements<flat> to [#nest.place<planned 0>] {
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

// expected-error @below {{kernel 'k' has 192 bytes of planned memory, but 'weft.scratch' gives its launches 128; write the larger number for both}}
func.func private @k(%x: tensor<40xf32>) -> tensor<40xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", planned = 192>, weft.kernel = #weft.kernel<general>, weft.scratch = 128 : i64} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<planned 0>] {
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

// Each of the two shares works with memory of its own.
// expected-error @below {{kernel 'k' keeps 0 bytes and a nest works with 39936 more; its planned memory has 19968}}
func.func private @k(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", planned = 19968, share = <dim = 0, size = 64, unit = 6, shares = 2>>, weft.kernel = #weft.kernel<dot>, weft.scratch = 19968 : i64} {
  %0 = nest.loops #nest.contraction<packed, tile[6, 2], blocks[12, 64, 64]> to [#nest.place<result 0>] {
    %1 = weft.dot %x, %y contract [1] x [0] : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    nest.store %1 : tensor<64x64xf32>
  } : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// expected-error @below {{argument 0 of kernel 'k' has weft.updated = 1 : i64; name a result of its type, which no other argument names}}
func.func private @k(%x: tensor<4xf32> {weft.updated = 1 : i64}) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %2 = weft.neg %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 of kernel 'k' has weft.updated = 0 : i64, but result 0 is not this argument with elements changed, or it has other uses; remove the attribute}}
func.func private @k(%x: tensor<4xf32> {weft.updated = 0 : i64}) -> tensor<4xf32> attributes {nest.kernel = #nest.kernel<target = "cpu:avx2">, weft.kernel = #weft.kernel<general>} {
  %0 = nest.loops #nest.elements<flat> to [#nest.place<result 0>] {
    %2 = weft.neg %x : tensor<4xf32>
    nest.store %2 : tensor<4xf32>
  } : tensor<4xf32>
  return %0 : tensor<4xf32>
}
