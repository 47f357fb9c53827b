//===- FourierLines.h - lines between tensors and working memory *- C++ -*-===//
//
// Copies the lines of a group to working memory, where each has a lane
// (FourierStages.h), and from there to the result:
//
//   lines adjacent in memory          [line][position]: squares are transposed
//   elements of lines side by side    [position][line]: copied as they are
//   others, and computed elements     one by one
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERLINES_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERLINES_H

#include "weft/compiler/codegen/elements/FourierStages.h"
#include "weft/dialects/nest/FourierLoops.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

namespace weft::elements {

struct FourierLines {
  const FourierStages &stages;
  mutable FftOp op;
  const nest::FourierForm &form;
  mlir::Value outer; ///< if lanes are along inner lines: the position outside
  mlir::Value first; ///< the line of the first lane
  ElementEmitter &e = stages.e;
  int64_t lanes = stages.lanes;

  /// Copies lines to memory.here; memory.there is overwritten.
  llvm::LogicalResult read(Scratch memory) const;
  /// Copies the numbers, times `factor`, to the result.
  void write(mlir::Value memory, double factor) const;

private:
  struct Line {
    mlir::Value outer, inner;
  };
  /// Elements of a tensor in memory at the numbers of a row: `step` is 1 for
  /// real and imaginary parts, 2 for real parts alone.
  struct Row {
    int64_t components, step;
  };

  int64_t limit() const {
    return form.isAlongInner() ? form.inner : form.lines();
  }
  bool isFromReal() const { return op.getKind() == FftKind::RFFT; }
  bool isToReal() const { return op.getKind() == FftKind::IRFFT; }
  /// The numbers of a line that are read, and those that are written.
  int64_t numbersRead() const;
  int64_t numbersWritten() const;
  Line lineOf(mlir::Value lane) const;
  mlir::Value position(mlir::Value tensor, Line line, mlir::Value i) const;
  mlir::FailureOr<mlir::Value> element(Line line, mlir::Value i) const;
  mlir::FailureOr<Pair> numberAt(Line line, mlir::Value i) const;
  void put(Pair x, Line line, mlir::Value i) const;
  template <typename Body> void openIf(mlir::Value condition, Body body) const;
  template <typename Whole, typename Part>
  void byColumns(Whole whole, Part part) const;

  Row rowOf(mlir::Value tensor) const;
  template <typename Body> void eachSquare(Row row, Body body) const;
  void readRows(mlir::Value from, mlir::Value begin, int64_t apart, Row row,
                mlir::Value to) const;
  void writeRows(mlir::Value memory, Row row, double factor) const;
  mlir::Value rowBegin(mlir::Value begin, mlir::Value lane,
                       int64_t apart) const;
  llvm::LogicalResult fillRows(mlir::Value rows) const;
  llvm::LogicalResult fillLanes(mlir::Value memory) const;
  void readColumns(mlir::Value memory) const;
  void writeColumns(mlir::Value memory, double factor) const;
  void writeLanes(mlir::Value memory, double factor) const;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_FOURIERLINES_H
