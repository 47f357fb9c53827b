// RUN: weft-fuzz --program %s
// A kernel that draws bits must not write over the key that it still reads.

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=1 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<2xui32> {weft.donated = 0 : i64}) -> (tensor<2xui32>, tensor<2xui32>) {
    %0 = weft.add %arg0, %arg0 : tensor<2xui32>
    %1 = weft.rng_bits %0 : tensor<2xui32> -> tensor<2xui32>
    %2 = weft.rng_bits %arg0 : tensor<2xui32> -> tensor<2xui32>
    return %1, %2 : tensor<2xui32>, tensor<2xui32>
  }
}
