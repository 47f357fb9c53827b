// Products of gathered operands, and products whose results are reduced and
// scattered, are computed block by block while the blocks travel around.
// RUN: weft-opt %s --split-input-file --weft-form-rings | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-form-rings --verify-each

// Three devices: the own block, then those of both neighbours. Each gives columns
// of the result.
#mesh = #weft.mesh<"x"=3>

// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[Q:.*]]: tensor<4x8xf32>, %[[K:.*]]: tensor<2x8xf32>)
// CHECK: %[[OWN:.*]] = weft.mul %{{.*}}, %{{.*}} : tensor<i64>
// CHECK: %[[UP:.*]] = coll.collective_permute %[[K]] sources [1, 2, 0] over #mesh ["x"] reason "k is gathered, a block at a time"
// CHECK: %[[UPAT:.*]] = weft.rem
// CHECK: %[[DOWN:.*]] = coll.collective_permute %[[K]] sources [2, 0, 1]
// CHECK: %[[DOWNAT:.*]] = weft.rem
// CHECK: %[[D0:.*]] = weft.dot %[[Q]], %[[K]] contract [1] x [1] : tensor<4x8xf32>, tensor<2x8xf32> -> tensor<4x2xf32>
// CHECK: %[[R0:.*]] = weft.dynamic_update_slice %{{.*}}, %[[D0]] at(%{{.*}}, %[[OWN]])
// CHECK: %[[D1:.*]] = weft.dot %[[Q]], %[[UP]]
// CHECK: %[[R1:.*]] = weft.dynamic_update_slice %[[R0]], %[[D1]] at(%{{.*}}, %[[UPAT]])
// CHECK: %[[D2:.*]] = weft.dot %[[Q]], %[[DOWN]]
// CHECK: %[[R2:.*]] = weft.dynamic_update_slice %[[R1]], %[[D2]] at(%{{.*}}, %[[DOWNAT]])
// CHECK-NOT: coll.all_gather
// CHECK: return %[[R2]]
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @columns(%q: tensor<4x8xf32>, %k: tensor<2x8xf32>) -> tensor<4x6xf32> {
    %g = coll.all_gather %k dim 0 over #mesh ["x"] reason "k is gathered" : tensor<2x8xf32> -> tensor<6x8xf32>
    %s = weft.dot %q, %g contract [1] x [1] : tensor<4x8xf32>, tensor<6x8xf32> -> tensor<4x6xf32>
    return %s : tensor<4x6xf32>
  }
}

// -----

// Seven devices: one loop for the blocks between the first and the last. The
// gathered dimension is contracted: sums of bf16 are f32 until the end, and
// positions that a mask compares are computed for each block.
#mesh = #weft.mesh<"x"=7>
#rows = #weft.layout<#mesh, [{"x"}, {}]>

// CHECK-LABEL: func.func @sums
// CHECK: weft.dot %{{.*}}, %{{.*}} contract [1] x [0] : tensor<4x2xbf16>, tensor<2x8xbf16> -> tensor<4x8xf32>
// CHECK: weft.for 2(
// CHECK: coll.collective_permute %{{.*}} sources [1, 2, 3, 4, 5, 6, 0]
// CHECK: coll.collective_permute %{{.*}} sources [6, 0, 1, 2, 3, 4, 5]
// CHECK: weft.iota dim 1 offset %{{.*}} : (tensor<i64>) -> tensor<4x2xbf16>
// CHECK: %[[P:.*]] = weft.dot {{.*}} -> tensor<4x8xf32>
// CHECK: weft.add %{{.*}}, %[[P]] : tensor<4x8xf32>
// CHECK: %[[END:.*]] = weft.convert %{{.*}} : tensor<4x8xf32> -> tensor<4x8xbf16>
// CHECK: return %[[END]]
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @sums(%w: tensor<2x8xbf16> {weft.layout = #rows, weft.global_type = tensor<14x8xbf16>}) -> tensor<4x8xbf16> {
    %c = coll.coordinate over #mesh ["x"] : tensor<i64>
    %i = weft.iota dim 0 offset %c : (tensor<i64>) -> tensor<4x14xbf16>
    %j = weft.iota dim 1 : tensor<4x14xbf16>
    %y = weft.mul %i, %j : tensor<4x14xbf16>
    %g = coll.all_gather %w dim 0 over #mesh ["x"] : tensor<2x8xbf16> -> tensor<14x8xbf16>
    %s = weft.dot %y, %g contract [1] x [0] : tensor<4x14xbf16>, tensor<14x8xbf16> -> tensor<4x8xbf16>
    return %s : tensor<4x8xbf16>
  }
}

// -----

