// Collectives start when their operands are computed, and a plan.await is where
// the first op needs them.
// RUN: weft-opt %s --split-input-file --weft-overlap-collectives | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-overlap-collectives --weft-place-buffers | FileCheck %s --check-prefix=PLAN

// The gradient of the second layer is summed while that of the first is computed:
// the all-reduce of both is divided.
#mesh = #weft.mesh<"batch"=4>

// CHECK-LABEL: func.func @backward
// CHECK: %[[G2:.*]] = call @gradient(%arg0)
// CHECK-NEXT: %[[S2:.*]] = coll.all_reduce sum %[[G2]] over #mesh ["batch"] reason "gradient of w2 is summed"
// CHECK-NEXT: %[[D:.*]] = call @input_gradient(%arg0)
// CHECK-NEXT: %[[G1:.*]] = call @gradient(%[[D]])
// CHECK-NEXT: %[[S1:.*]] = coll.all_reduce sum %[[G1]] over #mesh ["batch"] reason "gradient of w1 is summed"
// CHECK-NEXT: plan.await %[[S2]] : tensor<4096xf32>
// CHECK-NEXT: call @update(%arg2, %[[S2]])
// CHECK-NEXT: plan.await %[[S1]]
// CHECK-NEXT: call @update(%arg1, %[[S1]])

// PLAN-LABEL: plan.program @backward
// PLAN: plan.launch @gradient
// PLAN-NEXT: %[[T2:.*]] = plan.start "all_reduce" #plan.combination<sum> (%[[B2:.*]]) to (%[[B2]])
// PLAN-NEXT: plan.launch @input_gradient
// PLAN-NEXT: plan.launch @gradient
// PLAN-NEXT: %[[T1:.*]] = plan.start
// PLAN-NEXT: plan.wait %[[T2]]
// PLAN-NEXT: plan.launch @update(%{{.*}}, %[[B2]],
// PLAN-NEXT: plan.wait %[[T1]]
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @backward(%d2: tensor<4096xf32>, %w1: tensor<4096xf32> {weft.donated = 0 : i64}, %w2: tensor<4096xf32> {weft.donated = 1 : i64}) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %g2 = call @gradient(%d2) : (tensor<4096xf32>) -> tensor<4096xf32>
    %d1 = call @input_gradient(%d2) : (tensor<4096xf32>) -> tensor<4096xf32>
    %g1 = call @gradient(%d1) : (tensor<4096xf32>) -> tensor<4096xf32>
    %s:2 = coll.all_reduce sum %g1, %g2 over #mesh ["batch"] reason "gradient of w1 is summed; gradient of w2 is summed" : tensor<4096xf32>, tensor<4096xf32>
    %n1 = call @update(%w1, %s#0) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %n2 = call @update(%w2, %s#1) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    return %n1, %n2 : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @gradient(tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @input_gradient(tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @update(tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<elementwise>}
}

// -----

// A weight is gathered while the layer before it is computed, if its memory fits
// beside the other gathered weight.
#mesh = #weft.mesh<"data"=4>

// CHECK-LABEL: func.func @gathered
// CHECK-NEXT: %[[A:.*]] = coll.all_gather %arg1
// CHECK-NEXT: %[[B:.*]] = coll.all_gather %arg2
// CHECK-NEXT: plan.await %[[A]]
// CHECK-NEXT: %[[X:.*]] = call @layer(%arg0, %[[A]])
// CHECK-NEXT: plan.await %[[B]]
// CHECK-NEXT: call @layer(%[[X]], %[[B]])
module attributes {weft.mesh = #mesh, weft.overlap = "on", weft.memory = 65536 : i64} {
  func.func @gathered(%x: tensor<64xf32>, %w1: tensor<1024xf32>, %w2: tensor<1024xf32>) -> tensor<64xf32> {
    %a = coll.all_gather %w1 dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %1 = call @layer(%x, %a) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
    %b = coll.all_gather %w2 dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %2 = call @layer(%1, %b) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
    return %2 : tensor<64xf32>
  }
  func.func private @layer(tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<dot>}
}

// -----

// Here a device has memory for one gathered weight, so that the second is
// gathered when the first has been used.
#mesh = #weft.mesh<"data"=4>

