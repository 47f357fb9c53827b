//===- FittingLayouts.h - layouts whose plan fits a device ------*- C++ -*-===//
//
// Where a device's memory is stated, layouts are chosen by price first. If the
// plan asks for more (after weft-fit-memory, which gathers again what it can
// free), the step is compiled again with layouts for which a held byte costs
// something, each time four times as much, until a plan fits:
//
//   weight 0         16,789,504 bytes     nothing sent
//   weight 16/1024    4,206,592 bytes     3,072 bytes sent     of 9,000,000
//
// Plans are compared, so that the packed arena decides. If none fits, the step of
// weight 0 is refused with its own numbers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_FITTINGLAYOUTS_H
#define WEFT_COMPILER_DRIVER_FITTINGLAYOUTS_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weft {

class FittingLayouts {
public:
  /// Keeps a copy of a module at stage `differentiated`, to begin again from.
  explicit FittingLayouts(mlir::ModuleOp module) : start(module.clone()) {}

  /// Whether a module at stage `plan` is final: it fits, or nothing more is tried,
  /// when it becomes the first plan. Else it is at stage `differentiated` again.
  bool isFinal(mlir::ModuleOp module);

private:
  mlir::OwningOpRef<mlir::ModuleOp> start, first; ///< the first plan
  int64_t weight = 0;
};

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_FITTINGLAYOUTS_H
