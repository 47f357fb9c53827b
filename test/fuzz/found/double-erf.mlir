// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 100232 --count 1 --ops 8 --compiled-every 1
// It was refused:
//   kernel 'elementwise_erf_1x1x1' cannot be compiled for cpu:avx2: cannot be converted to LLVM IR: missing `LLVMTranslationDialectInterface` registration for dialect for op: func.func
//   the program is not compiled

#mesh = #weft.mesh<"c"=2>
module attributes {weft.fuzz = "inputs=100232 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1xf64>) -> (tensor<1x1x1xf64> {weft.error_bound = 2.304000e-07 : f64}) {
    %0 = weft.erf %arg0 : tensor<1x1x1xf64>
    return %0 : tensor<1x1x1xf64>
  }
}

