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

namespace weft::formulas {
class Tensor;
} // namespace weft::formulas

namespace weft::keras {

using formulas::Tensor;
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
  virtual Tensor values(Tensors &t, Tensor label, Tensor prediction) const = 0;
  /// An i1 mask of the values that count, in their shape; null: all count.
  virtual Tensor mask(Tensors &, Tensor label, Tensor values) const;
  /// The loss of one batch, a scalar. `weight` has one number for each sample
  /// or each value, or is null. `inMask` is the mask of the predictions (i1, in
  /// the shape of the values), or null. Sets `complaint` if the weights do not
  /// fit.
  Tensor reduced(Tensors &t, Tensor label, Tensor prediction, Tensor weight,
                 Tensor inMask, std::string &complaint) const;
};

using LossPtr = std::shared_ptr<const Loss>;
const Table<Loss> &lossTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_LOSS_H
