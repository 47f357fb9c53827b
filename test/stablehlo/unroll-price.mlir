// A loop is unrolled by a price: the ops that this compiles, and whether rounds
// fuse or are cheap beside the loop's overhead (UnrollPrice.h). No number of
// rounds decides by itself.
// RUN: weft compile %s --emit imported | FileCheck %s

// 100 rounds that fuse into one kernel.
// CHECK-NOT: weft.while
// CHECK-COUNT-100: weft.sin
// Two rounds of large products: the loop stays, whose body is compiled once.
// CHECK: weft.while
// CHECK-SAME: times 2
// CHECK-COUNT-1: weft.dot
// CHECK-NOT: weft.dot
// Four rounds of small products.
// CHECK: weft.yield
// CHECK-COUNT-4: weft.dot {{.*}} tensor<8x8xf32>
// 200 rounds of three ops are too many.
// CHECK: weft.while
// CHECK-SAME: times 200
// CHECK: weft.yield
// One round is its body.
// CHECK-NOT: weft.while
// CHECK: weft.dot {{.*}} tensor<2048x2048xf32>
// CHECK-NOT: weft.while
// CHECK: return
func.func @main(%x: tensor<64xf32>, %w: tensor<2048x2048xf32>, %s: tensor<8x8xf32>) -> (tensor<64xf32>, tensor<2048x2048xf32>, tensor<8x8xf32>, tensor<64xf32>, tensor<2048x2048xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
   cond {
    %limit = stablehlo.constant dense<100> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.sine %v : tensor<64xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %a : tensor<i32>, tensor<64xf32>
  }
  %1:2 = stablehlo.while(%i = %zero, %v = %w) : tensor<i32>, tensor<2048x2048xf32>
   cond {
    %limit = stablehlo.constant dense<2> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %a : tensor<i32>, tensor<2048x2048xf32>
  }
  %2:2 = stablehlo.while(%i = %zero, %v = %s) : tensor<i32>, tensor<8x8xf32>
   cond {
    %limit = stablehlo.constant dense<4> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %a : tensor<i32>, tensor<8x8xf32>
  }
  %3:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
   cond {
    %limit = stablehlo.constant dense<200> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.cosine %v : tensor<64xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %a : tensor<i32>, tensor<64xf32>
  }
  %4:2 = stablehlo.while(%i = %zero, %v = %w) : tensor<i32>, tensor<2048x2048xf32>
   cond {
    %limit = stablehlo.constant dense<1> : tensor<i32>
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %a = stablehlo.dot_general %v, %v, contracting_dims = [1] x [0] : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %n = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %n, %a : tensor<i32>, tensor<2048x2048xf32>
  }
  return %0#1, %1#1, %2#1, %3#1, %4#1 : tensor<64xf32>, tensor<2048x2048xf32>, tensor<8x8xf32>, tensor<64xf32>, tensor<2048x2048xf32>
}
