// Every op reads back as it prints, in the pretty and in the generic form.
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt --mlir-print-op-generic %s | weft-opt | FileCheck %s

// CHECK: #[[$MESH:mesh]] = #weft.mesh<"data"=2, "model"=4>
#mesh = #weft.mesh<"data"=2, "model"=4>
#a = #weft.layout<#mesh, [{"data"}, {}]>
#b = #weft.layout<#mesh, [{}, {"data"}]>

// CHECK-LABEL: @stays
func.func @stays(%x: tensor<7xf32>) {
  // CHECK: coll.coordinate over #[[$MESH]] ["data", "model":(2)2] : tensor<i64>
  %0 = coll.coordinate over #mesh ["data", "model":(2)2] : tensor<i64>
  // CHECK: coll.slice %{{.*}} dim 0 over #[[$MESH]] ["model"] : tensor<7xf32> -> tensor<2xf32>
  %1 = coll.slice %x dim 0 over #mesh ["model"] : tensor<7xf32> -> tensor<2xf32>
  // CHECK: coll.make_partial sum %{{.*}} over #[[$MESH]] ["model"] reason "scatter" : tensor<7xf32>
  %2 = coll.make_partial sum %x over #mesh ["model"] reason "scatter" : tensor<7xf32>
  return
}

// CHECK-LABEL: @moves
func.func @moves(%x: tensor<8x10xf32>, %s: tensor<f32>, %h: tensor<8x16xf32>, %p: tensor<3x16xi64>) {
  // CHECK: coll.all_reduce sum %{{.*}} over #[[$MESH]] ["model"] reason "d2/output" : tensor<8x10xf32>
  %0 = coll.all_reduce sum %x over #mesh ["model"] reason "d2/output" : tensor<8x10xf32>
  // CHECK: coll.all_reduce max %{{.*}}, %{{.*}} over #[[$MESH]] ["data"] : tensor<8x10xf32>, tensor<f32>
  %1:2 = coll.all_reduce max %x, %s over #mesh ["data"] : tensor<8x10xf32>, tensor<f32>
  // CHECK: coll.all_gather %{{.*}} dim 1 over #[[$MESH]] ["model"] : tensor<8x10xf32> -> tensor<8x38xf32>
  %2 = coll.all_gather %x dim 1 over #mesh ["model"] : tensor<8x10xf32> -> tensor<8x38xf32>
  // CHECK: coll.reduce_scatter sum %{{.*}} dim 0 over #[[$MESH]] ["model"] : tensor<8x10xf32> -> tensor<2x10xf32>
  %3 = coll.reduce_scatter sum %x dim 0 over #mesh ["model"] : tensor<8x10xf32> -> tensor<2x10xf32>
  // CHECK: coll.all_to_all %{{.*}} split 0 concat 1 over #[[$MESH]] ["data"] : tensor<8x10xf32> -> tensor<4x20xf32>
  %4 = coll.all_to_all %x split 0 concat 1 over #mesh ["data"] : tensor<8x10xf32> -> tensor<4x20xf32>
  // CHECK: coll.permute %{{.*}} of [16, 16] from #[[A:layout.*]] to #[[A]] : tensor<8x16xf32> -> tensor<8x16xf32>
  %5 = coll.permute %h of [16, 16] from #a to #a : tensor<8x16xf32> -> tensor<8x16xf32>
  // CHECK: coll.exchange %{{.*}} of [16, 16] from #[[A]] to #{{layout.*}} reason "transpose" : tensor<8x16xf32> -> tensor<16x8xf32>
  %6 = coll.exchange %h of [16, 16] from #a to #b reason "transpose" : tensor<8x16xf32> -> tensor<16x8xf32>
  // CHECK: coll.move %{{.*}} of [16, 16] to [20, 16] boxes <[0:4, 0:16] of 0 at [d0 * -1 + 3, d1], [4:16, 0:16] of 0 at [d0, d1]> from #[[A]] to #[[A]] over #[[$MESH]] ["data"] reason "border" : tensor<8x16xf32> -> tensor<10x16xf32>
  %moved = coll.move %h of [16, 16] to [20, 16] boxes <[0:4, 0:16] of 0 at [d0 * -1 + 3, d1], [4:16, 0:16] of 0 at [d0, d1]> from #a to #a over #mesh ["data"] reason "border" : tensor<8x16xf32> -> tensor<10x16xf32>
  // CHECK: coll.move %{{.*}}, %{{.*}} of [16, 16] and [#weft.source<[4, 16] in #[[A]]>] to [20, 16] boxes <[0:4, 0:16] of 1 at [d0, d1], [4:16, 0:16] of 0 at [d0, d1]> from #[[A]] to #[[A]] over #[[$MESH]] ["data"] : tensor<8x16xf32>, tensor<2x16xf32> -> tensor<10x16xf32>
  %second = weft.constant dense<0.0> : tensor<2x16xf32>
  %both = coll.move %h, %second of [16, 16] and [#weft.source<[4, 16] in #a>] to [20, 16] boxes <[0:4, 0:16] of 1 at [d0, d1], [4:16, 0:16] of 0 at [d0, d1]> from #a to #a over #mesh ["data"] : tensor<8x16xf32>, tensor<2x16xf32> -> tensor<10x16xf32>
  // CHECK: coll.fetch %{{.*}} dim 0 of 16 at block 8 step 1 offset -1 divisor 1 modulus 0 over #[[$MESH]] ["data"] reason "halo" : tensor<8x16xf32> -> tensor<10x16xf32>
  %7 = coll.fetch %h dim 0 of 16 at block 8 step 1 offset -1 divisor 1 modulus 0 over #mesh ["data"] reason "halo" : tensor<8x16xf32> -> tensor<10x16xf32>
  // CHECK: coll.pick %{{.*}} at %{{.*}} dim 0 over #[[$MESH]] ["data"] reason "sort" : tensor<8x16xf32>, tensor<3x16xi64> -> tensor<3x16xf32>
  %8 = coll.pick %h at %p dim 0 over #mesh ["data"] reason "sort" : tensor<8x16xf32>, tensor<3x16xi64> -> tensor<3x16xf32>
  // CHECK: coll.collective_permute %{{.*}} sources [1, -1] over #[[$MESH]] ["data"] : tensor<8x16xf32> -> tensor<8x16xf32>
  %9 = coll.collective_permute %h sources [1, -1] over #mesh ["data"] : tensor<8x16xf32> -> tensor<8x16xf32>
  return
}
