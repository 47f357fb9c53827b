//===- UpdatedOperand.cpp - ops that change a part of an operand ----------===//

#include "weft/dialects/weft/UpdatedOperand.h"

#include "weft/dialects/weft/KernelTraits.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

#include "weft/dialects/weft/UpdatedOperand.cpp.inc"

namespace weft {

OpOperand *updatedOperand(Operation *op) {
  auto updates = dyn_cast<UpdatesOperandOpInterface>(op);
  if (!updates || op->getNumResults() != 1)
    return nullptr;
  OpOperand &operand = op->getOpOperand(updates.getUpdatedOperand());
  return operand.get().getType() == op->getResult(0).getType() ? &operand
                                                               : nullptr;
}

bool updatesInPlace(Operation *op) {
  OpOperand *operand = updatedOperand(op);
  auto argument =
      operand ? dyn_cast<BlockArgument>(operand->get()) : BlockArgument();
  if (!argument)
    return false;
  auto kernel =
      dyn_cast_or_null<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return kernel && kernel.getArgAttr(argument.getArgNumber(), kUpdatedAttr);
}

bool hasLoopsOfItsOwn(Operation *op) {
  return op->hasTrait<OwnLoopNest>() || updatesInPlace(op);
}

std::optional<unsigned> updatedArgument(Operation *kernel, unsigned result) {
  auto function = dyn_cast_or_null<FunctionOpInterface>(kernel);
  if (!function || result >= function.getNumResults())
    return std::nullopt;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto updated = function.getArgAttrOfType<IntegerAttr>(i, kUpdatedAttr);
        updated && updated.getInt() == int64_t(result) &&
        type == function.getResultTypes()[result])
      return i;
  return std::nullopt;
}

} // namespace weft
