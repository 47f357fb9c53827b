// RUN: weft-opt %s --weft-list-layout-choices | FileCheck %s
// RUN: weft compile %s --emit=layouts | weft-opt | FileCheck %s
// RUN: weft-opt %s --weft-list-layout-choices | weft-opt --weft-propagate-layouts | FileCheck %s --check-prefix=AGAIN
// RUN: not weft-opt %s --weft-list-layout-choices=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not weft-opt %s --weft-propagate-layouts=target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET

// The graph of which layouts are chosen: an add of rows and columns may run by
// rows, by columns or whole. By rows an all_to_all of 3,072 bytes takes 307,200
// picoseconds; the arguments and the annotated result are fixed.

// TARGET: error: target 'abacus' has no row of rates by which layouts are priced; known are cpu, cuda
// CHECK: weft.argument_labels = [{chosen = "[d,-]", fixed = "[d,-]", layouts = ["[d,-]"]}, {chosen = "[-,d]", fixed = "[-,d]", layouts = ["[-,d]"]}]
// CHECK-SAME: weft.layout_price = array<i64: 307200, 307200>
// CHECK: weft.add
// CHECK-SAME: weft.choices = {{\[\[}}{chosen, layouts = "[d,-] [d,-] -> [d,-]", picoseconds = 0 : i64}
// CHECK-SAME: {layouts = "[-,d] [-,d] -> [-,d]", picoseconds = 0 : i64}
// CHECK-SAME: weft.labels = [{chosen = "[d,-]", layouts = ["[d,-]"
// CHECK-SAME: weft.moves = {{\[\[}}array<i64: 0, 307200
// AGAIN: weft.reshard
#mesh = #weft.mesh<"d"=4>
module attributes {weft.mesh = #mesh} {
  func.func @main(%a: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>},
                  %b: tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{}, {"d"}]>}) -> (tensor<64x64xf32> {weft.layout = #weft.layout<#mesh, [{"d"}, {}]>}) {
    %s = weft.add %a, %b : tensor<64x64xf32>
    %r = weft.relu %s : tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
