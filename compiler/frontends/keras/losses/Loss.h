//===- Loss.h - the losses of Keras ------------------------------*- C++ -*-===//
//
// A loss has one value for each sample and each further dimension except the
// last (Circle and CTC one for each sample, Dice and Tversky one for the batch
// by default). Its reduction combines them to one number. As in Keras a mean is
// the sum divided by the number of values, and by the sum of the samples'
// weights only for "mean_with_sample_weight".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H

#include "weft/base/config/Options.h"

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
  /// Whether labels are class numbers, without the last dimension.
  virtual bool takesClassNumbers() const { return false; }
  /// Whether labels must be from 0 up to the number of classes - 1.
  virtual bool labelsArePositions() const { return false; }
  /// The number that pads a sample's labels if they are fewer than its
  /// predictions.
  virtual std::optional<int64_t> labelPadding() const { return std::nullopt; }
  /// The reason, "needs ..." or "has ...", why predictions whose samples have
  /// this shape do not fit; empty if they fit.
  virtual std::string complaint(llvm::ArrayRef<int64_t>) const { return ""; }
  /// The loss of each sample, before the reduction.
  virtual mlir::Value values(Tensors &t, mlir::Value label,
                             mlir::Value prediction) const = 0;
  /// An i1 mask of the values that count, in their shape; null: all count.
  virtual mlir::Value mask(Tensors &, mlir::Value label,
                           mlir::Value values) const;
  /// The loss of one batch, a scalar. `weight` has one number for each sample
  /// or each value, or is null. `inMask` is the mask of the predictions (i1, in
  /// the shape of the values), or null. Sets `complaint` if the weights do not
  /// fit.
  mlir::Value reduced(Tensors &t, mlir::Value label, mlir::Value prediction,
                      mlir::Value weight, mlir::Value inMask,
                      std::string &complaint) const;
};

using LossPtr = std::shared_ptr<const Loss>;
const Table<Loss> &lossTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H
