//===- Optimizer.h - the optimizers of Keras ---------------------*- C++ -*-===//
//
// What an optimizer keeps for each weight, and how it changes it:
//
//   RMSprop     slots {{"velocity"}}
//   Adam        slots {{"momentum", "velocity"}}
//               m += (g - m) * (1 - beta_1);  v += (g^2 - v) * (1 - beta_2)
//               w -= m * alpha / (sqrt(v) + epsilon)
//
// What all have in common is written once (Apply.h), in the order of
// keras.optimizers.Optimizer: gradients of several batches are added up, they are
// clipped, weights decay, then they change, and moving averages follow them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H

#include "weft/compiler/frontends/keras/schema/Options.h"

#include "mlir/IR/Value.h"

namespace weft::keras {

class Tensors;
struct UpdateInputs;
struct WeightUpdate;

/// A learning rate that follows from the number of the step.
class Schedule : public Configured {
public:
  /// A scalar of f32; `step` is the iteration as f32, from 0.
  virtual mlir::Value rate(Tensors &t, mlir::Value step) const = 0;
};
using SchedulePtr = std::shared_ptr<const Schedule>;
const Table<Schedule> &scheduleTable();

/// A variable beside a weight, in its shape.
struct SlotKind {
  const char *name;
  double first = 0; ///< every element at the start
};

/// A weight as an optimizer may ask for it.
struct WeightFacts {
  std::string path;
  llvm::ArrayRef<int64_t> shape;
};

class Optimizer : public Configured {
public:
  std::string name; ///< first part of its variables' paths: rm_sprop
  double learningRate = 0.001;
  SchedulePtr schedule; ///< in the place of a learning rate
  std::optional<double> weightDecay;
  std::optional<double> clipNorm, globalClipNorm, clipValue;
  bool useEma = false; ///< keep moving averages of the weights
  double emaMomentum = 0.99;
  std::optional<int64_t> emaOverwriteFrequency; ///< steps between two, or never
  std::optional<double> lossScaleFactor;
  std::optional<int64_t> accumulationSteps; ///< batches of one change

  /// The options of every optimizer, then those of the class.
  void options(Options &o) final;
  virtual void ownOptions(Options &o) = 0;
  /// Slots that stand together are side by side for each weight.
  virtual std::vector<std::vector<SlotKind>> slots() const = 0;
  /// Has this weight the slot? Where not, UpdateInputs has none for it.
  virtual bool keeps(const SlotKind &, const WeightFacts &) const {
    return true;
  }
  /// Scalars behind the slots. Keras numbers them apart: variable, variable_1.
  virtual std::vector<SlotKind> scalars() const { return {}; }
  virtual llvm::SmallVector<mlir::Value>
  newScalars(Tensors &, mlir::Value, llvm::ArrayRef<mlir::Value>) const {
    return {};
  }
  virtual std::optional<double> decayOf(const WeightFacts &) const {
    return weightDecay;
  }
  /// The new weight and slots from the old, in Keras' order of operations.
  virtual WeightUpdate update(Tensors &t, const UpdateInputs &in) const = 0;
};

using OptimizerPtr = std::shared_ptr<const Optimizer>;
const Table<Optimizer> &optimizerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
