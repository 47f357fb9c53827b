//===- VerifySizes.cpp - programs whose sizes can be counted --------------===//

#include "weft/dialects/weft/VerifySizes.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/layout/Sizes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace weft;

/// The name of a value in errors: argument "x", argument 0 or a result.
static std::string nameOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return "a result";
  unsigned number = argument.getArgNumber();
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (function && argument.getOwner()->isEntryBlock())
    if (auto name = function.getArgAttrOfType<StringAttr>(number, kNameAttr))
      return "argument \"" + name.str() + "\"";
  return "argument " + std::to_string(number);
}

/// Adds the value's bytes to `total`.
static LogicalResult count(Value value, int64_t &total) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasStaticShape())
    return success();
  int64_t width = bytesOf(type.getElementType());
  if (std::string why = oversize(type.getShape(), width); !why.empty())
    return emitError(value.getLoc())
           << nameOf(value) << " of shape ["
           << llvm::interleaved(type.getShape()) << "] has " << why;
  total = saturatingAdd(total, tensorBytes(type.getShape(), width));
  if (total <= kMostProgramBytes)
    return success();
  return emitError(value.getLoc())
         << "with " << nameOf(value) << ", all tensors together have " << total
         << " bytes, but a program has at most " << kMostProgramBytes
         << "; make its tensors smaller";
}

LogicalResult weft::verifySizes(Operation *root) {
  int64_t total = 0;
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto isRefused = [&](Value value) { return failed(count(value, total)); };
    bool refused = llvm::any_of(op->getResults(), isRefused);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        refused = refused || llvm::any_of(block.getArguments(), isRefused);
    return refused ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
