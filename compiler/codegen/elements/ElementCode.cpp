//===- ElementCode.cpp - what an op is to a code generator ----------------===//

#include "weft/compiler/codegen/elements/ElementCode.h"

#include "weft/compiler/codegen/elements/AttachElements.h"
#include "weft/dialects/coll/Coll.h"

using namespace mlir;

namespace weft::elements {

#include "weft/compiler/codegen/elements/ElementCode.cpp.inc"

void registerElementCode(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, WeftDialect *) {
    attachScalarCode(context);
    attachGeneratedElements(context);
    attachMovedElements(context);
    attachIndexedElements(context);
  });
  registry.addExtension(+[](MLIRContext *context, coll::CollDialect *) {
    attachCoordinateElements(context);
    attachMovedBlocks(context);
  });
}

static Flatness flatnessOf(Operation *op) {
  if (auto code = dyn_cast<ElementCodeOpInterface>(op))
    return code.getFlatness();
  return isa<ScalarCodeOpInterface>(op) ? Flatness::Through : Flatness::Never;
}

bool isFlat(ArrayRef<Value> roots, const ElementEmitter &emitter) {
  llvm::SetVector<Value> values(roots.begin(), roots.end());
  for (unsigned i = 0; i < values.size(); ++i) {
    if (i >= roots.size() && emitter.isInMemory(values[i]))
      continue;
    Operation *op = values[i].getDefiningOp();
    Flatness flatness = op ? flatnessOf(op) : Flatness::Never;
    if (flatness == Flatness::Never)
      return false;
    if (flatness == Flatness::Through)
      values.insert_range(op->getOperands());
  }
  return true;
}

} // namespace weft::elements
