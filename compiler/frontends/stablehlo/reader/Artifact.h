//===- Artifact.h - portable artifacts of StableHLO -------------*- C++ -*-===//
//
// Private to the StableHLO front end. A portable artifact is MLIR bytecode of
// the dialect vhlo (StableHLO with versions) and sdy. The numbers of attributes
// and types are those of StableHLO's VhloBytecode.cpp and StablehloBytecode.cpp
// and of Shardy's bytecode/dialect.cc; each becomes a builtin attribute or type here.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_ARTIFACT_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_ARTIFACT_H

#include "mlir/IR/Dialect.h"

#include <memory>

namespace weft::stablehlo {

std::unique_ptr<mlir::DialectInterface>
makeVhloBytecode(mlir::Dialect *dialect);
std::unique_ptr<mlir::DialectInterface>
makeShardyBytecode(mlir::Dialect *dialect);
/// Makes the reader of StableHLO's own types: tokens that pass through Shardy's
/// ops keep them.
std::unique_ptr<mlir::DialectInterface>
makeStablehloBytecode(mlir::Dialect *dialect);

/// Registers the names of the ops of a loaded dialect with the reader. From
/// bytecode 5 on (StableHLO 0.15) ops have properties: attributes in the order
/// of their names, without the names.
void attachOpProperties(mlir::Dialect *dialect);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_ARTIFACT_H