// Sums of blocks are passed on. What arrives is added by a kernel of its own, so
// that the product does not wait for it.
#mesh = #weft.mesh<"x"=2>

// CHECK-LABEL: func.func @scattered
// CHECK: %[[FAR:.*]] = weft.dot {{.*}} : tensor<2x6xf32>, tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK: %[[BIASED:.*]] = weft.relu %[[FAR]]
// CHECK: %[[SENT:.*]] = coll.collective_permute %[[BIASED]] sources [1, 0]
// CHECK: %[[OWN:.*]] = weft.dot {{.*}} : tensor<2x6xf32>, tensor<6x4xf32> -> tensor<2x4xf32>
// CHECK: %[[MINE:.*]] = weft.relu %[[OWN]]
// CHECK: %[[SUM:.*]] = weft.add %[[SENT]], %[[MINE]] {weft.apart = array<i64: 1>}
// CHECK: return %[[SUM]]
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @scattered(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>) -> tensor<2x4xf32> {
    %y = weft.dot %x, %w contract [1] x [0] : tensor<4x6xf32>, tensor<6x4xf32> -> tensor<4x4xf32>
    %z = weft.relu %y : tensor<4x4xf32>
    %s = coll.reduce_scatter sum %z dim 0 over #mesh ["x"] : tensor<4x4xf32> -> tensor<2x4xf32>
    return %s : tensor<2x4xf32>
  }
}

// -----

// Attention is one ring: keys and values travel, no device has a row's scores.
#mesh = #weft.mesh<"x"=2>
#rows = #weft.layout<#mesh, [{"x"}, {}]>

// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<4x8xf32> {{.*}}, %[[K:[^:]*]]: tensor<4x8xf32> {{.*}}, %[[V:[^:]*]]: tensor<4x5xf32> {{.*}})
// CHECK: %[[K1:.*]] = coll.collective_permute %[[K]] sources [1, 0] over #mesh ["x"] reason "keys, a block at a time"
// CHECK: %[[V1:.*]] = coll.collective_permute %[[V]] sources [1, 0] over #mesh ["x"] reason "values, a block at a time"
// CHECK: %[[S:.*]] = weft.dot %[[Q]], %[[K]]
// CHECK: %[[M:.*]] = weft.reduce max %[[S]] dims [1] : tensor<4x4xf32> -> tensor<4xf32>
// CHECK: %[[E:.*]] = weft.exp
// CHECK: %[[L:.*]] = weft.reduce sum %[[E]] dims [1]
// CHECK: %[[O:.*]] = weft.dot %[[E]], %[[V]]
// CHECK: %[[S1:.*]] = weft.dot %[[Q]], %[[K1]]
// CHECK: %[[M1:.*]] = weft.reduce max %[[S1]] dims [1]
// CHECK: weft.max %[[M]], %[[M1]]
// CHECK: %[[E1:.*]] = weft.exp
// CHECK: %[[L1:.*]] = weft.reduce sum %[[E1]]
// CHECK: %[[O1:.*]] = weft.dot %[[E1]], %[[V1]]
// CHECK: %[[C:.*]] = weft.select
// CHECK: %[[CO:.*]] = weft.broadcast %[[C]] dims [0] : tensor<4xf32> -> tensor<4x5xf32>
// CHECK: %[[LC:.*]] = weft.mul %[[L]], %[[C]]
// CHECK: %[[LN:.*]] = weft.add %[[LC]], %[[L1]]
// CHECK: %[[OC:.*]] = weft.mul %[[O]], %[[CO]]
// CHECK: %[[ON:.*]] = weft.add %[[OC]], %[[O1]]
// CHECK: %[[LO:.*]] = weft.broadcast %[[LN]] dims [0]
// CHECK: weft.div %[[ON]], %[[LO]]
// CHECK-NOT: tensor<4x8xf32>, tensor<8x
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @attention(%q: tensor<4x8xf32> {weft.layout = #rows, weft.global_type = tensor<8x8xf32>}, %k: tensor<4x8xf32> {weft.layout = #rows, weft.global_type = tensor<8x8xf32>}, %v: tensor<4x5xf32> {weft.layout = #rows, weft.global_type = tensor<8x5xf32>}) -> tensor<4x5xf32> {
    %g = coll.all_gather %k dim 0 over #mesh ["x"] reason "keys" : tensor<4x8xf32> -> tensor<8x8xf32>
    %s = weft.dot %q, %g contract [1] x [1] : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
    %m = weft.reduce max %s dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    %mb = weft.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x8xf32>
    %d = weft.sub %s, %mb : tensor<4x8xf32>
    %e = weft.exp %d : tensor<4x8xf32>
    %l = weft.reduce sum %e dims [1] : tensor<4x8xf32> -> tensor<4xf32>
    %lb = weft.broadcast %l dims [0] : tensor<4xf32> -> tensor<4x8xf32>
    %p = weft.div %e, %lb : tensor<4x8xf32>
    %h = coll.all_gather %v dim 0 over #mesh ["x"] reason "values" : tensor<4x5xf32> -> tensor<8x5xf32>
    %o = weft.dot %p, %h contract [1] x [0] : tensor<4x8xf32>, tensor<8x5xf32> -> tensor<4x5xf32>
    return %o : tensor<4x5xf32>
  }
}

