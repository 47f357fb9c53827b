// LLVM unrolls no outer loop and no long one: the code of a softmax over 4 x 64 rows has a few hundred instructions, not
// one body for each of the four (1,968 to 2,732, which took six times as long to compile).
// RUN: weft compile %s --emit assembly --target cpu:avx2 -o %t.avx2
// RUN: weft compile %s --emit assembly --target cpu:avx512 -o %t.avx512
// RUN: grep -c "^[[:space:]][a-z]" %t.avx2 | FileCheck %s
// RUN: grep -c "^[[:space:]][a-z]" %t.avx512 | FileCheck %s
// CHECK: {{^[1-7][0-9][0-9]$}}
func.func @main(%x: tensor<4x1x64x64xf32>) -> tensor<4x1x64x64xf32> {
  %m = weft.reduce max %x dims [3] : tensor<4x1x64x64xf32> -> tensor<4x1x64xf32>
  %b = weft.broadcast %m dims [0, 1, 2] : tensor<4x1x64xf32> -> tensor<4x1x64x64xf32>
  %d = weft.sub %x, %b : tensor<4x1x64x64xf32>
  %e = weft.exp %d : tensor<4x1x64x64xf32>
  %s = weft.reduce sum %e dims [3] : tensor<4x1x64x64xf32> -> tensor<4x1x64xf32>
  %t = weft.broadcast %s dims [0, 1, 2] : tensor<4x1x64xf32> -> tensor<4x1x64x64xf32>
  %y = weft.div %e, %t : tensor<4x1x64x64xf32>
  return %y : tensor<4x1x64x64xf32>
}
