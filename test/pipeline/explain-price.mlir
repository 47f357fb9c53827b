// RUN: weft explain %s | FileCheck %s
// RUN: weft explain %s --json | FileCheck %s --check-prefix=JSON

// The sum wants rows of one operand and columns of the other over the same
// axis, so that layouts are chosen by price, and the report says how far they
// may be from the cheapest, in the bytes that it counts.

// CHECK: {{^}}  total {{.*}} in {{[0-9]+}} collective
// CHECK-NEXT: {{^}}  no layout of the free values is cheaper by more than 0.00 %: it sends at least 3,072 bytes
// JSON: "layouts": {
// JSON-NEXT: "bound": 3072,
// JSON-NEXT: "gap": 0,
// JSON-NEXT: "picoseconds": {{[0-9]+}}
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  func.func @main(%a: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>},
                  %b: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{}, {"d"}]>}) -> (tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
    %s = weft.add %a, %b : tensor<64x64xf32>
    %r = weft.relu %s : tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
