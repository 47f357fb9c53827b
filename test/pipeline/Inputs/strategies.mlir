module @strategies attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["d"=4]>
  func.func public @main(%arg0: tensor<1001xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}, %arg1: tensor<25x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}]>}, %arg2: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"d"}]>}, %arg3: tensor<40xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) -> (tensor<1001xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}, tensor<8x5x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}, {}, {}]>}, tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<36xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"d"}]>}) {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %5 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<1001xf32>) -> tensor<1001xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<25x8xf32>) -> tensor<8x5x5xf32>
    %2 = stablehlo.reshape %arg2 : (tensor<4x6xf32>) -> tensor<8x3xf32>
    %3 = stablehlo.slice %arg3 [4:40] : (tensor<40xf32>) -> tensor<36xf32>
    return %0, %1, %2, %3 : tensor<1001xf32>, tensor<8x5x5xf32>, tensor<8x3xf32>, tensor<36xf32>
  }
}
