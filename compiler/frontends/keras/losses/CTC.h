//===- CTC.h - the loss of label sequences without times ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CTC_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CTC_H

#include "weft/compiler/frontends/keras/losses/Losses.h"

namespace weft::keras {

/// -log of the probability that a sequence of classes is the labels in order,
/// with blanks (class 0) and repetitions between them (Graves et al., ICML
/// 2006). Predictions are scores (batch, times, classes); labels are class
/// numbers, padded with 0. The computation follows keras.ops.ctc_loss on JAX.
class CTC : public Loss {
  void ownOptions(Options &) override {}

public:
  bool takesClassNumbers() const override { return true; }
  std::optional<int64_t> labelPadding() const override { return 0; }
  std::string complaint(llvm::ArrayRef<int64_t> sample) const override;
  Tensor values(Tensors &t, Tensor label, Tensor prediction) const override;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LOSSES_CTC_H
