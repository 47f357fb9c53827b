// The prices of links and kernels decide what is computed while a collective is
// under way.
// RUN: weft-opt %s --split-input-file --weft-choose-nests --weft-overlap-collectives | FileCheck %s

// The sum of the input's gradient is on the way to the end, and so is computed
// first: the weight's gradient is computed while it is sent.
#mesh = #weft.mesh<"model"=4>

// CHECK-LABEL: func.func @tensor_parallel
// CHECK: call @input_gradient
// CHECK-NEXT: %[[S:.*]] = coll.all_reduce
// CHECK-NEXT: call @gradient
// CHECK-NEXT: plan.await %[[S]]
// CHECK-NEXT: call @input_gradient
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @tensor_parallel(%d: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %g = call @gradient(%d) : (tensor<4096xf32>) -> tensor<4096xf32>
    %p = call @input_gradient(%d) : (tensor<4096xf32>) -> tensor<4096xf32>
    %s = coll.all_reduce sum %p over #mesh ["model"] : tensor<4096xf32>
    %e = call @input_gradient(%s) : (tensor<4096xf32>) -> tensor<4096xf32>
    return %g, %e : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @gradient(%a: tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
  func.func private @input_gradient(%a: tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.mul %a, %a : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
}

// -----

// On CPUs whose mesh states no links, the cores that compute copy: no overlap.
#mesh = #weft.mesh<"batch"=4>

// CHECK-LABEL: func.func @copies
// CHECK-NOT: plan.await
module attributes {weft.mesh = #mesh} {
  func.func @copies(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %t = coll.all_reduce sum %x over #mesh ["batch"] : tensor<4096xf32>
    %u = call @step(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    return %t, %u : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @step(%a: tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
}

// -----

// Where a network is stated, the price of what is computed meanwhile decides: all
// of it ends a hundredth earlier here, and less in the next step.
#mesh = #weft.mesh<"batch"=4, bandwidth = [1.0e9]>

// CHECK-LABEL: func.func @network
// CHECK: coll.all_reduce
// CHECK-NEXT: call @dot
// CHECK-NEXT: plan.await
module attributes {weft.mesh = #mesh} {
  func.func @network(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
    %t = coll.all_reduce sum %x over #mesh ["batch"] : tensor<512x512xf32>
    %u = call @dot(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
    return %t, %u : tensor<512x512xf32>, tensor<512x512xf32>
  }
  func.func private @dot(%a: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {weft.kernel = #weft.kernel<dot>} {
    %0 = weft.dot %a, %a contract [1] x [0] : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}

// -----

#mesh = #weft.mesh<"batch"=4, bandwidth = [1.0e9]>

// CHECK-LABEL: func.func @little
// CHECK-NOT: plan.await
module attributes {weft.mesh = #mesh} {
  func.func @little(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
    %t = coll.all_reduce sum %x over #mesh ["batch"] : tensor<512x512xf32>
    %u = call @step(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32>
    return %t, %u : tensor<512x512xf32>, tensor<512x512xf32>
  }
  func.func private @step(%a: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<512x512xf32>
    return %0 : tensor<512x512xf32>
  }
}
