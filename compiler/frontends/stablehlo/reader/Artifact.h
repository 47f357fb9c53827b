//===- Artifact.h - portable artifacts of StableHLO -------------*- C++ -*-===//
//
// Private to the StableHLO front end. A portable artifact is MLIR bytecode of
// the dialects vhlo (StableHLO with versions) and sdy. The codes of attributes
// and types are defined by StableHLO's VhloBytecode.cpp and
// StablehloBytecode.cpp, and by Shardy's bytecode/dialect.cc. Each becomes a
// builtin attribute or type.
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
/// Makes the reader of StableHLO's own types, which tokens have where Shardy's
/// ops use them.
std::unique_ptr<mlir::DialectInterface>
makeStablehloBytecode(mlir::Dialect *dialect);

/// Registers the reader of properties for the ops of a loaded dialect. From
/// bytecode 5 on (StableHLO 0.15) ops have properties, which are attributes in
/// the order of their names, without the names.
void attachOpProperties(mlir::Dialect *dialect);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_ARTIFACT_H
