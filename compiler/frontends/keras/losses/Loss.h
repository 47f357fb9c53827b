//===- Loss.h - the losses of Keras ------------------------------*- C++ -*-===//
//
// A loss has one value for each sample (and each further dimension except the
// last). Its reduction combines them to one number, as in Keras: the sum is divided
// by the number of values, not by the sum of the samples' weights.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H

#include "weft/compiler/frontends/keras/schema/Options.h"

#include "llvm/ADT/ArrayRef.h"

namespace mlir {
class Value;
} // namespace mlir

namespace weft::keras {

class Tensors;

class Loss : public Configured {
public:
  std::string reduction = "sum_over_batch_size";

  /// Reads the options of every loss, then those of the class.
  void options(Options &o) final;
  virtual void ownOptions(Options &) {}
  /// Reads the options of the metric of the same name.
  virtual void metricOptions(Options &o) { ownOptions(o); }
  /// Whether labels are numbers of classes, without the last dimension.
  virtual bool takesClassNumbers() const { return false; }
  /// Whether labels must be in 0 .. last dimension - 1.
  virtual bool labelsArePositions() const { return false; }
  /// The number that pads a sample's labels if they are fewer than its
  /// predictions.
  virtual std::optional<int64_t> labelPadding() const { return std::nullopt; }
  /// The error of predictions of this shape (of a sample), or empty:
  /// "needs ...".
  virtual std::string complaint(llvm::ArrayRef<int64_t>) const { return ""; }
  /// One value for each sample.
  virtual mlir::Value values(Tensors &t, mlir::Value label,
                             mlir::Value prediction) const = 0;
  /// The values that count, as i1 in their shape; null: all.
  virtual mlir::Value mask(Tensors &, mlir::Value label,
                           mlir::Value values) const;
  /// Scalar loss of one batch; `weight` is one number a sample or one for each
  /// of the values, or null. `inMask` is that of the predictions (i1, in the
  /// shape of the values), or null. Sets `complaint` for weights that do not
  /// fit.
  mlir::Value reduced(Tensors &t, mlir::Value label, mlir::Value prediction,
                      mlir::Value weight, mlir::Value inMask,
                      std::string &complaint) const;
};

using LossPtr = std::shared_ptr<const Loss>;
const Table<Loss> &lossTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H
