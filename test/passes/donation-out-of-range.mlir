// Passes that run alone ignore a donation to a result that the function does not have; a stage border refuses it.
// RUN: weft-opt %s --weft-fit-memory --weft-place-buffers | FileCheck %s
// CHECK: plan.program @f
// CHECK: plan.input "in/0"
// CHECK: plan.output "out/0"
func.func @f(%x: tensor<4xf32> {weft.donated = 99999 : i64}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
