// RUN: weft-fuzz --program %s
// Reduced from: weft-fuzz --seed 7306168 --count 1 --ops 8 --compiled-every 20
// It ran out of memory: the reshard in place of a constraint of partial values
// was looked up in the table of layouts, which does not know it.

#mesh = #weft.mesh<"b"=2, "c"=2>
#layout = #weft.layout<#mesh, [{}, {}, {"c"}], partial = sum{"b"}>
module attributes {weft.fuzz = "inputs=7306168", weft.mesh = #mesh} {
  func.func @main(%arg0: tensor<1x1x1xf32> {weft.layout = #weft.layout<#mesh, [{"c"}, {}, {}], partial = sum{"b"}>}) -> tensor<1x1x1xf32> {
    %0 = weft.constrain %arg0 to #layout {weft.open = array<i64: 0>}  : tensor<1x1x1xf32> -> tensor<1x1x1xf32>
    return %0 : tensor<1x1x1xf32>
  }
}

