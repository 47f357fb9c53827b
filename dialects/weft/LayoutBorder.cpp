//===- LayoutBorder.cpp - with layouts in types, or without ---------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft;

/// Whether a ranked tensor among the types has a layout, or lacks a layout.
static bool anyTensor(TypeRange types, bool withLayout) {
  return llvm::any_of(types, [&](Type type) {
    return isa<RankedTensorType>(type) && bool(getLayout(type)) == withLayout;
  });
}
static bool anyTensor(Operation *op, bool withLayout) {
  return anyTensor(op->getOperandTypes(), withLayout) ||
         anyTensor(op->getResultTypes(), withLayout);
}

bool weft::carriesLayout(Operation *op) { return anyTensor(op, true); }
bool weft::layoutMissing(Operation *op) { return anyTensor(op, false); }

/// Whether the op's regions have no layouts: scalars of an op with a rule, one
/// device's program on blocks.
static bool isOnBlocks(Operation *op) {
  auto says = dyn_cast<FixedLayoutsOpInterface>(op);
  return isa<ShardingRuleOpInterface>(op) ||
         (says && says.getFreeAxes().empty());
}

LogicalResult weft::verifyLaidOut(Pass &pass, Operation *module) {
  WalkResult result = module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = dyn_cast<FunctionOpInterface>(op);
    bool isMissing = function && !function.isExternal() &&
                     anyTensor(function.getArgumentTypes(), false);
    if (!isMissing && !layoutMissing(op))
      return isOnBlocks(op) ? WalkResult::skip() : WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "' has a tensor without a layout; run "
                       "--weft-propagate-layouts before --"
                    << pass.getArgument();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// The annotation of the first port that is annotated as a shard but is no
/// shard; null if there is none.
static LayoutAttr unpartitionedPort(FunctionOpInterface function) {
  auto check = [](DictionaryAttr attributes) -> LayoutAttr {
    auto layout =
        attributes ? attributes.getAs<LayoutAttr>(kLayoutAttr) : LayoutAttr();
    bool isPartitioned = !layout || attributes.get("weft.global_type") ||
                         layout.getLayout().isReplicated();
    return isPartitioned ? LayoutAttr() : layout;
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (LayoutAttr layout = check(function.getArgAttrDict(i)))
      return layout;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (LayoutAttr layout = check(function.getResultAttrDict(i)))
      return layout;
  return {};
}

LogicalResult weft::verifyPartitioned(Pass &pass, Operation *module) {
  WalkResult result = module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    LayoutAttr port;
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      port = unpartitionedPort(function);
    if (!port && !carriesLayout(op))
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitError() << "'" << op->getName();
    if (port)
      error << "' has a port laid out " << port << ", but of global size";
    else
      error << "' has a layout in a type";
    error << "; run --weft-partition before --" << pass.getArgument();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
