// Axes that weft.manual leaves free shard the values inside it: layouts cross its border behind the axes that it names.
// RUN: split-file %s %t
// RUN: weft-opt %t/product.mlir --weft-propagate-layouts --weft-verify-layouts | FileCheck %s --check-prefix=LAID
// RUN: weft-opt %t/product.mlir --weft-propagate-layouts --weft-partition | FileCheck %s --check-prefix=PARTS
// RUN: weft-opt %t/exchange.mlir --weft-propagate-layouts --weft-partition | FileCheck %s --check-prefix=MOVES
// RUN: weft-opt %t/uneven.mlir --weft-propagate-layouts --weft-partition | FileCheck %s --check-prefix=UNEVEN
// RUN: weft-opt %t/collectives.mlir --weft-propagate-layouts --weft-partition | FileCheck %s --check-prefix=COLL
// RUN: weft-opt %t/price.mlir --weft-propagate-layouts --weft-sink-reshards --weft-partition | FileCheck %s --check-prefix=PRICE
// RUN: weft-opt %t/sums.mlir --weft-propagate-layouts --weft-sink-reshards --weft-merge-reshards --weft-verify-layouts --weft-partition | FileCheck %s --check-prefix=SUMS
// RUN: not weft-opt %t/bound.mlir --weft-propagate-layouts 2>&1 | FileCheck %s --check-prefix=BOUND

