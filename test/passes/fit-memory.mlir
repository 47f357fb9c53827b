// A device has 160 bytes. The step would hold two gathered weights of 64, as the
// first is read again by its gradient: it is gathered again instead.
// RUN: weft-opt %s --split-input-file --weft-fit-memory --verify-diagnostics | FileCheck %s

#mesh = #weft.mesh<"d"=4>

// CHECK-LABEL: func @twice
// CHECK: %[[A:.*]] = coll.all_gather %arg0 dim 0 over #mesh ["d"] reason "w1 is gathered"
// CHECK: call @use({{.*}}, %[[A]])
// CHECK: %[[B:.*]] = coll.all_gather %arg1
// CHECK: call @use({{.*}}, %[[B]])
// CHECK: %[[AGAIN:.*]] = coll.all_gather %arg0 dim 0 over #mesh ["d"] reason "w1 is gathered, again: a device has 160 bytes"
// CHECK: call @use({{.*}}, %[[AGAIN]])
module attributes {weft.mesh = #mesh, weft.memory = 160 : i64} {
  func.func @twice(%w1: tensor<4xf32>, %w2: tensor<4xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %a = coll.all_gather %w1 dim 0 over #mesh ["d"] reason "w1 is gathered" : tensor<4xf32> -> tensor<16xf32>
    %1 = call @use(%x, %a) : (tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32>
    %b = coll.all_gather %w2 dim 0 over #mesh ["d"] : tensor<4xf32> -> tensor<16xf32>
    %2 = call @use(%1, %b) : (tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32>
    %3 = call @use(%2, %a) : (tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32>
    return %3 : tensor<2xf32>
  }
  func.func private @use(tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32> attributes {weft.kernel = #weft.kernel<dot>}
}

// -----

// Both gradients are scattered when they are computed, and added to their weights at once, with any memory of a device.
#mesh = #weft.mesh<"d"=4>

// CHECK-LABEL: func @gradients
// CHECK: call @gradient
// CHECK-NEXT: coll.reduce_scatter
// CHECK-NEXT: call @add(%arg0
// CHECK-NEXT: call @gradient
// CHECK-NEXT: coll.reduce_scatter
// CHECK-NEXT: call @add(%arg1
// CHECK-NOT: coll
module attributes {weft.mesh = #mesh} {
  func.func @gradients(%w1: tensor<4xf32> {weft.donated = 0 : i64}, %w2: tensor<4xf32> {weft.donated = 1 : i64}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %g1 = call @gradient(%x) : (tensor<4xf32>) -> tensor<16xf32>
    %g2 = call @gradient(%x) : (tensor<4xf32>) -> tensor<16xf32>
    %s1 = coll.reduce_scatter sum %g1 dim 0 over #mesh ["d"] : tensor<16xf32> -> tensor<4xf32>
    %s2 = coll.reduce_scatter sum %g2 dim 0 over #mesh ["d"] : tensor<16xf32> -> tensor<4xf32>
    %n1 = call @add(%w1, %s1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n2 = call @add(%w2, %s2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %n1, %n2 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @gradient(tensor<4xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<dot>}
  func.func private @add(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>}
}

// -----

// A step that fits stays as it is.
#mesh = #weft.mesh<"d"=4>

// CHECK-LABEL: func @fits
// CHECK: coll.all_gather %arg0
// CHECK: call @use
// CHECK-NEXT: call @use
module attributes {weft.mesh = #mesh, weft.memory = 200 : i64} {
  func.func @fits(%w: tensor<4xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %a = coll.all_gather %w dim 0 over #mesh ["d"] : tensor<4xf32> -> tensor<16xf32>
    %1 = call @use(%x, %a) : (tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32>
    %2 = call @use(%1, %a) : (tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func private @use(tensor<2xf32>, tensor<16xf32>) -> tensor<2xf32> attributes {weft.kernel = #weft.kernel<dot>}
}

// -----

// expected-error @below {{weft.memory is "64MiB"; write the bytes of a device as 67108864 : i64}}
module attributes {weft.memory = "64MiB"} {
}

// -----

// Two gathered values that one op needs do not change places for ever, and a gather without an earlier use is only moved.
#mesh = #weft.mesh<"d"=4>

// CHECK-LABEL: func @pair
// CHECK-COUNT-2: coll.all_gather
// CHECK-NOT: coll.all_gather
module attributes {weft.mesh = #mesh, weft.memory = 1 : i64} {
  func.func @pair(%w1: tensor<4xf32>, %w2: tensor<4xf32>, %x: tensor<2xf32>) -> tensor<2xf32> {
    %a = coll.all_gather %w1 dim 0 over #mesh ["d"] : tensor<4xf32> -> tensor<16xf32>
    %b = coll.all_gather %w2 dim 0 over #mesh ["d"] : tensor<4xf32> -> tensor<16xf32>
    %big = call @grow(%x) : (tensor<2xf32>) -> tensor<64xf32>
    %small = call @shrink(%big) : (tensor<64xf32>) -> tensor<2xf32>
    %1 = call @both(%small, %a, %b) : (tensor<2xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @grow(tensor<2xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<dot>}
  func.func private @shrink(tensor<64xf32>) -> tensor<2xf32> attributes {weft.kernel = #weft.kernel<dot>}
  func.func private @both(tensor<2xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<2xf32> attributes {weft.kernel = #weft.kernel<dot>}
}
