//===- Meanings.h - the meaning of ops, by theme ----------------*- C++ -*-===//
//
// Each function gives the results of its family of ops, and nothing for any
// other op; meaningOfFold gives no results for a fold in which it reported an
// error.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_MEANINGS_H
#define WEFT_PASSES_INTERPRET_MEANINGS_H

#include "weft/passes/interpret/Interpret.h"

namespace weft {

using Operands = llvm::ArrayRef<const Tensor *>;

std::optional<Tensor> meaningOfElementwise(mlir::Operation *op, Operands in);
/// Elementwise ops with complex operands or results.
std::optional<Tensor> meaningOfComplex(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfSource(mlir::Operation *op, Operands in);
/// Fills a box of the target from the source.
void fillBox(Tensor &target, const Tensor &source, const MovedBox &box);
std::optional<Tensor> meaningOfShape(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfReduction(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfIndexing(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfWindow(mlir::Operation *op, Operands in);
std::optional<Tensor> meaningOfLinearAlgebra(mlir::Operation *op, Operands in);
/// Cumulative ops, arg_max, arg_min, top_k and sorts: some have several
/// results.
std::optional<Tensors> meaningOfScan(mlir::Operation *op, Operands in);
/// Calls of LAPACK, by the library that WEFT_LAPACK_LIBRARIES or the system has;
/// no results after an error.
std::optional<Tensors> meaningOfLapack(mlir::Operation *op, Operands in);
std::optional<Tensors> meaningOfFold(mlir::Operation *op, Operands in);

/// Results of a collective on every device, operands[position][operand];
/// nothing for other ops, failure with an error if the op is over another mesh
/// or the operands of a permute or exchange do not fit its layout.
std::optional<llvm::FailureOr<llvm::SmallVector<Tensors>>>
meaningOfCollective(mlir::Operation *op, const Mesh &mesh,
                    llvm::ArrayRef<llvm::SmallVector<const Tensor *>> operands);

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_MEANINGS_H
