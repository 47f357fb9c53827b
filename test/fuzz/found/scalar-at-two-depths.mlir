// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 100107 --count 1 --ops 8 --compiled-every 1
// It was refused:
//   kernel 'general_dynamic_slice_add_convert_max_1' cannot be compiled for cpu:avx2: operand #0 does not dominate this use
//   the program is not compiled

#mesh = #weft.mesh<"a"=2>
module attributes {weft.fuzz = "inputs=100107 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<2xui32> {weft.layout = #weft.layout<#mesh, [{"a"}]>}, %arg1: tensor<i32>) -> tensor<1xui32> {
    %0 = weft.cumulative sum %arg0 dim 0 reverse : tensor<2xui32>
    %1 = weft.dynamic_slice %0 at(%arg1) : (tensor<2xui32>, tensor<i32>) -> tensor<1xui32>
    return %1 : tensor<1xui32>
  }
}