//--- product.mlir
#mesh = #weft.mesh<"x"=2, "y"=4>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
#columns = #weft.layout<#mesh, [{}, {"y"}]>
module attributes {weft.mesh = #mesh} {
  // The weight's "y" reaches the product inside, and the region's result.
  // LAID: func.func @f(%{{.*}}: tensor<8x16xf32, #[[ROWS:.*]]> {{.*}}, %{{.*}}: tensor<16x32xf32, #[[COLUMNS:.*]]> {{.*}}) -> tensor<8x32xf32, #[[BOTH:.*]]>
  // LAID: ^bb0(%{{.*}}: tensor<4x16xf32, #[[WHOLE:.*]]>, %{{.*}}: tensor<16x32xf32, #[[COLUMNS]]>)
  // LAID: weft.yield %{{.*}} : tensor<4x32xf32, #[[COLUMNS]]>
  // PARTS: func.func @f(%{{.*}}: tensor<4x16xf32> {{.*}}, %{{.*}}: tensor<16x8xf32> {{.*}}) -> (tensor<4x8xf32>
  // PARTS-NOT: coll.
  // PARTS: weft.dot {{.*}} -> tensor<4x8xf32>
  // PARTS: coll.all_reduce sum %{{.*}} over #{{.*}} ["x"]{{.*}} : tensor<4x8xf32>
  // PARTS-NOT: coll.
  // PARTS: return
  func.func @f(%v: tensor<8x16xf32> {weft.layout = #rows}, %w: tensor<16x32xf32> {weft.layout = #columns}) -> tensor<8x32xf32> {
    %0 = weft.manual(%v, %w) from [#rows, #whole] to [#rows] free ["y"] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<16x32xf32>):
      %1 = weft.dot %a, %b contract [1] x [0] : tensor<4x16xf32>, tensor<16x32xf32> -> tensor<4x32xf32>
      %2 = coll.all_reduce sum %1 over #mesh ["x"] : tensor<4x32xf32>
      weft.yield %2 : tensor<4x32xf32>
    }
    return %0 : tensor<8x32xf32>
  }
}

//--- exchange.mlir
#mesh = #weft.mesh<"x"=2, "y"=2, "z"=2>
#x = #weft.layout<#mesh, [{"x"}, {}]>
#yz = #weft.layout<#mesh, [{"y", "z"}, {}]>
#zy = #weft.layout<#mesh, [{"z", "y"}, {}]>
module attributes {weft.mesh = #mesh} {
  // Devices that differ along "x" hold no copies: each block moves within its x.
  // MOVES: coll.permute {{.*}} of [2, 4, 16] from #{{.*}} to #{{.*}} : tensor<1x1x16xf32> -> tensor<1x1x16xf32>
  func.func @f(%v: tensor<8x16xf32> {weft.layout = #x}) -> tensor<8x16xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y", "z"] : (tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%a: tensor<4x16xf32>):
      %1 = weft.constrain %a to #yz : tensor<4x16xf32> -> tensor<4x16xf32>
      %2 = weft.sin %1 : tensor<4x16xf32>
      %3 = weft.constrain %2 to #zy : tensor<4x16xf32> -> tensor<4x16xf32>
      %4 = weft.sin %3 : tensor<4x16xf32>
      weft.yield %4 : tensor<4x16xf32>
    }
    return %0 : tensor<8x16xf32>
  }
}

//--- uneven.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
#y = #weft.layout<#mesh, [{"y"}]>
module attributes {weft.mesh = #mesh} {
  // Three rows of a block are not even over "y", so they are sliced and gathered inside the region.
  // UNEVEN: coll.slice %{{.*}} dim 0 over #{{.*}} ["y"]{{.*}} : tensor<3xf32> -> tensor<2xf32>
  // UNEVEN: weft.sin {{.*}}tensor<2xf32>
  // UNEVEN: coll.all_gather %{{.*}} dim 0 over #{{.*}} ["y"]{{.*}} : tensor<2xf32> -> tensor<3xf32>
  func.func @f(%v: tensor<6xf32> {weft.layout = #x}) -> tensor<6xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<6xf32>) -> tensor<6xf32> {
    ^bb0(%a: tensor<3xf32>):
      %1 = weft.constrain %a to #y : tensor<3xf32> -> tensor<3xf32>
      %2 = weft.sin %1 : tensor<3xf32>
      weft.yield %2 : tensor<3xf32>
    }
    return %0 : tensor<6xf32>
  }
}

//--- collectives.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}, {}]>
#xy = #weft.layout<#mesh, [{"x"}, {"y"}]>
module attributes {weft.mesh = #mesh} {
  // A collective works on shards of the dimensions that it leaves alone, and on the whole of those that it cuts or joins.
  // COLL: coll.all_gather %{{.*}} dim 0 over #{{.*}} ["x"] : tensor<4x8xf32> -> tensor<8x8xf32>
  // COLL: coll.reduce_scatter sum %{{.*}} dim 0 over #{{.*}} ["x"] : tensor<8x8xf32> -> tensor<4x8xf32>
  // COLL: coll.collective_permute %{{.*}} sources [1, 0] over #{{.*}} ["x"] : tensor<4x8xf32> -> tensor<4x8xf32>
  // COLL: coll.all_gather %{{.*}} dim 1 over #{{.*}} ["y"] {{.*}} : tensor<4x8xf32> -> tensor<4x16xf32>
  // COLL: coll.all_to_all %{{.*}} split 1 concat 0 over #{{.*}} ["x"] : tensor<4x16xf32> -> tensor<8x8xf32>
  func.func @f(%v: tensor<8x16xf32> {weft.layout = #xy}) -> tensor<16x8xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<8x16xf32>) -> tensor<16x8xf32> {
    ^bb0(%a: tensor<4x16xf32>):
      %1 = coll.all_gather %a dim 0 over #mesh ["x"] : tensor<4x16xf32> -> tensor<8x16xf32>
      %2 = coll.reduce_scatter sum %1 dim 0 over #mesh ["x"] : tensor<8x16xf32> -> tensor<4x16xf32>
      %3 = coll.collective_permute %2 sources [1, 0] over #mesh ["x"] : tensor<4x16xf32> -> tensor<4x16xf32>
      %4 = coll.all_to_all %3 split 1 concat 0 over #mesh ["x"] : tensor<4x16xf32> -> tensor<8x8xf32>
      weft.yield %4 : tensor<8x8xf32>
    }
    return %0 : tensor<16x8xf32>
  }
}

//--- price.mlir
#mesh = #weft.mesh<"x"=4, "y"=3, "z"=2, "w"=3, bandwidth = [1.0e11, 1.0e11, 1.0e9, 1.0e11]>
#x = #weft.layout<#mesh, [{"x"}, {}, {}]>
#cut = #weft.layout<#mesh, [{}, {"y", "z"}, {"w"}]>
#whole = #weft.layout<#mesh, [{}, {}, {}]>
module attributes {weft.mesh = #mesh} {
  // Among the 18 devices of a region uneven shards may be exchanged in the middle of a way, among 72 not (that would take the planner
  // too long). At the price of all 72 the slice came first, with two fetches and 14 x 7 x 4 floats gathered over the slow "z".
  // PRICE-NOT: coll.fetch
  // PRICE: coll.all_gather %{{.*}} dim 1 over #{{.*}} ["z"]{{.*}} : tensor<15x2x3xf32> -> tensor<15x4x3xf32>
  // PRICE: coll.exchange %{{.*}} of [4, 15, 10, 7] {{.*}} : tensor<1x15x4x3xf32> -> tensor<1x5x10x7xf32>
  // PRICE-NOT: coll.
  // PRICE: weft.slice %{{.*}} -> tensor<5x7x4xf32>
  // PRICE: coll.all_gather %{{.*}} dim 0 over #{{.*}} ["y"]{{.*}} : tensor<5x7x4xf32> -> tensor<14x7x4xf32>
  // PRICE-NOT: coll.
  func.func @f(%v: tensor<60x10x7xf32> {weft.layout = #x}) -> tensor<56x7x4xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y", "z", "w"] : (tensor<60x10x7xf32>) -> tensor<56x7x4xf32> {
    ^bb0(%p: tensor<15x10x7xf32>):
      %1 = weft.constrain %p to #cut : tensor<15x10x7xf32> -> tensor<15x10x7xf32>
      %2 = weft.sin %1 : tensor<15x10x7xf32>
      %3 = weft.constrain %2 to #whole : tensor<15x10x7xf32> -> tensor<15x10x7xf32>
      %4 = weft.slice %3 from [0, 0, 0] to [14, 7, 4] by [1, 1, 1] : tensor<15x10x7xf32> -> tensor<14x7x4xf32>
      weft.yield %4 : tensor<14x7x4xf32>
    }
    return %0 : tensor<56x7x4xf32>
  }
}

//--- sums.mlir
#mesh = #weft.mesh<"x"=2, "y"=4>
#xy = #weft.layout<#mesh, [{"x"}, {"y"}]>
#x = #weft.layout<#mesh, [{"x"}, {}]>
#y = #weft.layout<#mesh, [{"y"}, {}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh} {
  // A reduce_scatter by hand over "x" takes the columns that the sum over "y" leaves to a device.
  // SUMS-LABEL: func.func @scattered
  // SUMS: weft.dot {{.*}} -> tensor<4x8xf32>
  // SUMS-NEXT: coll.reduce_scatter sum %{{.*}} dim 1 over #{{.*}} ["y"] {{.*}} : tensor<4x8xf32> -> tensor<4x2xf32>
  // SUMS-NEXT: coll.reduce_scatter sum %{{.*}} dim 0 over #{{.*}} ["x"] : tensor<4x2xf32> -> tensor<2x2xf32>
  // SUMS-NEXT: coll.all_gather %{{.*}} dim 1 over #{{.*}} ["y"] {{.*}} : tensor<2x2xf32> -> tensor<2x8xf32>
  func.func @scattered(%v: tensor<8x16xf32> {weft.layout = #xy}, %w: tensor<16x8xf32> {weft.layout = #y}) -> tensor<4x8xf32> {
    %0 = weft.manual(%v, %w) from [#x, #whole] to [#x] free ["y"] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>):
      %1 = weft.dot %a, %b contract [1] x [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
      %2 = coll.reduce_scatter sum %1 dim 0 over #mesh ["x"] : tensor<4x8xf32> -> tensor<2x8xf32>
      weft.yield %2 : tensor<2x8xf32>
    }
    return %0 : tensor<4x8xf32>
  }

  // Summands are permuted like sums, and two sums that are added are reduced once.
  // SUMS-LABEL: func.func @passed_around
  // SUMS-NOT: coll.all_reduce
  // SUMS: coll.collective_permute %{{.*}} sources [1, 0] over #{{.*}} ["x"] : tensor<4x8xf32> -> tensor<4x8xf32>
  // SUMS: weft.add
  // SUMS: coll.all_reduce sum %{{.*}} over #{{.*}} ["y"]{{.*}} : tensor<4x8xf32>
  // SUMS-NOT: coll.
  // SUMS: return
  func.func @passed_around(%v: tensor<8x16xf32> {weft.layout = #xy}, %w: tensor<16x8xf32> {weft.layout = #y}) -> tensor<8x8xf32> {
    %0 = weft.manual(%v, %w) from [#x, #whole] to [#x] free ["y"] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>):
      %1 = weft.dot %a, %b contract [1] x [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
      %2 = weft.sin %a : tensor<4x16xf32>
      %3 = weft.dot %2, %b contract [1] x [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
      %4 = coll.collective_permute %1 sources [1, 0] over #mesh ["x"] : tensor<4x8xf32> -> tensor<4x8xf32>
      %5 = weft.add %4, %3 : tensor<4x8xf32>
      weft.yield %5 : tensor<4x8xf32>
    }
    return %0 : tensor<8x8xf32>
  }

  // The greatest sum is not the sum of the greatest summands.
  // SUMS-LABEL: func.func @greatest
  // SUMS: coll.reduce_scatter sum %{{.*}} dim 0 over #{{.*}} ["y"] {{.*}} : tensor<4x8xf32> -> tensor<1x8xf32>
  // SUMS: coll.all_reduce max %{{.*}} over #{{.*}} ["x"] : tensor<1x8xf32>
  func.func @greatest(%v: tensor<8x16xf32> {weft.layout = #xy}, %w: tensor<16x8xf32> {weft.layout = #y}) -> tensor<4x8xf32> {
    %0 = weft.manual(%v, %w) from [#x, #whole] to [#whole] free ["y"] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32> {
    ^bb0(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>):
      %1 = weft.dot %a, %b contract [1] x [0] : tensor<4x16xf32>, tensor<16x8xf32> -> tensor<4x8xf32>
      %2 = coll.all_reduce max %1 over #mesh ["x"] : tensor<4x8xf32>
      weft.yield %2 : tensor<4x8xf32>
    }
    return %0 : tensor<4x8xf32>
  }

  // The gather moves behind the sum by hand: a fourth of the sum is sent.
  // SUMS-LABEL: func.func @gathered_late
  // SUMS: coll.all_reduce sum %{{.*}} over #{{.*}} ["x"] : tensor<4x4xf32>
  // SUMS: coll.all_gather %{{.*}} dim 1 over #{{.*}} ["y"]{{.*}} : tensor<4x4xf32> -> tensor<4x16xf32>
  func.func @gathered_late(%v: tensor<8x16xf32> {weft.layout = #xy}) -> (tensor<4x16xf32> {weft.layout = #whole}) {
    %0 = weft.manual(%v) from [#x] to [#whole] free ["y"] : (tensor<8x16xf32>) -> tensor<4x16xf32> {
    ^bb0(%a: tensor<4x16xf32>):
      %1 = weft.constrain %a to #whole : tensor<4x16xf32> -> tensor<4x16xf32>
      %2 = coll.all_reduce sum %1 over #mesh ["x"] : tensor<4x16xf32>
      weft.yield %2 : tensor<4x16xf32>
    }
    return %0 : tensor<4x16xf32>
  }
}

//--- bound.mlir
#mesh = #weft.mesh<"x"=2, "y"=2>
#x = #weft.layout<#mesh, [{"x"}]>
module attributes {weft.mesh = #mesh} {
  // BOUND: lays a value out over "x", but weft.manual around it takes that axis itself; name axes that it leaves free
  func.func @f(%v: tensor<8xf32> {weft.layout = #x}) -> tensor<8xf32> {
    %0 = weft.manual(%v) from [#x] to [#x] free ["y"] : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<4xf32>):
      %1 = weft.constrain %a to #x : tensor<4xf32> -> tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<8xf32>
  }
}
