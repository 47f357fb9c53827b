// RUN: weft-opt %s --split-input-file --verify-diagnostics --weft-verify-stage=stage=partitioned

// A value that only the devices with branch=0 have.
#mesh = #weft.mesh<"branch"=2, "data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @read_elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.at #mesh {"branch" = 0} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    // expected-error @+1 {{stage 'partitioned': 'weft.relu' runs on the whole mesh, but operand 0 is only on "branch"=0}}
    %1 = weft.relu %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @read_by_others(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.at #mesh {"branch" = 0} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    // expected-error @+1 {{'weft.at' runs on "branch"=1, but operand 0 is only on "branch"=0}}
    %1 = weft.at #mesh {"branch" = 1} (%0) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    return %x : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @result_elsewhere(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.at #mesh {"branch" = 0} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      weft.yield %v : tensor<4xf32>
    }
    // expected-error @+1 {{'func.return' runs on the whole mesh, but operand 0 is only on "branch"=0}}
    return %0 : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=2>
#part = #weft.layout<#mesh, [{}], at = {"branch" = 0}>
module attributes {weft.mesh = #mesh} {
  func.func @argument(%x: tensor<4xf32> {weft.layout = #part, weft.global_type = tensor<4xf32>}) -> tensor<4xf32> {
    // expected-error @+1 {{'weft.relu' runs on the whole mesh, but operand 0 is only on "branch"=0}}
    %1 = weft.relu %x : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"branch"=2, "data"=2>
module attributes {weft.mesh = #mesh} {
  func.func @waits_for_others(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = weft.at #mesh {"branch" = 0} (%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%v: tensor<4xf32>):
      // expected-error @+1 {{communicates over "branch", but only the devices of "branch"=0 run it}}
      %1 = coll.all_reduce sum %v over #mesh ["branch"] : tensor<4xf32>
      weft.yield %1 : tensor<4xf32>
    }
    return %x : tensor<4xf32>
  }
}
