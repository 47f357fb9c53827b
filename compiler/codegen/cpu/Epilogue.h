//===- Epilogue.h - ops on a tile's sums before they are stored -*- C++ -*-===//
//
// Emits the epilogue of a nest. For a nest that stores relu(dot(x, w) + b), on
// a tile that a contraction has summed in registers and put in a small buffer
// (nest/Epilogue.h):
//
//   for i in rows:
//     for j in columns:                      vectors
//       r[i, j] = relu(tile[i, j] + b[j])
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_EPILOGUE_H
#define WEFT_COMPILER_CODEGEN_CPU_EPILOGUE_H

#include "weft/compiler/codegen/cpu/KernelEmitter.h"

namespace weft::cpu {

/// Sums of the nest's op with loops; rows have a stride of `width` elements.
struct SummedTile {
  mlir::Value buffer;
  int64_t width;
  mlir::Value rows; ///< the number of rows, i64
  /// The row-major position of a row's first element in the result.
  llvm::function_ref<mlir::Value(mlir::Value row)> start;
  /// Whether the sums in the buffer are added to sums that are already stored.
  bool adds = false;
};

class Epilogue {
public:
  /// The epilogue of the nest; empty if it stores the results of its op only.
  Epilogue(KernelEmitter &kernel, nest::LoopsOp loops);
  bool isEmpty() const { return values.empty(); }
  /// Computes and stores the nest's values for the first `columns` columns of
  /// each row; if `columns` is constant, the loop over them is one of vectors.
  llvm::LogicalResult emit(const SummedTile &tile, mlir::Value columns);

private:
  elements::ElementIndex indexOf(mlir::Value start, mlir::Value column,
                                 llvm::ArrayRef<mlir::Value> row);
  llvm::LogicalResult emitElement(const SummedTile &tile, mlir::Value row,
                                  mlir::Value column, mlir::Value start,
                                  const elements::ElementIndex &index);

  elements::ElementEmitter &e;
  mlir::Value sums; ///< the results of the nest's op
  llvm::SmallVector<mlir::Value> values;
  bool isFlat = false;
  bool keepsSums = false; ///< whether another nest or a result has the sums
};

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_EPILOGUE_H
