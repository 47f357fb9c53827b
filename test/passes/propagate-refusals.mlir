// RUN: weft-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect --weft-propagate-layouts

// expected-error@+1 {{@two_blocks has 2 blocks; layouts need one}}
func.func @two_blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  "test.jump"() [^next] : () -> ()
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @regions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{an op with regions has no sharding rule; let it implement RegionBranchOpInterface, or flatten it before layouts are propagated}}
  builtin.module {}
  return %x : tensor<4xf32>
}

// -----

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error@+1 {{layouts need static shapes, this is 'tensor<?xf32>'}}
  %0 = weft.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// expected-error@+1 {{argument 0 is donated to result 1, the function has 1}}
func.func @donated(%x: tensor<4xf32> {weft.donated = 1 : i64}) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#mesh = #weft.mesh<"data"=2>
#rows = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh} {
  // expected-error@+1 {{result 0 reuses the memory of an argument laid out [{"data"}], but is annotated [{}]}}
  func.func @memory(%x: tensor<4xf32> {weft.donated = 0 : i64, weft.layout = #rows}) -> (tensor<4xf32> {weft.layout = #whole}) {
    %0 = weft.exp %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
