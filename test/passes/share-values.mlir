// RUN: weft-opt %s --split-input-file --weft-share-values | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-share-values --weft-place-buffers | FileCheck %s --check-prefix=PLAN
// RUN: weft-opt %s --split-input-file --weft-share-values=target=cuda:sm_80 | FileCheck %s --check-prefix=GPU

// The sum over data is equal on all devices that differ along data, and so is
// what is computed of it and of a weight that is whole on these. They wait once
// for both launches. What they share has a place in shared memory, and one in the
// arena, where devices that share nothing sum in place.

// GPU-NOT: plan.shared

// CHECK: #[[DATA:layout[0-9]*]] = #weft.layout<#mesh, [{"data"}]>
#mesh = #weft.mesh<"data"=8, "model"=2>
#columns = #weft.layout<#mesh, [{}, {"model"}]>
#blocks = #weft.layout<#mesh, [{"data"}, {"model"}]>
module attributes {weft.mesh = #mesh} {
  // CHECK: func.func @step(%arg0: tensor<64x512xf32> {plan.shared = #[[DATA]], {{.*}}}, %arg1: tensor<8x64xf32> {weft.global_type{{.*}}}) -> (tensor<64x512xf32> {plan.shared = #[[DATA]]
  // CHECK-NOT: plan.shared
  // CHECK: call @dot
  // CHECK-NOT: plan.shared
  // CHECK: coll.all_reduce {{.*}}plan.shared = #[[DATA]]
  // CHECK: call @scale_64x512{{.*}}plan.shared = #[[DATA]]
  // CHECK: call @sub_64x512{{.*}}plan.shared = #[[DATA]]

