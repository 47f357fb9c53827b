// Scratch memory of a kernel lies in the arena while its launch runs: beside
// the values that live then, where other values lie before and after.
// RUN: weft-opt %s --weft-place-buffers | FileCheck %s

// CHECK-LABEL: plan.program @beside mesh {{.*}} arena 320
func.func @beside(%x: tensor<16xf32>) -> tensor<64xf32> {
  %a = call @sorts(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %y = call @widens(%a) : (tensor<16xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// CHECK-LABEL: plan.program @step mesh {{.*}} arena 320
// CHECK: %[[X:.*]] = plan.input "in/0"
// CHECK: %[[Y:.*]] = plan.output "out/0"
// CHECK-DAG: %[[A:.*]] = plan.buffer offset {{[0-9]+}} : memref<16xf32>
// CHECK-DAG: %[[S:.*]] = plan.buffer offset {{[0-9]+}} : memref<256xi8>
// CHECK-DAG: %[[B:.*]] = plan.buffer offset {{[0-9]+}} : memref<64xf32>
// CHECK: plan.launch @sorts(%[[X]], %[[A]]) scratch %[[S]] : memref<256xi8> : memref<16xf32>, memref<16xf32>
// CHECK-NEXT: plan.launch @widens(%[[A]], %[[B]]) : memref<16xf32>, memref<64xf32>
// CHECK-NEXT: plan.launch @narrows(%[[B]], %[[Y]]) : memref<64xf32>, memref<16xf32>
func.func @step(%x: tensor<16xf32>) -> tensor<16xf32> {
  %a = call @sorts(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %b = call @widens(%a) : (tensor<16xf32>) -> tensor<64xf32>
  %y = call @narrows(%b) : (tensor<64xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}
func.func private @sorts(tensor<16xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>, weft.scratch = 256 : i64}
func.func private @widens(tensor<16xf32>) -> tensor<64xf32> attributes {weft.kernel = #weft.kernel<general>}
func.func private @narrows(tensor<64xf32>) -> tensor<16xf32> attributes {weft.kernel = #weft.kernel<general>}
