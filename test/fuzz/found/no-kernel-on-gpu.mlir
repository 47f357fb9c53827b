// A program for GPUs without kernels was taken for one of another processor.
// REQUIRES: nvptx
// RUN: env LD_LIBRARY_PATH=%weft_build/lib/fake-cuda weft-fuzz --program %s

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=217 compiled gpu explained", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1xi1>) -> tensor<1xi1> {
    return %arg0 : tensor<1xi1>
  }
}

