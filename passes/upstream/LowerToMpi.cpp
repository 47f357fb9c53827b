//===- LowerToMpi.cpp - communication by upstream's mpi dialect -----------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/upstream/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_LOWERTOMPIPASS
#include "weft/passes/upstream/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// Whether MPI can send elements of this type: f32, f64 and integers of whole
/// bytes of signless type, whose reductions are signed.
static bool isSendable(Type element) {
  return element.isF32() || element.isF64() || element.isSignlessInteger(8) ||
         element.isSignlessInteger(16) || element.isSignlessInteger(32) ||
         element.isSignlessInteger(64);
}

static LogicalResult checkMovable(Operation *op) {
  if (!isa<coll::CollDialect>(op->getDialect()))
    return success();
  for (NamedAttribute attribute : op->getAttrs())
    if (auto layout = dyn_cast<LayoutAttr>(attribute.getValue()))
      for (auto [rank, id] :
           llvm::enumerate(layout.getMesh().getMesh().devices))
        if (id != static_cast<int64_t>(rank))
          return op->emitError("device ")
                 << id << " is at position " << rank
                 << " of the mesh, but a rank is a position; leave the list of "
                    "devices out";
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && !isSendable(tensor.getElementType()))
      return op->emitError("mpi sends no elements of ")
             << tensor.getElementType()
             << "; convert them to f32 or i32 before";
  return success();
}

/// Removes layouts, names and the mesh, which later compilers do not know.
static void removeAnnotations(ModuleOp module) {
  auto others = [&](DictionaryAttr all) {
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attribute :
         all ? all.getValue() : ArrayRef<NamedAttribute>())
      if (!attribute.getName().getValue().starts_with("weft."))
        kept.push_back(attribute);
    return DictionaryAttr::get(module.getContext(), kept);
  };
  module->setAttrs(others(module->getAttrDictionary()));
  module.walk([&](FunctionOpInterface function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      function.setArgAttrs(i, others(function.getArgAttrDict(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      function.setResultAttrs(i, others(function.getResultAttrDict(i)));
  });
}

namespace {
struct LowerToMpi : weft::impl::LowerToMpiPassBase<LowerToMpi> {
  void runOnOperation() override {
    WalkResult movable = getOperation().walk([](Operation *op) {
      return failed(checkMovable(op)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (movable.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateCollToMpiPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    removeAnnotations(getOperation());
  }
};
} // namespace
