// RUN: weft-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --weft-outline-kernels --weft-place-buffers

// expected-error@+1 {{function 'two_blocks' has 2 blocks instead of 1; outline kernels before control flow is lowered}}
func.func @two_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  "test.jump"() [^next] : () -> ()
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{result 0 of local type 'tensor<8xf32>' reuses an argument of local type 'tensor<4xf32>'; give both the same layout}}
func.func @memory(%x: tensor<4xf32> {weft.donated = 0 : i64}) -> tensor<8xf32> {
  %0 = weft.concatenate %x, %x dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
