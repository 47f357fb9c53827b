// RUN: weft-opt --split-input-file --verify-diagnostics --weft-propagate-layouts %s

#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @captured(%a: tensor<4xindex>, %t: tensor<8xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    // expected-error @below {{the region uses 'tensor<8xf32>' from outside, which no layout reaches; make it an operand}}
    %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xindex>) outs(%e : tensor<4xf32>) {
      ^bb0(%i: index, %o: f32):
      %v = tensor.extract %t[%i] : tensor<8xf32>
      linalg.yield %v : f32
    } -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @dynamic(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
    // expected-error @below {{layouts need static shapes, this is 'tensor<?x4xf32>'}}
    %0 = math.exp %a : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----

#mesh = #weft.mesh<"x"=2>
module attributes {weft.mesh = #mesh} {
  func.func @generated(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @below {{an op with regions has no sharding rule; let it implement RegionBranchOpInterface, or flatten it before layouts are propagated}}
    %0 = tensor.generate {
      ^bb0(%i: index):
      %v = tensor.extract %a[%i] : tensor<4xf32>
      tensor.yield %v : f32
    } : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
