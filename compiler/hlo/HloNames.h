//===- HloNames.h - XLA's names of ops, types, attributes -------*- C++ -*-===//
//
// This header is private to the folder. The names come from the definitions of
// the ops and from HloNames.td.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_HLO_HLONAMES_H
#define WEFT_COMPILER_HLO_HLONAMES_H

#include "weft/layout/Layout.h"

#include "mlir/IR/Operation.h"

namespace weft::hlo {

/// XLA's opcode of an op, "all-reduce"; empty for an op without an opcode.
std::string opcodeOf(mlir::Operation *op);
/// XLA's name of an attribute of Weft's ops.
llvm::StringRef attributeName(llvm::StringRef name);
/// The words before the computations of an instruction, with spaces between
/// them; empty for instructions without special words.
llvm::StringRef computationWords(llvm::StringRef opcode);

/// The text of a shape, "f32[4,8]{1,0}"; "(f32[4]{0}, pred[])" for several.
std::string shapeText(mlir::Type type);
std::string shapeText(mlir::TypeRange types);
/// The text of an op's attributes, ", dimensions={1,0}, count=3", without
/// reasons, layouts, the kind of a reduction, data, and names with a dot.
std::string attributesText(mlir::Operation *op);
/// The text of an op's devices, ", channel_id=1, replica_groups={{0,1},{2,3}},
/// use_global_device_ids=true" or ", channel_id=1,
/// source_target_pairs={{0,1},{1,0}}"; empty without communication. Counts
/// `channels`.
std::string devicesText(mlir::Operation *op, int64_t &channels);
/// The text of an op's location, ", metadata={op_name=... source_file=...
/// source_line=3}", as far as known.
std::string metadataText(mlir::Operation *op);

} // namespace weft::hlo

#endif // WEFT_COMPILER_HLO_HLONAMES_H
