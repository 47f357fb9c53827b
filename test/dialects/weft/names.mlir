// RUN: weft-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{attribute '"weft.kernel"' is "general"; write #weft.kernel<elementwise>, <reduce>, <dot> or <general>}}
func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = "general"} {
  %0 = weft.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{attribute '"weft.mesh"' is 8 : i64; write a mesh, as #weft.mesh<"batch"=8>}}
module attributes {weft.mesh = 8} {
}
