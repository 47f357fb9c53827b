//===- Wrappers.h - optimizers made of others --------------------*- C++ -*-===//
//
// Private to the optimizers. The optimizers' own variables come before those of
// the inner optimizers:
//
//   LossScaleOptimizer   loss_scale_optimizer/iteration, learning_rate,
//                        step_counter, dynamic_scale
//     Adam               adam/iteration, adam/learning_rate, ...
//
//   MultiOptimizer       multi_optimizer/iteration, learning_rate
//     SGD                sgd/iteration, ...   weights that a pattern matches
//     Adam               adam/iteration, ...  the other weights
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H

#include "weft/compiler/frontends/keras/optimizers/Apply.h"

namespace weft::keras {

/// Takes the gradients of the loss multiplied by a scale. The scale doubles
/// after `dynamic_growth_steps` finite steps, and halves if a gradient is not
/// finite; then the step only resets the counter of finite steps, too.
class LossScaleOptimizer : public Optimizer {
  OptimizerPtr inner;
  double initialScale = 1 << 15;
  int64_t growthSteps = 2000;

public:
  std::string ratePath() const override { return inner->ratePath(); }
  std::string complaint(llvm::ArrayRef<WeightFacts> weights) const override {
    return inner->complaint(weights);
  }
  void options(Options &o) override;
  std::vector<OptimizerVariable> variables(llvm::ArrayRef<WeightFacts> weights,
                                           bool) const override;
  void step(OptimizerStep &step) const override;
  std::optional<unsigned> scaleVariable() const override;
  std::vector<InnerOptimizer>
  innerOptimizers(llvm::ArrayRef<WeightFacts> weights, bool) const override;

private:
  /// Updates the counter of finite steps and the scale.
  void updateScale(Tensors &t, Tensor isFinite, Value &counter,
                   Value &scale) const;
};

/// The optimizers of weights, by patterns of their paths.
class OptimizerMap : public Configured {
public:
  OptimizerPtr otherwise;
  std::vector<std::pair<std::string, OptimizerPtr>> byPattern;

  void options(Options &o) override;
  /// The position in byPattern, or byPattern.size() for `otherwise`; sets
  /// an error for invalid patterns, and if several match.
  size_t find(const std::string &weight, Status &status) const;
};

/// A table of this class only; it is then read and written like other objects.
const Table<OptimizerMap> &optimizerMapTable();

/// Updates each weight by one of several optimizers, chosen by its path.
class MultiOptimizer : public Optimizer {
  std::shared_ptr<const OptimizerMap> map;

public:
  void options(Options &o) override;
  std::string ratePath() const override { return ""; }
  std::string complaint(llvm::ArrayRef<WeightFacts> weights) const override;
  std::vector<OptimizerVariable> variables(llvm::ArrayRef<WeightFacts> weights,
                                           bool isScaled) const override;
  void step(OptimizerStep &step) const override;
  std::vector<InnerOptimizer>
  innerOptimizers(llvm::ArrayRef<WeightFacts> weights,
                  bool isScaled) const override;

private:
  /// An optimizer and the positions of its weights.
  struct Group {
    OptimizerPtr optimizer;
    llvm::SmallVector<unsigned> positions;
    std::vector<WeightFacts> weights;
  };
  std::vector<Group> groups(llvm::ArrayRef<WeightFacts> weights) const;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_WRAPPERS_H
