// RUN: weft-opt %s --weft-form-rolls --canonicalize --split-input-file | FileCheck %s

#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @turned
  // CHECK-NEXT: weft.roll %{{.*}} by [0, 3]
  // CHECK-NEXT: return
  func.func @turned(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %a = weft.slice %x from [0, 5] to [4, 8] by [1, 1] : tensor<4x8xf32> -> tensor<4x3xf32>
    %b = weft.slice %x from [0, 0] to [4, 5] by [1, 1] : tensor<4x8xf32> -> tensor<4x5xf32>
    %r = weft.concatenate %a, %b dim 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }

  // Turned by 4 of 8 twice.
  // CHECK-LABEL: @back
  // CHECK-NEXT: return %{{.*}} : tensor<8xf32>
  func.func @back(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %x from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %c = weft.slice %r from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %d = weft.slice %r from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %s = weft.concatenate %c, %d dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %s : tensor<8xf32>
  }

  // The left neighbours, of a periodic border of one element.
  // CHECK-LABEL: @neighbours
  // CHECK-NEXT: weft.roll %{{.*}} by [1]
  // CHECK-NEXT: return
  func.func @neighbours(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [7] to [8] by [1] : tensor<8xf32> -> tensor<1xf32>
    %b = weft.slice %x from [0] to [1] by [1] : tensor<8xf32> -> tensor<1xf32>
    %r = weft.concatenate %a, %x, %b dim 0 : (tensor<1xf32>, tensor<8xf32>, tensor<1xf32>) -> tensor<10xf32>
    %s = weft.slice %r from [0] to [8] by [1] : tensor<10xf32> -> tensor<8xf32>
    return %s : tensor<8xf32>
  }

  // A slice of one operand is a slice of that.
  // CHECK-LABEL: @one
  // CHECK-NEXT: weft.slice %arg1 from [1] to [3]
  // CHECK-NEXT: return
  func.func @one(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<2xf32> {
    %r = weft.concatenate %x, %y dim 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
    %s = weft.slice %r from [9] to [11] by [1] : tensor<16xf32> -> tensor<2xf32>
    return %s : tensor<2xf32>
  }

  // Neither strides nor other values are turned.
  // CHECK-LABEL: @other
  // CHECK: weft.concatenate
  // CHECK: weft.concatenate
  func.func @other(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %a = weft.slice %x from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %y from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    %c = weft.slice %x from [1] to [8] by [2] : tensor<8xf32> -> tensor<4xf32>
    %d = weft.slice %x from [0] to [7] by [2] : tensor<8xf32> -> tensor<4xf32>
    %s = weft.concatenate %c, %d dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %r, %s : tensor<8xf32>, tensor<8xf32>
  }
}

// -----

// One device moves nothing.
#mesh = #weft.mesh<"d"=1>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @alone
  // CHECK: weft.concatenate
  func.func @alone(%x: tensor<8xf32>) -> tensor<8xf32> {
    %a = weft.slice %x from [4] to [8] by [1] : tensor<8xf32> -> tensor<4xf32>
    %b = weft.slice %x from [0] to [4] by [1] : tensor<8xf32> -> tensor<4xf32>
    %r = weft.concatenate %a, %b dim 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
