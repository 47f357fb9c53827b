// Equal communication happens once, whatever it is for; communication of
// another value, group or place stays.
// RUN: weft-opt %s --weft-merge-collectives | FileCheck %s

#mesh = #weft.mesh<"x"=2, "y"=2>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: @main
  // CHECK: %[[H:.*]] = coll.fetch %{{.*}} because "rows for y; rows for dk" : tensor<4xf32> -> tensor<6xf32>
  // CHECK-NOT: coll.fetch
  // CHECK: coll.all_gather %{{.*}} over #mesh ["x"] because "for a" :
  // CHECK: coll.all_gather %{{.*}} over #mesh ["y"] because "for a" :
  // CHECK-NOT: coll.all_gather
  // CHECK: return %[[H]], %[[H]]
  func.func @main(%a: tensor<4xf32>) -> (tensor<6xf32>, tensor<6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
    %0 = coll.fetch %a dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #mesh ["x"] because "rows for y" : tensor<4xf32> -> tensor<6xf32>
    %1 = coll.fetch %a dim 0 of 8 at block 4 step 1 offset -1 divisor 1 modulus 0 over #mesh ["x"] because "rows for dk" : tensor<4xf32> -> tensor<6xf32>
    %2 = coll.all_gather %a dim 0 over #mesh ["x"] because "for a" : tensor<4xf32> -> tensor<8xf32>
    %3 = coll.all_gather %a dim 0 over #mesh ["y"] because "for a" : tensor<4xf32> -> tensor<8xf32>
    %4 = coll.all_gather %a dim 0 over #mesh ["x"] because "for a" : tensor<4xf32> -> tensor<8xf32>
    return %0, %1, %2, %3, %4 : tensor<6xf32>, tensor<6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }

  // Not across a loop: what its body does happens each time, or never.
  // CHECK-LABEL: @loop
  // CHECK: coll.all_reduce
  // CHECK: weft.for
  // CHECK: coll.all_reduce
  func.func @loop(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = coll.all_reduce sum %a over #mesh ["x"] : tensor<4xf32>
    %r = weft.for 3(%a) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
      %1 = coll.all_reduce sum %v over #mesh ["x"] : tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }
    return %0, %r : tensor<4xf32>, tensor<4xf32>
  }
}
