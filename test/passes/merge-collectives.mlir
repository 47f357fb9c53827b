// Equal communication happens once for all its uses; communication of
// another value, group or place stays.
// RUN: weft-opt %s --weft-merge-collectives | FileCheck %s

#mesh = #weft.mesh<"x"=2, "y"=2>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @main
  // CHECK: %[[H:.*]] = coll.fetch %{{.*}} reason "rows for y; rows for dk" : tensor<4xf32> -> tensor<6xf32>
  // CHECK-NOT: coll.fetch
  // CHECK: coll.all_gather %{{.*}} over #mesh ["x"] reason "for a" :
  // CHECK: coll.all_gather %{{.*}} over #mesh ["y"] reason "for a" :
  // CHECK-NOT: coll.all_gather
  // CHECK: return %[[H]], %[[H]]
  func.func @main(%a: tensor<4xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = coll.fetch %a dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #mesh ["x"] reason "rows for y" : tensor<4xf32> -> tensor<6xf32>
    %1 = coll.fetch %a dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #mesh ["x"] reason "rows for dk" : tensor<4xf32> -> tensor<6xf32>
    %2 = coll.all_gather %a dim 0 over #mesh ["x"] reason "for a" : tensor<4xf32> -> tensor<8xf32>
    %3 = coll.all_gather %a dim 0 over #mesh ["y"] reason "for a" : tensor<4xf32> -> tensor<8xf32>
    %4 = coll.all_gather %a dim 0 over #mesh ["x"] reason "for a" : tensor<4xf32> -> tensor<8xf32>
    return %0, %1, %2, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }

  // Collectives are merged within a block only: those of a region may run each
  // time, or never, so that ops behind the region do not have their results.
  // CHECK-LABEL: @region
  // CHECK: scf.if
  // CHECK-NEXT: %[[IN:.*]] = coll.all_reduce
  // CHECK-NEXT: weft.add %[[IN]], %[[IN]]
  // CHECK: }
  // CHECK: %[[OUT:.*]] = coll.all_reduce
  // CHECK: return %{{.*}}, %[[OUT]]
  func.func @region(%c: i1, %a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %r = scf.if %c -> tensor<4xf32> {
      %1 = coll.all_reduce sum %a over #mesh ["x"] : tensor<4xf32>
      %2 = coll.all_reduce sum %a over #mesh ["x"] : tensor<4xf32>
      %3 = weft.add %1, %2 : tensor<4xf32>
      scf.yield %3 : tensor<4xf32>
    } else {
      scf.yield %a : tensor<4xf32>
    }
    %0 = coll.all_reduce sum %a over #mesh ["x"] : tensor<4xf32>
    return %r, %0 : tensor<4xf32>, tensor<4xf32>
  }
}
