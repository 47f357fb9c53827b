// RUN: weft-opt %s --split-input-file --weft-outline-kernels | FileCheck %s

// A forward pass, its gradient and an update: five kernels' worth of ops and
// one communication. The update writes donated memory, so it stays elementwise.

// CHECK-LABEL: func.func @train
// CHECK-NEXT: %[[H:.*]] = call @dot_add_relu_16x784x200(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[S:.*]]:2 = call @general_reduce_sub_exp_div_16x200(%[[H]])
// CHECK-NEXT: %[[G:.*]] = call @dot_784x16x200(%arg0, %[[S]]#0)
// CHECK-NEXT: %[[R:.*]]:2 = coll.all_reduce sum %[[G]], %[[S]]#1 over
// CHECK-NEXT: %[[W:.*]] = call @elementwise_mul_sub_784x200(%arg3, %[[R]]#0, %arg1)
// CHECK-NEXT: return %[[W]], %[[R]]#1, %[[S]]#0

// CHECK: func.func private @dot_add_relu_16x784x200({{.*}}) -> tensor<16x200xf32> attributes {weft.kernel = #weft.kernel<dot>}
// CHECK: weft.broadcast
// CHECK: func.func private @general_reduce_sub_exp_div_16x200
// CHECK-SAME: weft.kernel = #weft.kernel<general>
// CHECK: func.func private @elementwise_mul_sub_784x200
// CHECK-SAME: weft.kernel = #weft.kernel<elementwise>

#mesh = #weft.mesh<"data"=2>
func.func @train(%x: tensor<16x784xf32>, %w: tensor<784x200xf32> {weft.donated = 0 : i64}, %b: tensor<200xf32>, %lr: tensor<f32>) -> (tensor<784x200xf32>, tensor<f32>, tensor<16x200xf32>) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32>
  %1 = weft.broadcast %b dims [1] : tensor<200xf32> -> tensor<16x200xf32>
  %2 = weft.add %0, %1 : tensor<16x200xf32>
  %3 = weft.relu %2 : tensor<16x200xf32>
  %m = weft.reduce max %3 dims [1] : tensor<16x200xf32> -> tensor<16xf32>
  %mb = weft.broadcast %m dims [0] : tensor<16xf32> -> tensor<16x200xf32>
  %4 = weft.sub %3, %mb : tensor<16x200xf32>
  %5 = weft.exp %4 : tensor<16x200xf32>
  %6 = weft.reduce sum %5 dims [1] : tensor<16x200xf32> -> tensor<16xf32>
  %7 = weft.broadcast %6 dims [0] : tensor<16xf32> -> tensor<16x200xf32>
  %8 = weft.div %5, %7 : tensor<16x200xf32>
  %9 = weft.reduce sum %8 dims [0, 1] : tensor<16x200xf32> -> tensor<f32>
  %g = weft.dot %x, %8 contract [0] x [0] : tensor<16x784xf32>, tensor<16x200xf32> -> tensor<784x200xf32>
  %r:2 = coll.all_reduce sum %g, %9 over #mesh ["data"] : tensor<784x200xf32>, tensor<f32>
  %lb = weft.broadcast %lr dims [] : tensor<f32> -> tensor<784x200xf32>
  %10 = weft.mul %lb, %r#0 : tensor<784x200xf32>
  %11 = weft.sub %w, %10 : tensor<784x200xf32>
  return %11, %r#1, %8 : tensor<784x200xf32>, tensor<f32>, tensor<16x200xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
// A constant that communication reads stays; a group is convex: %2 needs %1,
// which is summed over the devices in between, so %0 and %2 are two kernels.
// CHECK-LABEL: func.func @convex
// CHECK: %[[C:.*]] = weft.constant
// CHECK: %[[A:.*]] = call @elementwise_exp_4(%arg0)
// CHECK: %[[P:.*]] = coll.all_reduce sum %[[A]]
// CHECK: coll.all_reduce sum %[[C]]
// CHECK: call @elementwise_add_4(%[[A]], %[[P]])
func.func @convex(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %c = weft.constant dense<1.0> : tensor<f32>
  %0 = weft.exp %x : tensor<4xf32>
  %1 = coll.all_reduce sum %0 over #mesh ["data"] : tensor<4xf32>
  %n = coll.all_reduce sum %c over #mesh ["data"] : tensor<f32>
  %2 = weft.add %0, %1 : tensor<4xf32>
  return %2, %n : tensor<4xf32>, tensor<f32>
}

// -----

// An argument of the result's type that is read elsewhere than it is written
// must not be overwritten: not elementwise.
// CHECK: func.func private @general_add_4x4
// CHECK-NEXT: weft.transpose
func.func @transposed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = weft.transpose %x [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = weft.add %x, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The example of the pass's documentation.
// CHECK-LABEL: func.func @update
// CHECK-NEXT: %[[U:.*]] = call @elementwise_mul_sub_4(%arg0, %arg1, %arg2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[U]]
func.func @update(%g: tensor<4xf32>, %lr: tensor<4xf32>, %p: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.mul %g, %lr : tensor<4xf32>
  %1 = weft.sub %p, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A broadcast reads element 0 of the argument for each of the result, so the
// result may not lie where the argument does.
// CHECK-LABEL: func.func @first
// CHECK: func.func private @general_exp_4
// CHECK-SAME: weft.kernel = #weft.kernel<general>
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.broadcast %x dims [1] : tensor<4xf32> -> tensor<4x4xf32>
  %1 = weft.slice %0 from [0, 0] to [4, 1] by [1, 1] : tensor<4x4xf32> -> tensor<4x1xf32>
  %2 = weft.reshape %1 : tensor<4x1xf32> -> tensor<4xf32>
  %3 = weft.exp %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
