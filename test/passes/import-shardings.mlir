// Annotations of upstream's shard dialect become Weft's.
// RUN: weft-opt --split-input-file --verify-diagnostics --weft-import-shardings %s | FileCheck %s

// CHECK-DAG: #[[MESH:.*]] = #weft.mesh<"axis0"=2, "axis1"=4>
// CHECK-DAG: #[[ROWS:.*]] = #weft.layout<#{{.*}}, [{"axis0"}, {}]>
// CHECK-DAG: #[[BOTH:.*]] = #weft.layout<#{{.*}}, [{}, {"axis1", "axis0"}]>
// CHECK: module attributes {weft.mesh = #[[MESH]]}
// CHECK-NOT: shard.
// CHECK: func.func @annotated(%arg0: tensor<8x16xf32> {weft.layout = #[[ROWS]]}, %arg1: tensor<8x16xf32>)
// CHECK: %[[A:.*]] = weft.constrain %arg0 to #[[ROWS]] reason "shard.shard"
// CHECK: %[[B:.*]] = weft.constrain %arg1 to #[[ROWS]]
// CHECK: %[[C:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: weft.constrain %[[C]] to #[[BOTH]]
shard.grid @grid(shape = 2x4)
func.func @annotated(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %rows = shard.sharding @grid split_axes = [[0]] : !shard.sharding
  %both = shard.sharding @grid split_axes = [[], [1, 0]] : !shard.sharding
  %0 = shard.shard %a to %rows : tensor<8x16xf32>
  %1 = shard.shard %b to %rows annotate_for_users : tensor<8x16xf32>
  %2 = arith.addf %0, %1 : tensor<8x16xf32>
  %3 = shard.shard %2 to %both : tensor<8x16xf32>
  return %3 : tensor<8x16xf32>
}

// -----

shard.grid @grid(shape = 2)
// expected-error @below {{this is a second shard.grid beside @grid; a module has one mesh}}
shard.grid @other(shape = 4)

// -----

// expected-error @below {{the shape of shard.grid @grid is known only at run time; give the number of devices}}
shard.grid @grid(shape = 2x?)

// -----

module attributes {weft.mesh = #weft.mesh<"x"=4>} {
  // expected-error @below {{the shape of shard.grid @grid is not that of the module's #weft.mesh<"x"=4>; leave one of them out}}
  shard.grid @grid(shape = 2)
}

// -----

shard.grid @grid(shape = 2)
func.func @halo(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{halo sizes and offsets of shards are not imported; leave them out: Weft receives the halos that ops need, from shards of equal size}}
  %s = shard.sharding @grid split_axes = [[0]] halo_sizes = [1, 1] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @rank(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{splits 2 dimensions of a tensor of rank 1}}
  %s = shard.sharding @grid split_axes = [[], [0]] : !shard.sharding
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @unknown(%a: tensor<8xf32>, %s: !shard.sharding) -> tensor<8xf32> {
  // expected-error @below {{the sharding is not known here; use the result of shard.sharding}}
  %0 = shard.shard %a to %s : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

shard.grid @grid(shape = 2)
func.func @collective(%a: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{is not imported; Weft reads shard.grid, shard.sharding and shard.shard}}
  %0 = shard.all_reduce %a on @grid grid_axes = [0] : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

module {
  module @inner {
    shard.grid @grid(shape = 2)
    func.func @nested(%a: tensor<8xf32>) -> tensor<8xf32> {
      // expected-error @below {{shard.grid @grid is not in the outermost module; move it there}}
      %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8xf32>
      return %0 : tensor<8xf32>
    }
  }
}
