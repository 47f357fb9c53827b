// An annotation of a function's result concerns the value after a loop and not
// the value that the loop carries; what moves in a loop is priced once a round.
// RUN: weft-opt --weft-propagate-layouts --weft-verify-layouts %s | FileCheck %s

#mesh = #weft.mesh<"x"=8>
#rows = #weft.layout<#mesh, [{"x"}, {}]>
#columns = #weft.layout<#mesh, [{}, {"x"}]>
#whole = #weft.layout<#mesh, [{}, {}]>
module attributes {weft.mesh = #mesh} {
  // CHECK-LABEL: func.func @moved
  // CHECK-NOT: weft.reshard
  // CHECK: weft.yield
  // CHECK: weft.reshard
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @moved(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #columns}) {
    %0 = weft.for 100 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.exp %v : tensor<64x64xf32>
      weft.yield %1 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // CHECK-LABEL: func.func @gathered
  // CHECK-NOT: weft.reshard
  // CHECK: weft.yield
  // CHECK: weft.reshard
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @gathered(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #whole}) {
    %0 = weft.for 100 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.exp %v : tensor<64x64xf32>
      weft.yield %1 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // Nothing else says how the value lies, so the loop has the result's layout.
  // CHECK-LABEL: func.func @preferred
  // CHECK-NOT: weft.reshard
  // CHECK: weft.for 100({{.*}}) : (tensor<64x64xf32, #[[ROWS:.*]]>) -> tensor<64x64xf32, #[[ROWS]]>
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @preferred(%x: tensor<f32>) -> (tensor<64x64xf32> {weft.layout = #rows}) {
    %b = weft.broadcast %x dims [] : tensor<f32> -> tensor<64x64xf32>
    %0 = weft.for 100 (%b) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.exp %v : tensor<64x64xf32>
      weft.yield %1 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // An inner loop's value is carried by the outer one. Both have the argument's
  // layout, and the result moves once.
  // CHECK-LABEL: func.func @nested
  // CHECK-NOT: weft.reshard
  // CHECK: weft.yield
  // CHECK: weft.yield
  // CHECK: weft.reshard
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @nested(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #columns}) {
    %0 = weft.for 10 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.for 10 (%v) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
      ^bb0(%j: tensor<i32>, %w: tensor<64x64xf32>):
        %2 = weft.exp %w : tensor<64x64xf32>
        weft.yield %2 : tensor<64x64xf32>
      }
      weft.yield %1 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // The body needs columns whole: moved before the loop, once, instead of twice
  // a round.
  // CHECK-LABEL: func.func @body
  // CHECK: weft.reshard
  // CHECK: weft.for
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @body(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #columns}) {
    %0 = weft.for 100 (%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.exp %v : tensor<64x64xf32>
      %2 = weft.constrain %1 to #columns reason "test" : tensor<64x64xf32> -> tensor<64x64xf32>
      weft.yield %2 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // A constraint on the value that enters the loop.
  // CHECK-LABEL: func.func @entering
  // CHECK: weft.reshard
  // CHECK: weft.for 100({{.*}}) : (tensor<64x64xf32, #[[COLUMNS:.*]]>) -> tensor<64x64xf32, #[[COLUMNS]]>
  // CHECK-NOT: weft.reshard
  // CHECK: weft.yield
  // CHECK: weft.reshard
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @entering(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #rows}) {
    %c = weft.constrain %x to #columns reason "test" : tensor<64x64xf32> -> tensor<64x64xf32>
    %0 = weft.for 100 (%c) : (tensor<64x64xf32>) -> tensor<64x64xf32> {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %1 = weft.exp %v : tensor<64x64xf32>
      weft.yield %1 : tensor<64x64xf32>
    }
    return %0 : tensor<64x64xf32>
  }

  // A loop that counts itself.
  // CHECK-LABEL: func.func @while
  // CHECK-NOT: weft.reshard
  // CHECK: weft.condition
  // CHECK-NOT: weft.reshard
  // CHECK: weft.yield
  // CHECK: weft.reshard
  // CHECK-NOT: weft.reshard
  // CHECK: return
  func.func @while(%x: tensor<64x64xf32> {weft.layout = #rows}) -> (tensor<64x64xf32> {weft.layout = #columns}) {
    %n = weft.constant dense<77> : tensor<i32>
    %0:2 = weft.while(%n, %x) times 77 : (tensor<i32>, tensor<64x64xf32>) -> (tensor<i32>, tensor<64x64xf32>) {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %zero = weft.constant dense<0> : tensor<i32>
      %more = weft.compare gt %i, %zero : tensor<i32>, tensor<i32> -> tensor<i1>
      weft.condition %more(%i, %v) : tensor<i1>, tensor<i32>, tensor<64x64xf32>
    } do {
    ^bb0(%i: tensor<i32>, %v: tensor<64x64xf32>):
      %one = weft.constant dense<1> : tensor<i32>
      %j = weft.sub %i, %one : tensor<i32>
      %1 = weft.exp %v : tensor<64x64xf32>
      weft.yield %j, %1 : tensor<i32>, tensor<64x64xf32>
    }
    return %0#1 : tensor<64x64xf32>
  }
}
