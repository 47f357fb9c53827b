//===- PortFactsAttr.h - facts of ports as attributes -----------*- C++ -*-===//
//
//   %w: tensor<4xf32> {weft.facts = {saved = "layers/dense/vars/0", seed = 12}}
//
//   function.setArgAttr(i, kFactsAttr, factsAttr(context, facts));
//   FailureOr<PortFacts> facts = factsOf(attribute, emitError);
//
// The entries are those of base/PortFacts.def: Text and Json are strings, Flag
// a unit, Integer an i64, Integers array<i64: ...>, Numbers array<f64: ...>.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_PORTFACTSATTR_H
#define WEFT_DIALECTS_WEFT_PORTFACTSATTR_H

#include "weft/base/PortFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"

namespace weft {

/// The dictionary of the given facts; null if no fact is given.
mlir::DictionaryAttr factsAttr(mlir::MLIRContext *context,
                               const PortFacts &facts);

/// Reads a dictionary; null has no facts. Emits an error for an entry that is
/// no fact, and for a fact of another type.
llvm::FailureOr<PortFacts>
factsOf(mlir::Attribute attribute,
        llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
/// Reads an attribute that the verifier has accepted.
PortFacts verifiedFactsOf(mlir::Attribute attribute);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PORTFACTSATTR_H
