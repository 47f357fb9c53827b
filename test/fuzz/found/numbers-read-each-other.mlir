// RUN: weft-fuzz --program %s
// A kernel of scalars was called elementwise and had two nests: one result was an operand of another.
#mesh = #weft.mesh<"a"=1, "c"=1>
module attributes {weft.fuzz = "inputs=98101500 compiled", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = weft.shift_right_logical %arg0, %arg0 : tensor<i32>
    %1 = weft.dynamic_slice %0 at() : (tensor<i32>) -> tensor<i32>
    return %1, %0 : tensor<i32>, tensor<i32>
  }
}

