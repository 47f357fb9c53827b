// Ops of linalg, arith and tensor under their rules (passes/upstream).
// RUN: weft-opt --weft-propagate-layouts --weft-verify-layouts %s | FileCheck %s
// RUN: weft-opt --weft-propagate-layouts --weft-verify-layouts --weft-partition %s | FileCheck %s --check-prefix=LOCAL

#mesh = #weft.mesh<"data"=2, "model"=2>
#rows = #weft.layout<#mesh, [{"data"}, {"model"}]>
#units = #weft.layout<#mesh, [{"model"}, {}]>
#image = #weft.layout<#mesh, [{}, {"data"}, {}, {}]>

// The init is not zero: it counts on one coordinate of the summed axis.
// CHECK-DAG: #[[$PARTIAL:.*]] = #weft.layout<#mesh, [{"data"}, {}], partial = sum{"model"}>
// CHECK-LABEL: func.func @init
// CHECK: %[[INIT:.*]] = weft.reshard %arg2 reason "argument 2 is kept on one coordinate of \22model\22 for linalg.matmul" : {{.*}} -> tensor<4x6xf32, #[[$PARTIAL]]>
// CHECK: linalg.matmul {{.*}} outs(%[[INIT]] : tensor<4x6xf32, #[[$PARTIAL]]>) -> tensor<4x6xf32, #[[$PARTIAL]]>
// LOCAL-LABEL: func.func @init
// LOCAL: %[[INIT:.*]] = coll.make_partial sum %arg2 over #mesh ["model"]
// LOCAL: %[[SUM:.*]] = linalg.matmul ins(%arg0, %arg1 : tensor<2x4xf32>, tensor<4x6xf32>) outs(%[[INIT]] : tensor<2x6xf32>)
// LOCAL: coll.all_reduce sum %[[SUM]] over #mesh ["model"]
module attributes {weft.mesh = #mesh} {
  func.func @init(%a: tensor<4x8xf32> {weft.layout = #rows}, %b: tensor<8x6xf32> {weft.layout = #units}, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }

  // 7 summands over 2 devices: the second keeps its accumulator in its padding.
  // LOCAL-LABEL: func.func @uneven
  // LOCAL: %[[SEVEN:.*]] = arith.constant 7 : index
  // LOCAL: %[[EXTENT:.*]] = arith.subi %[[SEVEN]]
  // LOCAL: linalg.generic
  // LOCAL: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %[[ACC:.*]]: f32):
  // LOCAL: %[[K:.*]] = linalg.index 2
  // LOCAL: %[[VALID:.*]] = arith.cmpi slt, %[[K]], %[[EXTENT]]
  // LOCAL: %[[NEW:.*]] = arith.addf %[[ACC]]
  // LOCAL: arith.select %[[VALID]], %[[NEW]], %[[ACC]]
  func.func @uneven(%a: tensor<4x7xf32> {weft.layout = #rows}, %b: tensor<7x6xf32> {weft.layout = #units}, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = linalg.matmul ins(%a, %b : tensor<4x7xf32>, tensor<7x6xf32>) outs(%c : tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }

  // Constants have a layout in their data's type, too; a division is skipped in
  // padding.
  // CHECK-LABEL: func.func @divides
  // CHECK: arith.constant dense<12> : tensor<7x6xi32, #
  // LOCAL-LABEL: func.func @divides
  // LOCAL: arith.constant dense<12> : tensor<4x6xi32>
  // LOCAL: linalg.generic
  // LOCAL: scf.if
  // LOCAL-NEXT: arith.divsi
  func.func @divides(%a: tensor<7x6xi32> {weft.layout = #units}) -> tensor<7x6xi32> {
    %c = arith.constant dense<12> : tensor<7x6xi32>
    %0 = arith.divsi %c, %a : tensor<7x6xi32>
    return %0 : tensor<7x6xi32>
  }

  // A convolution receives its neighbour's rows.
  // LOCAL-LABEL: func.func @halo
  // LOCAL: coll.fetch %arg0 dim 1 of 9 at block 4
  // LOCAL-SAME: tensor<1x5x8x4xf32> -> tensor<1x6x8x4xf32>
  // LOCAL: linalg.conv_2d_nhwc_hwcf
  // LOCAL-NOT: coll.
  // LOCAL: return
  func.func @halo(%a: tensor<1x9x8x4xf32> {weft.layout = #image}, %k: tensor<3x3x4x2xf32>, %o: tensor<1x7x6x2xf32>) -> tensor<1x7x6x2xf32> {
    %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %k : tensor<1x9x8x4xf32>, tensor<3x3x4x2xf32>) outs(%o : tensor<1x7x6x2xf32>) -> tensor<1x7x6x2xf32>
    return %0 : tensor<1x7x6x2xf32>
  }

  // An op of tosa has shapes as operands.
  // LOCAL-LABEL: func.func @tosa
  // LOCAL: tosa.matmul {{.*}} -> tensor<1x4x6xf32>
  // LOCAL: coll.all_reduce sum
  // LOCAL: tosa.const_shape {values = dense<[4, 6]>
  // LOCAL: tosa.reshape {{.*}} -> tensor<4x6xf32>
  func.func @tosa(%a: tensor<2x4x8xf32> {weft.layout = #weft.layout<#mesh, [{"data"}, {}, {"model"}]>}, %b: tensor<2x8x6xf32>) -> tensor<8x6xf32> {
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %bias = "tosa.const"() <{values = dense<2.0> : tensor<1x1x6xf32>}> : () -> tensor<1x1x6xf32>
    %0 = tosa.matmul %a, %b, %z, %z : (tensor<2x4x8xf32>, tensor<2x8x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x6xf32>
    %1 = tosa.add %0, %bias : (tensor<2x4x6xf32>, tensor<1x1x6xf32>) -> tensor<2x4x6xf32>
    %s = tosa.const_shape {values = dense<[8, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %2 = tosa.reshape %1, %s : (tensor<2x4x6xf32>, !tosa.shape<2>) -> tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
}
