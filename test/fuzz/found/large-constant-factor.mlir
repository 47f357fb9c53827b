// A factor of a contraction that is computed and larger than a kernel's scratch
// memory is a result of the kernel.
// RUN: weft-fuzz --program %s

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=2545132178 planned", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1000003xi32>) -> tensor<1000003x443710xi32> {
    %0 = weft.constant dense<1> : tensor<443710xi32>
    %1 = weft.dot %arg0, %0 contract [] x [] : tensor<1000003xi32>, tensor<443710xi32> -> tensor<1000003x443710xi32>
    return %1 : tensor<1000003x443710xi32>
  }
}