// CHECK-LABEL: func.func @memory
// CHECK-NEXT: coll.all_gather %arg1
// CHECK-NEXT: call @layer
// CHECK-NEXT: coll.all_gather %arg2
// CHECK-NEXT: call @layer
// CHECK-NEXT: return
module attributes {weft.mesh = #mesh, weft.overlap = "on", weft.memory = 30000 : i64} {
  func.func @memory(%x: tensor<64xf32>, %w1: tensor<1024xf32>, %w2: tensor<1024xf32>) -> tensor<64xf32> {
    %a = coll.all_gather %w1 dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %1 = call @layer(%x, %a) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
    %b = coll.all_gather %w2 dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %2 = call @layer(%1, %b) : (tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32>
    return %2 : tensor<64xf32>
  }
  func.func private @layer(tensor<64xf32>, tensor<4096xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<dot>}
}

// -----

// The new weight is written in the old one's memory, which a gather reads until
// the wait: the wait comes first, and nothing is copied.
#mesh = #weft.mesh<"data"=4>

// CHECK-LABEL: func.func @donated
// CHECK: %[[A:.*]] = coll.all_gather %arg0
// CHECK-NEXT: call @other
// CHECK-NEXT: plan.await %[[A]]
// CHECK-NEXT: call @update(%arg0

// PLAN-LABEL: plan.program @donated
// PLAN: %[[W:.*]] = plan.input "in/0"
// PLAN: plan.start "all_gather" {{.*}}(%[[W]])
// PLAN-NEXT: plan.launch @other
// PLAN-NEXT: plan.wait
// PLAN-NEXT: plan.launch @update(%[[W]], %{{.*}}, %[[W]])
// PLAN-NOT: plan.copy
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @donated(%w: tensor<1024xf32> {weft.donated = 0 : i64}, %x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<64xf32>) {
    %a = coll.all_gather %w dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %g = call @other(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
    %new = call @update(%w, %g) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    %y = call @use(%a) : (tensor<4096xf32>) -> tensor<64xf32>
    return %new, %y : tensor<1024xf32>, tensor<64xf32>
  }
  func.func private @other(tensor<1024xf32>) -> tensor<1024xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @update(%a: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<1024xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.sub %a, %b : tensor<1024xf32>
    return %0 : tensor<1024xf32>
  }
  func.func private @use(tensor<4096xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<general>}
}

// -----

// What a collective reads is live until the wait: the kernel meanwhile writes
// other memory.
#mesh = #weft.mesh<"data"=4>

// CHECK-LABEL: func.func @operand
// CHECK: %[[S:.*]] = coll.all_gather
// CHECK-NEXT: call @make
// CHECK-NEXT: plan.await %[[S]]

// PLAN-LABEL: plan.program @operand
// PLAN: %[[G:.*]] = plan.buffer offset [[AT:[0-9]+]] : memref<1024xf32>
// PLAN-NOT: plan.buffer offset [[AT]] : memref<1024xf32>
// PLAN: plan.launch @make(%{{.*}}, %[[G]])
// PLAN-NEXT: plan.start "all_gather" {{.*}}(%[[G]]) to
// PLAN-NEXT: plan.launch @make(
// PLAN-NEXT: plan.wait
module attributes {weft.mesh = #mesh, weft.overlap = "on", weft.memory = 65536 : i64} {
  func.func @operand(%x: tensor<1024xf32>) -> tensor<64xf32> {
    %g = call @make(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
    %s = coll.all_gather %g dim 0 over #mesh ["data"] : tensor<1024xf32> -> tensor<4096xf32>
    %u = call @make(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
    %y = call @join(%s, %u) : (tensor<4096xf32>, tensor<1024xf32>) -> tensor<64xf32>
    return %y : tensor<64xf32>
  }
  func.func private @make(tensor<1024xf32>) -> tensor<1024xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @join(tensor<4096xf32>, tensor<1024xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<general>}
}

// -----

// A sum that is used soon does not wait for the gradient that it was combined
// with, which is used behind the next sum.
#mesh = #weft.mesh<"batch"=4>

// CHECK-LABEL: func.func @soon
// CHECK: %[[SOON:.*]] = coll.all_reduce sum %arg1 over #mesh ["batch"] reason "statistics"
// CHECK: %[[LATE:.*]] = coll.all_reduce sum %arg0 over #mesh ["batch"] reason "gradient"
// CHECK: plan.await %[[SOON]]
// CHECK-NEXT: call @step(%[[SOON]])
// CHECK-NOT: plan.await %[[LATE]]
// CHECK: coll.all_reduce
// CHECK: plan.await %[[LATE]]
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @soon(%g: tensor<65536xf32>, %m: tensor<8xf32>) -> (tensor<65536xf32>, tensor<8xf32>) {
    %s:2 = coll.all_reduce sum %g, %m over #mesh ["batch"] reason "gradient; statistics" : tensor<65536xf32>, tensor<8xf32>
    %a = call @step(%s#1) : (tensor<8xf32>) -> tensor<8xf32>
    %b = coll.all_reduce sum %a over #mesh ["batch"] : tensor<8xf32>
    %n = call @update(%s#0) : (tensor<65536xf32>) -> tensor<65536xf32>
    return %n, %b : tensor<65536xf32>, tensor<8xf32>
  }
  func.func private @step(tensor<8xf32>) -> tensor<8xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @update(tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>}
}

// -----

// Ops that devices do once stay together, after the waits for all that they need.
#mesh = #weft.mesh<"batch"=4>
#shared = #weft.layout<#mesh, [{"batch"}]>

// PLAN-LABEL: plan.program @shared
// CHECK-LABEL: func.func @shared
// CHECK: %[[A:.*]] = coll.all_reduce
// CHECK-NEXT: call @gradient
// CHECK-NEXT: %[[B:.*]] = coll.all_reduce
// CHECK-NEXT: plan.await %[[A]]
// CHECK-NEXT: plan.await %[[B]]
// CHECK-NEXT: call @update(%arg1, %[[A]]) {plan.shared
// CHECK-NEXT: call @update(%arg2, %[[B]]) {plan.shared
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @shared(%d: tensor<4096xf32>, %w1: tensor<4096xf32> {plan.shared = #shared}, %w2: tensor<4096xf32> {plan.shared = #shared}) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %g1 = call @gradient(%d) : (tensor<4096xf32>) -> tensor<4096xf32>
    %g2 = call @gradient(%g1) : (tensor<4096xf32>) -> tensor<4096xf32>
    %s:2 = coll.all_reduce sum %g1, %g2 over #mesh ["batch"] {plan.shared = #shared} : tensor<4096xf32>, tensor<4096xf32>
    %n1 = call @update(%w1, %s#0) {plan.shared = #shared} : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %n2 = call @update(%w2, %s#1) {plan.shared = #shared} : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    return %n1, %n2 : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @gradient(tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @update(tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<elementwise>}
}

// -----

// The body of a loop is a piece of its own: nothing is under way at its end.
#mesh = #weft.mesh<"batch"=4>

// CHECK-LABEL: func.func @loop
// CHECK: do
// CHECK: %[[S:.*]] = coll.all_reduce
// CHECK-NEXT: call @step
// CHECK-NEXT: plan.await %[[S]]
// CHECK: weft.yield
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @loop(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %r:2 = weft.while (%x, %x) : (tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
      %go = func.call @more(%a) : (tensor<4096xf32>) -> tensor<i1>
      weft.condition %go(%a, %b) : tensor<i1>, tensor<4096xf32>, tensor<4096xf32>
    } do {
    ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
      %g = func.call @step(%a) : (tensor<4096xf32>) -> tensor<4096xf32>
      %s = coll.all_reduce sum %g over #mesh ["batch"] : tensor<4096xf32>
      %c = func.call @step(%b) : (tensor<4096xf32>) -> tensor<4096xf32>
      weft.yield %s, %c : tensor<4096xf32>, tensor<4096xf32>
    }
    return %r#0, %r#1 : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @more(tensor<4096xf32>) -> tensor<i1> attributes {weft.kernel = #weft.kernel<general>}
  func.func private @step(tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<general>}
}

// -----

// A part of the mesh is a piece of its own, and nothing is under way when devices
// jump over it.
#mesh = #weft.mesh<"branch"=2, "batch"=4>

// CHECK-LABEL: func.func @part
// CHECK: %[[T:.*]] = coll.all_reduce
// CHECK-NEXT: call @step
// CHECK-NEXT: plan.await %[[T]]
// CHECK-NEXT: weft.at
// CHECK: %[[S:.*]] = coll.all_reduce
// CHECK-NEXT: call @step
// CHECK-NEXT: plan.await %[[S]]
// CHECK: weft.yield
module attributes {weft.mesh = #mesh, weft.overlap = "on"} {
  func.func @part(%x: tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %t = coll.all_reduce sum %x over #mesh ["batch"] : tensor<4096xf32>
    %u = call @step(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    %r:2 = weft.at #mesh {"branch" = 0}(%x, %t) : (tensor<4096xf32>, tensor<4096xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
    ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
      %s = coll.all_reduce sum %a over #mesh ["batch"] : tensor<4096xf32>
      %c = func.call @step(%b) : (tensor<4096xf32>) -> tensor<4096xf32>
      weft.yield %s, %c : tensor<4096xf32>, tensor<4096xf32>
    }
    return %u, %t : tensor<4096xf32>, tensor<4096xf32>
  }
  func.func private @step(tensor<4096xf32>) -> tensor<4096xf32> attributes {weft.kernel = #weft.kernel<general>}
}
