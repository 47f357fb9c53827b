// Invalid tiles of transposed operands, each refused by name.
// RUN: weft-opt %s --split-input-file --verify-diagnostics

func.func private @turned_along_the_last(%x: tensor<50x40xf32>) -> tensor<40x50xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{stores tensors of rank 2; name a dimension in front of the last one}}
  %0 = nest.loops #nest.transposed<along = 1> to [#nest.place<result 0>] {
    %1 = weft.transpose %x [1, 0] : tensor<50x40xf32> -> tensor<40x50xf32>
    nest.store %1 : tensor<40x50xf32>
  } : tensor<40x50xf32>
  return %0 : tensor<40x50xf32>
}

// -----

func.func private @turned_nothing(%x: tensor<40x50xf32>) -> tensor<40x50xf32> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{reads nothing that lies side by side along dimension 0; write #nest.elements<dimensions>}}
  %0 = nest.loops #nest.transposed<along = 0> to [#nest.place<result 0>] {
    %1 = weft.neg %x : tensor<40x50xf32>
    nest.store %1 : tensor<40x50xf32>
  } : tensor<40x50xf32>
  return %0 : tensor<40x50xf32>
}

// -----

func.func private @turned_too_much(%x: tensor<50x40xcomplex<f64>>, %y: tensor<50x40xcomplex<f64>>, %z: tensor<50x40xcomplex<f64>>) -> tensor<40x50xcomplex<f64>> attributes {nest.kernel = #nest.kernel<target = "cuda:sm_80">, weft.kernel = #weft.kernel<general>} {
  // expected-error @below {{needs 50688 bytes of shared memory; a block has 49152}}
  %0 = nest.loops #nest.transposed<along = 0> to [#nest.place<result 0>] {
    %1 = weft.transpose %x [1, 0] : tensor<50x40xcomplex<f64>> -> tensor<40x50xcomplex<f64>>
    %2 = weft.transpose %y [1, 0] : tensor<50x40xcomplex<f64>> -> tensor<40x50xcomplex<f64>>
    %3 = weft.transpose %z [1, 0] : tensor<50x40xcomplex<f64>> -> tensor<40x50xcomplex<f64>>
    %4 = weft.add %1, %2 : tensor<40x50xcomplex<f64>>
    %5 = weft.add %4, %3 : tensor<40x50xcomplex<f64>>
    nest.store %5 : tensor<40x50xcomplex<f64>>
  } : tensor<40x50xcomplex<f64>>
  return %0 : tensor<40x50xcomplex<f64>>
}
