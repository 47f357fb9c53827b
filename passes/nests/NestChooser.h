//===- NestChooser.h - the loop nests of one kernel -------------*- C++ -*-===//
//
//   func.func private @k(%x: tensor<16x8xf32>, %b: tensor<8xf32>) -> tensor<16x8xf32> {
//     %0 = weft.broadcast %b dims [1]        one nest, flat or by dimensions:
//     %1 = weft.add %x, %0                   the result is stored, the others
//     %2 = weft.relu %1                      are computed where it needs them
//     return %2
//   }
//
// Stored values are the results of the kernel, the results of ops with their
// own loops (a dot, a reduction, a sort), values that these ops read often, and
// values that are expensive to compute and needed twice. Consecutive values of
// one shape that do not read each other at other positions share a nest; it
// joins a contraction in front of it.
//
// A stored value is in the memory of a result if the result is computed from it
// alone, element by element; else in scratch memory, which is on a worker's
// stack, or, if it is too large for that, in memory that the plan gives the
// launch. So no size of a value is too large for a kernel.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_NESTS_NESTCHOOSER_H
#define WEFT_PASSES_NESTS_NESTCHOOSER_H

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/nest/TargetLimits.h"

#include "llvm/ADT/MapVector.h"

namespace weft {

/// Values that one nest stores, computed by one walk.
struct ChosenNest {
  llvm::SmallVector<mlir::Value> stored;
  mlir::Attribute walk;
};

class NestChooser {
public:
  NestChooser(mlir::func::FuncOp kernel,
              const nest::TargetLimits &limits [[clang::lifetimebound]],
              nest::MatmulPrecision precision);
  /// Replaces the kernel's body by nests.
  void choose();
  llvm::ArrayRef<ChosenNest> nests() const { return chosen; }
  /// The number of values placed in no result's memory, before contractions are
  /// joined.
  unsigned kept() const { return numKept; }

private:
  bool isInMemory(mlir::Value value) const;
  // Choice of stored values.
  void chooseStored();
  void formNests();
  void addNest(llvm::ArrayRef<mlir::Value> stored, mlir::Attribute walk);
  int64_t chooseSide(llvm::ArrayRef<mlir::Value> values, bool isFlat);
  void addElements(llvm::SetVector<mlir::Value> &group);
  mlir::Attribute chooseRows(int64_t dims, llvm::ArrayRef<mlir::Value> values);
  mlir::Attribute chooseSums(mlir::Operation *sum);
  void addSums(mlir::Operation *sum, llvm::ArrayRef<mlir::Value> values);
  mlir::Attribute chooseTurned(llvm::ArrayRef<mlir::Value> values);
  bool formOneNest(std::string &why);
  // Places of stored values.
  void placeResults();
  bool canShareResult(mlir::Value value, mlir::Value result);
  void placeStored();
  void numberPlaces();
  void decide(int64_t scratch, int64_t planned, nest::ShareAttr share,
              llvm::StringRef reason);
  void decideMemory(nest::ShareAttr share, llvm::StringRef reason);
  // Shares of workers (NestShares.cpp).
  bool copiesResults();
  nest::ShareAttr chooseShare();
  std::optional<nest::SharedRows> shareOfOwn(mlir::Operation *op, int64_t &dim);
  std::optional<nest::SharedRows> shareOfPositions();
  // Rows (NestShares.cpp).
  int64_t bytesAtOnce(mlir::Value value) const;
  bool formRowNests();
  bool readsOwnRows();
  std::optional<nest::SharedRows> shareOfRows();
  int64_t blockOfRows();
  // The IR.
  llvm::SmallVector<mlir::Operation *> bodyOf(const ChosenNest &nest);
  void emitNest(mlir::OpBuilder &builder, const ChosenNest &nest);
  void joinEpilogues();
  void emit(nest::ShareAttr share, llvm::StringRef reason);

  mlir::func::FuncOp kernel;
  const nest::TargetLimits &limits;
  const nest::MatmulPrecision precision;
  mlir::Block &block;
  llvm::SetVector<mlir::Value> stored;
  llvm::SmallVector<ChosenNest> chosen;
  llvm::DenseMap<mlir::Value, nest::PlaceAttr> places;
  llvm::DenseMap<mlir::Value, mlir::Value>
      results;      ///< result of a nest for each stored value
  int64_t rows = 0; ///< rows of a kernel whose nests compute rows; 0 for others
  int64_t scratchBytes = 0; ///< bytes of values placed in scratch memory so far
  unsigned numKept = 0;
};

} // namespace weft

#endif // WEFT_PASSES_NESTS_NESTCHOOSER_H
