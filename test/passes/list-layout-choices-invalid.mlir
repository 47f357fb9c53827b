// RUN: weft-opt %s --weft-list-layout-choices --verify-diagnostics

#mesh = #weft.mesh<"d"=1024>
module attributes {weft.mesh = #mesh} {
  // expected-error @below {{too many devices or layouts to be listed at once; annotate more tensors}}
  func.func @main(%a: tensor<1024x4xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) -> tensor<1024x4xf32> {
    %r = weft.relu %a : tensor<1024x4xf32>
    return %r : tensor<1024x4xf32>
  }
}