// -----

// Left as they are: a gather that another op reads as a whole, a sum of which all
// devices have equal bits, blocks of unequal size, another kind of reduction.
#mesh = #weft.mesh<"x"=3>

// CHECK-LABEL: func.func @left
// CHECK-COUNT-3: coll.all_gather
// CHECK: coll.reduce_scatter max
// CHECK-NOT: coll.collective_permute
#whole = #weft.layout<#mesh, [{}, {}]>
#cols = #weft.layout<#mesh, [{"x"}, {}]>
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @left(%q: tensor<4x6xf32> {weft.layout = #whole, weft.global_type = tensor<4x6xf32>}, %k: tensor<2x6xf32> {weft.layout = #cols, weft.global_type = tensor<6x6xf32>}, %u: tensor<2x6xf32> {weft.layout = #cols, weft.global_type = tensor<5x6xf32>}) -> (tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<4x5xf32>, tensor<2x6xf32>) {
    %g = coll.all_gather %k dim 0 over #mesh ["x"] : tensor<2x6xf32> -> tensor<6x6xf32>
    %s = weft.dot %q, %g contract [1] x [1] : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
    %c = weft.neg %k : tensor<2x6xf32>
    %h = coll.all_gather %c dim 0 over #mesh ["x"] : tensor<2x6xf32> -> tensor<6x6xf32>
    %t = weft.dot %q, %h contract [1] x [0] : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
    %i = coll.all_gather %u dim 0 over #mesh ["x"] : tensor<2x6xf32> -> tensor<5x6xf32>
    %v = weft.dot %q, %i contract [1] x [1] : tensor<4x6xf32>, tensor<5x6xf32> -> tensor<4x5xf32>
    %w = weft.dot %g, %g contract [1] x [0] : tensor<6x6xf32>, tensor<6x6xf32> -> tensor<6x6xf32>
    %r = coll.reduce_scatter max %w dim 0 over #mesh ["x"] : tensor<6x6xf32> -> tensor<2x6xf32>
    return %s, %g, %t, %v, %r : tensor<4x6xf32>, tensor<6x6xf32>, tensor<4x6xf32>, tensor<4x5xf32>, tensor<2x6xf32>
  }
}

// -----

// A product that needs what another one gives of all blocks is none of the same
// ring: weights that are used twice in a row.
#mesh = #weft.mesh<"x"=2>
#rows = #weft.layout<#mesh, [{"x"}, {}]>

// CHECK-LABEL: func.func @sums_in_a_row
// CHECK: coll.all_gather
// CHECK-NOT: coll.collective_permute
// CHECK-LABEL: func.func @parts_in_a_row
// CHECK: coll.all_gather
// CHECK-NOT: coll.collective_permute
module attributes {weft.mesh = #mesh, weft.rings = "on"} {
  func.func @sums_in_a_row(%x: tensor<3x8xf32> {weft.layout = #rows, weft.global_type = tensor<6x8xf32>}, %w: tensor<4x8xf32> {weft.layout = #rows, weft.global_type = tensor<8x8xf32>}) -> tensor<3x8xf32> {
    %g = coll.all_gather %w dim 0 over #mesh ["x"] : tensor<4x8xf32> -> tensor<8x8xf32>
    %a = weft.dot %x, %g contract [1] x [0] : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
    %b = weft.dot %a, %g contract [1] x [1] : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
    return %b : tensor<3x8xf32>
  }
  func.func @parts_in_a_row(%x: tensor<3x8xf32> {weft.layout = #rows, weft.global_type = tensor<6x8xf32>}, %w: tensor<4x8xf32> {weft.layout = #rows, weft.global_type = tensor<8x8xf32>}) -> tensor<3x8xf32> {
    %g = coll.all_gather %w dim 0 over #mesh ["x"] : tensor<4x8xf32> -> tensor<8x8xf32>
    %a = weft.dot %x, %g contract [1] x [1] : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
    %b = weft.dot %a, %g contract [1] x [1] : tensor<3x8xf32>, tensor<8x8xf32> -> tensor<3x8xf32>
    return %b : tensor<3x8xf32>
  }
}
