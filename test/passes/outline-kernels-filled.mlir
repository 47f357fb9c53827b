// A constant of one number is not stored in the plan: a kernel fills it where
// communication, a loop or the caller reads it.
// RUN: weft-opt %s --weft-outline-kernels --weft-deduplicate-kernels | FileCheck %s

#mesh = #weft.mesh<"data"=2>
// CHECK-LABEL: func.func @filled
// CHECK-NOT: weft.constant
// CHECK: %[[C:.*]] = call @elementwise_constant_67108864()
// CHECK-NEXT: %[[R:.*]] = coll.all_reduce sum %[[C]]
// CHECK-NEXT: %[[S:.*]] = call @elementwise_add_67108864(%arg0)
// CHECK-NEXT: return %[[C]], %[[R]], %[[S]]
func.func @filled(%x: tensor<67108864xf32>) -> (tensor<67108864xf32>, tensor<67108864xf32>, tensor<67108864xf32>) {
  %c = weft.constant dense<1.0> : tensor<67108864xf32>
  %r = coll.all_reduce sum %c over #mesh ["data"] : tensor<67108864xf32>
  %s = weft.add %x, %c : tensor<67108864xf32>
  return %c, %r, %s : tensor<67108864xf32>, tensor<67108864xf32>, tensor<67108864xf32>
}

// Small constants, and those of several numbers, stay: a launch costs more.
// CHECK-LABEL: func.func @small
// CHECK-COUNT-2: weft.constant
// CHECK-NOT: call
// CHECK: return
func.func @small() -> (tensor<16xf32>, tensor<3xi32>) {
  %c = weft.constant dense<1.0> : tensor<16xf32>
  %d = weft.constant dense<[1, 2, 3]> : tensor<3xi32>
  return %c, %d : tensor<16xf32>, tensor<3xi32>
}

// CHECK: func.func private @elementwise_constant_67108864() -> tensor<67108864xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
// CHECK-NEXT: weft.constant dense<1.000000e+00> : tensor<67108864xf32>
