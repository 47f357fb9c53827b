// A data-parallel train step ends as one all-reduce: both gradients and the loss.
// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts --weft-partition --weft-combine-all-reduces | FileCheck %s

#mesh = #weft.mesh<"batch"=8>
#rep1 = #weft.layout<#mesh, [{}]>
#rep2 = #weft.layout<#mesh, [{}, {}]>
#bat = #weft.layout<#mesh, [{"batch"}, {}]>
module attributes {weft.mesh = #mesh} {
  func.func @train(
      %w1: tensor<784x200xf32> {weft.name = "d1/kernel", weft.role = "weight", weft.donated = 0 : i64, weft.layout = #rep2},
      %w2: tensor<200x10xf32> {weft.name = "d2/kernel", weft.role = "weight", weft.donated = 1 : i64, weft.layout = #rep2},
      %m1: tensor<784x200xf32> {weft.name = "m/d1/kernel", weft.role = "slot", weft.donated = 2 : i64, weft.layout = #rep2},
      %x: tensor<16x784xf32> {weft.name = "x", weft.role = "input", weft.layout = #bat},
      %y: tensor<16x10xf32> {weft.name = "y", weft.role = "label", weft.layout = #bat})
      -> (tensor<784x200xf32> {weft.name = "d1/kernel"}, tensor<200x10xf32> {weft.name = "d2/kernel"}, tensor<784x200xf32> {weft.name = "m/d1/kernel"}, tensor<f32> {weft.name = "metrics/loss"}) {
    %zero = weft.constant dense<0.0> : tensor<16x200xf32>
    %lr = weft.constant dense<0.1> : tensor<f32>
    %lr1 = weft.broadcast %lr dims [] : tensor<f32> -> tensor<784x200xf32>
    %lr2 = weft.broadcast %lr dims [] : tensor<f32> -> tensor<200x10xf32>
    %n = weft.constant dense<160.0> : tensor<f32>
    %0 = weft.dot %x, %w1 contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32> loc("d1")
    %1 = weft.relu %0 : tensor<16x200xf32> loc("d1")
    %2 = weft.dot %1, %w2 contract [1] x [0] : tensor<16x200xf32>, tensor<200x10xf32> -> tensor<16x10xf32> loc("d2")
    %d = weft.sub %2, %y : tensor<16x10xf32>
    %sq = weft.mul %d, %d : tensor<16x10xf32>
    %s = weft.reduce sum %sq dims [0, 1] : tensor<16x10xf32> -> tensor<f32>
    %loss = weft.div %s, %n : tensor<f32>
    %g2 = weft.dot %1, %d contract [0] x [0] : tensor<16x200xf32>, tensor<16x10xf32> -> tensor<200x10xf32> loc("d2")
    %u2 = weft.mul %g2, %lr2 : tensor<200x10xf32>
    %w2n = weft.sub %w2, %u2 : tensor<200x10xf32>
    %dh = weft.dot %d, %w2 contract [1] x [1] : tensor<16x10xf32>, tensor<200x10xf32> -> tensor<16x200xf32> loc("d2")
    %p = weft.compare gt %0, %zero : tensor<16x200xf32>, tensor<16x200xf32> -> tensor<16x200xi1>
    %dr = weft.select %p, %dh, %zero : tensor<16x200xi1>, tensor<16x200xf32>, tensor<16x200xf32> -> tensor<16x200xf32>
    %g1 = weft.dot %x, %dr contract [0] x [0] : tensor<16x784xf32>, tensor<16x200xf32> -> tensor<784x200xf32> loc("d1")
    %m1n = weft.add %m1, %g1 : tensor<784x200xf32>
    %u1 = weft.mul %m1n, %lr1 : tensor<784x200xf32>
    %w1n = weft.sub %w1, %u1 : tensor<784x200xf32>
    return %w1n, %w2n, %m1n, %loss : tensor<784x200xf32>, tensor<200x10xf32>, tensor<784x200xf32>, tensor<f32>
  }
}

// CHECK-LABEL: func.func @train
// CHECK-SAME: %arg3: tensor<2x784xf32> {weft.global_type = tensor<16x784xf32>
// CHECK: %[[ALL:.+]]:3 = coll.all_reduce sum {{.*}} over #mesh ["batch"]
// CHECK-SAME: metrics/loss is summed
// CHECK-SAME: gradient of d2/kernel is summed
// CHECK-SAME: gradient of d1/kernel is summed
// CHECK-NOT: coll.
// CHECK: return
