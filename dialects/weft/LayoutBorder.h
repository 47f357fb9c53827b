//===- LayoutBorder.h - with layouts in types, or without -------*- C++ -*-===//
//
// Passes of the stage `sharded` read layouts in types; later passes work on one
// device's blocks, whose types have none. A pass whose predecessor was left out
// would do nothing, or place buffers of global size under sharded layouts:
//
//   error: 'weft.tanh' has a tensor without a layout; run
//          --weft-propagate-layouts before --weft-partition
//
// The borders of stages check more (compiler/stages/VerifyStage.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_LAYOUTBORDER_H
#define WEFT_DIALECTS_WEFT_LAYOUTBORDER_H

#include "mlir/Pass/Pass.h"

namespace weft {

/// Whether the op has a tensor with a layout in its type, or without.
bool carriesLayout(mlir::Operation *op);
bool layoutMissing(mlir::Operation *op);

/// Emits an error at the first tensor of the pass' module that has no layout;
/// the programs of single devices are left out.
llvm::LogicalResult verifyLaidOut(mlir::Pass &pass, mlir::Operation *module);
/// Emits an error at the first tensor of the pass' module that has a layout, or
/// port that is annotated as a shard but is no shard.
llvm::LogicalResult verifyPartitioned(mlir::Pass &pass,
                                      mlir::Operation *module);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_LAYOUTBORDER_H
