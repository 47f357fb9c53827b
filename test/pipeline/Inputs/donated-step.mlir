module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<2x8xf32>) -> (tensor<8x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<8x4xf32>
    return %1, %0 : tensor<8x4xf32>, tensor<2x4xf32>
  }
}
