//===- ElementCode.cpp - facts about ops for code generators --------------===//

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
    attachTermCode(context);
    attachWindowTerms(context);
    attachFourierTerms(context);
    attachNestCode(context);
  });
  registry.addExtension(+[](MLIRContext *context, coll::CollDialect *) {
    attachCoordinateElements(context);
    attachMovedBlocks(context);
  });
}

} // namespace weft::elements
