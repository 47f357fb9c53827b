// Each stage's promises are checked at its border, behind each stage and in front of the first one.

// RUN: not weft-opt %s --weft-pipeline="from=partitioned to=scheduled" 2>&1 | FileCheck %s --check-prefix=LAYOUT
// LAYOUT: borders.mlir:[[@LINE+24]]:{{.*}} error: stage 'partitioned': 'weft.reshard' has a layout in a type, which only the stage 'sharded' allows

// RUN: weft-opt %s --weft-pipeline="from=sharded to=partitioned" | FileCheck %s --check-prefix=GOOD
// GOOD: coll.all_gather

// RUN: not weft-opt %s --weft-pipeline="from=differentiated to=plan" 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: stage 'differentiated': 'weft.reshard' has a layout in a type

// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-verify-stage{stage=kernels})" 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: error: stage 'kernels': 'weft.reshard' has a layout in a type

// RUN: not weft-opt %s --pass-pipeline="builtin.module(weft-verify-stage{stage=nowhere})" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt %s --weft-pipeline="from=nowhere" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt %s --weft-pipeline="to=nowhere" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: no such stage: 'nowhere'; use one of imported, differentiated, sharded, partitioned, scheduled, kernels, nests, plan

// RUN: not weft-opt %s --weft-pipeline="from=plan to=sharded" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: stage 'sharded' comes before 'plan'; passes only lead to later stages

#mesh = #weft.mesh<"data"=2>
#split = #weft.layout<#mesh, [{"data"}]>
#whole = #weft.layout<#mesh, [{}]>
module attributes {weft.mesh = #mesh} {
  func.func @f(%x: tensor<8xf32, #split>) -> tensor<8xf32, #whole> {
    %0 = weft.reshard %x : tensor<8xf32, #split> -> tensor<8xf32, #whole>
    return %0 : tensor<8xf32, #whole>
  }
}
