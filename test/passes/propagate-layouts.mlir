// RUN: weft-opt %s --weft-propagate-layouts --weft-verify-layouts | FileCheck %s

#mesh = #weft.mesh<"data"=2, "model"=4>
module attributes {weft.mesh = #mesh} {
  func.func @predict(
      %x: tensor<16x784xf32> {weft.name = "x", weft.role = "input", weft.layout = #weft.layout<#mesh, [{"data"}, {}]>},
      %w1: tensor<784x200xf32> {weft.name = "d1/kernel", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {"model"}]>},
      %b1: tensor<200xf32> {weft.name = "d1/bias", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{"model"}]>},
      %w2: tensor<200x10xf32> {weft.name = "d2/kernel", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}, {}]>},
      %b2: tensor<10xf32> {weft.name = "d2/bias", weft.role = "weight", weft.layout = #weft.layout<#mesh, [{}]>})
      -> (tensor<16x10xf32> {weft.name = "y"}) {
    %0 = weft.dot %x, %w1 contract [1] x [0] : tensor<16x784xf32>, tensor<784x200xf32> -> tensor<16x200xf32> loc("d1")
    %1 = weft.broadcast %b1 dims [1] : tensor<200xf32> -> tensor<16x200xf32> loc("d1")
    %2 = weft.add %0, %1 : tensor<16x200xf32> loc("d1")
    %3 = weft.relu %2 : tensor<16x200xf32> loc("d1")
    %4 = weft.dot %3, %w2 contract [1] x [0] : tensor<16x200xf32>, tensor<200x10xf32> -> tensor<16x10xf32> loc("d2")
    %5 = weft.constrain %4 to #weft.layout<#mesh, [{"data"}, {}]> reason "layout_map key d2/output" : tensor<16x10xf32> -> tensor<16x10xf32>
    %6 = weft.broadcast %b2 dims [1] : tensor<10xf32> -> tensor<16x10xf32> loc("d2")
    %7 = weft.add %5, %6 : tensor<16x10xf32> loc("d2")
    return %7 : tensor<16x10xf32>
  }
}

// CHECK-DAG: #[[$DATA:.+]] = #weft.layout<#mesh, [{"data"}, {}]>
// CHECK-DAG: #[[$HIDDEN:.+]] = #weft.layout<#mesh, [{"data"}, {"model"}]>
// CHECK-DAG: #[[$ROWS:.+]] = #weft.layout<#mesh, [{"model"}, {}]>
// CHECK-DAG: #[[$PARTIAL:.+]] = #weft.layout<#mesh, [{"data"}, {}], partial = sum{"model"}>
// CHECK-LABEL: func.func @predict
// CHECK: weft.dot {{.*}} -> tensor<16x200xf32, #[[$HIDDEN]]>
// CHECK: weft.broadcast {{.*}} -> tensor<16x200xf32, #[[$HIDDEN]]>
// CHECK: %[[W2:.+]] = weft.reshard %arg3 reason "d2/kernel is sliced over {{.*}} for d2" {{.*}} -> tensor<200x10xf32, #[[$ROWS]]>
// CHECK: %[[Y:.+]] = weft.dot %{{.+}}, %[[W2]] {{.*}} -> tensor<16x10xf32, #[[$PARTIAL]]>
// CHECK: weft.reshard %[[Y]] reason "y is summed over {{.*}}model{{.*}}" {{.*}} -> tensor<16x10xf32, #[[$DATA]]>
// CHECK-NOT: weft.reshard
// CHECK-NOT: weft.constrain
