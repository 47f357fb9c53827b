// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 30008706 --count 1 --ops 8 --compiled-every 50
// It differed:
//   'func.func' op result 0 differs at [2, 0, 2]: the global program gives 1, the devices give 0

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=30008706", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<3x1x6xui32> {weft.layout = #weft.layout<#mesh, [{}, {"a"}, {}]>}, %arg1: tensor<3x1x3xui32>) -> tensor<3x1x6xui32> {
    %0 = weft.select_and_scatter ge %arg0, %arg1 {high = array<i64: 0, 1, 0>, low = array<i64: 0, 1, 1>, strides = array<i64: 1, 1, 3>, window = array<i64: 1, 3, 1>} : tensor<3x1x6xui32>, tensor<3x1x3xui32> -> tensor<3x1x6xui32>
    return %0 : tensor<3x1x6xui32>
  }
}

