// A loop carries an array in the shape in which its rounds change it.
// RUN: weft-opt --weft-carry-reshaped --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @counted
// CHECK-SAME: (%[[C:.*]]: tensor<64x8xf32>
// CHECK: %[[F:.*]] = weft.reshape %[[C]] : tensor<64x8xf32> -> tensor<512xf32>
// CHECK: weft.for 100(%[[F]], {{.*}}) : (tensor<512xf32>, tensor<4xf32>) -> (tensor<512xf32>, tensor<4xf32>)
// CHECK-NOT: weft.reshape
// CHECK: weft.dynamic_update_slice
// CHECK-NOT: weft.reshape
// CHECK: }
// CHECK: weft.reshape {{.*}} : tensor<512xf32> -> tensor<64x8xf32>
// CHECK: return
func.func @counted(%c: tensor<64x8xf32>, %part: tensor<4xf32>) -> tensor<64x8xf32> {
  %r:2 = weft.for 100(%c, %part) : (tensor<64x8xf32>, tensor<4xf32>) -> (tensor<64x8xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>, %u: tensor<4xf32>):
    %f = weft.reshape %v : tensor<64x8xf32> -> tensor<512xf32>
    %0 = weft.dynamic_update_slice %f, %u at (%i) : (tensor<512xf32>, tensor<4xf32>, tensor<i32>) -> tensor<512xf32>
    %1 = weft.reshape %0 : tensor<512xf32> -> tensor<64x8xf32>
    weft.yield %1, %u : tensor<64x8xf32>, tensor<4xf32>
  }
  return %r#0 : tensor<64x8xf32>
}

// -----

// The row is read in the old shape, through a reshape back; the inner loop's
// carried value changes with the outer one's.
// CHECK-LABEL: func.func @nested
// CHECK: weft.for 100({{.*}}) : (tensor<512xf32>) -> tensor<512xf32>
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[V:.*]]: tensor<512xf32>):
// CHECK: weft.while(%{{.*}}, %[[V]])
// CHECK: ^bb0(%{{.*}}: tensor<i32>, %[[IN:.*]]: tensor<512xf32>):
// CHECK: %[[BACK:.*]] = weft.reshape %[[IN]] : tensor<512xf32> -> tensor<64x8xf32>
// CHECK: weft.slice %[[BACK]]
// CHECK: weft.dynamic_update_slice %[[IN]]
// CHECK: weft.yield {{.*}} : tensor<i32>, tensor<512xf32>
// CHECK-NOT: weft.reshape
// CHECK: weft.yield {{.*}} : tensor<512xf32>
func.func @nested(%c: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = weft.for 100(%c) : (tensor<64x8xf32>) -> tensor<64x8xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>):
    %s:2 = weft.while(%i, %v) : (tensor<i32>, tensor<64x8xf32>) -> (tensor<i32>, tensor<64x8xf32>) {
    ^bb0(%j: tensor<i32>, %x: tensor<64x8xf32>):
      %most = weft.constant dense<300> : tensor<i32>
      %p = weft.compare lt %j, %most : tensor<i32>, tensor<i32> -> tensor<i1>
      weft.condition %p(%j, %x) : tensor<i1>, tensor<i32>, tensor<64x8xf32>
    } do {
    ^bb0(%j: tensor<i32>, %x: tensor<64x8xf32>):
      %row = weft.slice %x from [3, 0] to [4, 8] by [1, 1] : tensor<64x8xf32> -> tensor<1x8xf32>
      %u = weft.reshape %row : tensor<1x8xf32> -> tensor<8xf32>
      %f = weft.reshape %x : tensor<64x8xf32> -> tensor<512xf32>
      %0 = weft.dynamic_update_slice %f, %u at (%j) : (tensor<512xf32>, tensor<8xf32>, tensor<i32>) -> tensor<512xf32>
      %1 = weft.reshape %0 : tensor<512xf32> -> tensor<64x8xf32>
      %n = weft.add %j, %j : tensor<i32>
      weft.yield %n, %1 : tensor<i32>, tensor<64x8xf32>
    }
    weft.yield %s#1 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}

// -----

// A value that is changed in its own shape stays.
// CHECK-LABEL: func.func @own_shape
// CHECK: weft.for 100({{.*}}) : (tensor<64x8xf32>) -> tensor<64x8xf32>
func.func @own_shape(%c: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = weft.for 100(%c) : (tensor<64x8xf32>) -> tensor<64x8xf32> {
  ^bb0(%i: tensor<i32>, %v: tensor<64x8xf32>):
    %zero = weft.constant dense<0> : tensor<i32>
    %row = weft.dynamic_slice %v at (%zero, %i) : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
    %0 = weft.dynamic_update_slice %v, %row at (%i, %zero) : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    weft.yield %0 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}