  // PLAN: plan.program @step {{.*}} arena 262144
  // PLAN: %[[W:.*]] = plan.input "in/0" {{.*}}{plan.shared = #[[DATA:.*]]}
  // PLAN: %[[X:.*]] = plan.input "in/1"
  // PLAN: plan.output "out/0" {{.*}} taking %[[W]]
  // PLAN: %[[G:.*]] = plan.buffer offset 0 : memref<64x512xf32>
  // PLAN: %[[S:.*]] = plan.buffer offset 0 {plan.shared = #[[DATA]], plan.shared_offset = 0 : i64}
  // PLAN: %[[T:.*]] = plan.buffer offset 131072 {plan.shared = #[[DATA]], plan.shared_offset = 131072 : i64}
  // PLAN: plan.launch @dot(%[[X]], %[[G]]) :
  // PLAN-NEXT: plan.start "all_reduce" #plan.combination<sum> (%[[G]]) to (%[[S]])
  // PLAN-NEXT: plan.wait
  // PLAN-NEXT: plan.launch @scale_64x512(%[[S]], %[[T]]) {plan.shared = #[[DATA]]}
  // PLAN-NEXT: plan.launch @sub_64x512(%[[W]], %[[T]], %[[W]]) {plan.shared = #[[DATA]]}
  func.func @step(%w: tensor<64x512xf32> {weft.donated = 0 : i64, weft.layout = #columns, weft.global_type = tensor<64x1024xf32>},
                  %x: tensor<8x64xf32> {weft.layout = #blocks, weft.global_type = tensor<64x128xf32>}) -> (tensor<64x512xf32> {weft.layout = #columns, weft.global_type = tensor<64x1024xf32>}) {
    %0 = call @dot(%x) : (tensor<8x64xf32>) -> tensor<64x512xf32>
    %1 = coll.all_reduce sum %0 over #mesh ["data"] : tensor<64x512xf32>
    %2 = call @scale_64x512(%1) : (tensor<64x512xf32>) -> tensor<64x512xf32>
    %3 = call @sub_64x512(%w, %2) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
    return %3 : tensor<64x512xf32>
  }
  func.func private @dot(%a: tensor<8x64xf32>) -> tensor<64x512xf32> attributes {weft.kernel = #weft.kernel<general>} {
    %0 = weft.slice %a from [0, 0] to [1, 64] by [1, 1] : tensor<8x64xf32> -> tensor<1x64xf32>
    %row = weft.reshape %0 : tensor<1x64xf32> -> tensor<64xf32>
    %1 = weft.broadcast %row dims [0] : tensor<64xf32> -> tensor<64x512xf32>
    return %1 : tensor<64x512xf32>
  }
  func.func private @scale_64x512(%a: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<64x512xf32>
    return %0 : tensor<64x512xf32>
  }
  func.func private @sub_64x512(%a: tensor<64x512xf32>, %b: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.sub %a, %b : tensor<64x512xf32>
    return %0 : tensor<64x512xf32>
  }
}

// -----

// A launch that is shorter than the wait for all devices stays on each, and its
// donated argument with it; a collective's result and an argument that is only
// read are shared without a wait.

#mesh = #weft.mesh<"data"=8>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @short
  // CHECK-SAME: (%arg0: tensor<4xf32> {weft.donated = 0 : i64}, %arg1: tensor<4xf32> {plan.shared = #{{.*}}}) -> tensor<4xf32>
  // CHECK: coll.all_reduce {{.*}}plan.shared
  // CHECK-NEXT: call @sub_4(%arg0, %0) : (
  func.func @short(%w: tensor<4xf32> {weft.donated = 0 : i64}, %x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = coll.all_reduce sum %x over #mesh ["data"] : tensor<4xf32>
    %1 = call @sub_4(%w, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @sub_4(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.sub %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// What a kernel computes of its device's coordinate differs, although its
// operands are equal; so does what a loop computes as long as a value that
// differs says.

#mesh = #weft.mesh<"data"=8>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @coordinates
  // CHECK-SAME: -> (tensor<65536xf32>, tensor<65536xf32>) {
  // CHECK-NOT: plan.shared
  // CHECK: func.func private @place
  func.func @coordinates(%x: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
    %0 = call @place(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
    %mine = call @coordinate() : () -> tensor<i64>
    %1:2 = weft.while(%mine, %x) : (tensor<i64>, tensor<65536xf32>) -> (tensor<i64>, tensor<65536xf32>) {
    ^bb0(%i: tensor<i64>, %a: tensor<65536xf32>):
      %more = func.call @less(%i, %i) : (tensor<i64>, tensor<i64>) -> tensor<i1>
      weft.condition %more (%i, %a) : tensor<i1>, tensor<i64>, tensor<65536xf32>
    } do {
    ^bb0(%i: tensor<i64>, %a: tensor<65536xf32>):
      %j = func.call @next(%i) : (tensor<i64>) -> tensor<i64>
      weft.yield %j, %a : tensor<i64>, tensor<65536xf32>
    }
    %2 = call @double(%1#1) : (tensor<65536xf32>) -> tensor<65536xf32>
    return %0, %2 : tensor<65536xf32>, tensor<65536xf32>
  }
  func.func private @place(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<general>} {
    %0 = coll.make_partial sum %a over #mesh ["data"] : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
  func.func private @coordinate() -> tensor<i64> attributes {weft.kernel = #weft.kernel<general>} {
    %0 = coll.coordinate over #mesh ["data"] : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @less(%a: tensor<i64>, %b: tensor<i64>) -> tensor<i1> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.compare lt %a, %b : tensor<i64>, tensor<i64> -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @next(%a: tensor<i64>) -> tensor<i64> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<i64>
    return %0 : tensor<i64>
  }
  func.func private @double(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
}

// -----

// A result that is split although its value is equal on all devices is in memory
// of each, as its donated argument is, whose shards differ.

#mesh = #weft.mesh<"data"=8>
#rows = #weft.layout<#mesh, [{"data"}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @split
  // CHECK-SAME: (%arg0: tensor<65536xf32> {weft.donated = 0 : i64, {{[^}]*}}}, %arg1: tensor<65536xf32> {plan.shared = {{.*}}}) -> (tensor<65536xf32> {weft.global_type = tensor<524288xf32>, weft.layout = #{{[^}]*}}})
  // CHECK: call @double(%arg1) {plan.shared
  // PLAN-LABEL: plan.program @split
  // PLAN: %[[S:.*]] = plan.buffer offset 0 {plan.shared
  // PLAN-NEXT: plan.launch @double(%{{.*}}, %[[S]]) {plan.shared
  // PLAN-NEXT: plan.copy %[[S]] to %0 : memref<65536xf32>
  func.func @split(%w: tensor<65536xf32> {weft.donated = 0 : i64, weft.layout = #rows, weft.global_type = tensor<524288xf32>}, %x: tensor<65536xf32>) -> (tensor<65536xf32> {weft.layout = #rows, weft.global_type = tensor<524288xf32>}) {
    %0 = call @double(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
  func.func private @double(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
}

// -----

// A program with a port on a part of the mesh shares nothing: its devices do not
// all have the same values.

#mesh = #weft.mesh<"data"=8, "branch"=2>
#left = #weft.layout<#mesh, [{}], at = {"branch" = 0}>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @port_on_part
  // CHECK-NOT: plan.shared
  // CHECK: func.func private @double
  func.func @port_on_part(%w: tensor<65536xf32> {weft.layout = #left, weft.global_type = tensor<65536xf32>}, %x: tensor<65536xf32>) -> tensor<65536xf32> {
    %0 = call @double(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
  func.func private @double(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
}

// -----

// So does one of which a region runs on a part.

#mesh = #weft.mesh<"data"=8, "branch"=2>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @region_on_part
  // CHECK-NOT: plan.shared
  // CHECK: func.func private @double
  func.func @region_on_part(%x: tensor<65536xf32>) -> tensor<65536xf32> {
    %0 = call @double(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
    %1 = weft.at #mesh {"branch" = 0} (%x) : (tensor<65536xf32>) -> tensor<65536xf32> {
    ^bb0(%a: tensor<65536xf32>):
      %2 = func.call @double(%a) : (tensor<65536xf32>) -> tensor<65536xf32>
      weft.yield %2 : tensor<65536xf32>
    }
    return %0 : tensor<65536xf32>
  }
  func.func private @double(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
}

// -----

// So does one that only moves a value to a part and back.

#mesh = #weft.mesh<"data"=8, "branch"=2>
#left = #weft.layout<#mesh, [{}], at = {"branch" = 0}>
#whole = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @moved_to_part
  // CHECK-NOT: plan.shared
  // CHECK: func.func private @double
  func.func @moved_to_part(%x: tensor<65536xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
    %0 = call @double(%x) : (tensor<65536xf32>) -> tensor<65536xf32>
    %1 = coll.exchange %x of [65536] from #whole to #left : tensor<65536xf32> -> tensor<65536xf32>
    %2 = coll.exchange %1 of [65536] from #left to #whole : tensor<65536xf32> -> tensor<65536xf32>
    return %0, %2 : tensor<65536xf32>, tensor<65536xf32>
  }
  func.func private @double(%a: tensor<65536xf32>) -> tensor<65536xf32> attributes {weft.kernel = #weft.kernel<elementwise>} {
    %0 = weft.add %a, %a : tensor<65536xf32>
    return %0 : tensor<65536xf32>
  }
}
