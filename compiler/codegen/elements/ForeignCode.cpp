//===- ForeignCode.cpp - code that ops of other projects make -------------===//

#include "weft/compiler/codegen/elements/ForeignCode.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weft::elements {

std::string foreignOps(func::FuncOp kernel) {
  llvm::SetVector<StringRef> names;
  kernel.walk([&](Operation *op) {
    if (!isa_and_nonnull<WeftDialect, coll::CollDialect, nest::NestDialect,
                         func::FuncDialect>(op->getDialect()))
      names.insert(op->getName().getStringRef());
  });
  return llvm::join(names, ", ");
}

LogicalResult verifyForeignCode(StringRef names, Operation *code) {
  if (names.empty() || succeeded(mlir::verify(code)))
    return success();
  return code->emitError("the element code of ")
         << names << " makes invalid code; an element is computed in the loop "
         << "that knows its position, on values of its compute type";
}

} // namespace weft::elements
