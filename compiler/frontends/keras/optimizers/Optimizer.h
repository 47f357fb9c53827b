//===- Optimizer.h - the optimizers of Keras ---------------------*- C++ -*-===//
//
// An optimizer has slots for each weight, and a formula that changes it:
//
//   RMSprop     slots {{"velocity"}}
//   Adam        slots {{"momentum", "velocity"}}
//               m += (g - m) * (1 - beta_1);  v += (g^2 - v) * (1 - beta_2)
//               w -= m * alpha / (sqrt(v) + epsilon)
//
// The common part is in Step.cpp, in the order of keras.optimizers.Optimizer:
// gradients of several batches are added up and clipped, weights decay, then
// they change, and moving averages are updated. An optimizer that contains
// others has variables and steps of its own (Wrappers.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"

#include "mlir/IR/Value.h"

namespace weft::keras {

class Tensors;
struct OptimizerStep;
struct UpdateInputs;
struct WeightUpdate;

/// A learning rate that is a function of the step's number.
class Schedule : public Configured {
public:
  /// The rate, a scalar of f32; `step` is the iteration as f32, from 0.
  virtual mlir::Value rate(Tensors &t, mlir::Value step) const = 0;
};
using SchedulePtr = std::shared_ptr<const Schedule>;
const Table<Schedule> &scheduleTable();

/// A variable of each weight, in its shape.
struct SlotKind {
  const char *name;
  double first = 0; ///< every element at the start
};

/// The facts of a weight that an optimizer may need.
struct WeightFacts {
  std::string path;
  llvm::ArrayRef<int64_t> shape;
  std::string dtype = "float32";
  ConstraintPtr constraint = nullptr;
};

/// The purpose of an optimizer's variable.
enum class SlotUse { Step, Average, Gradients, Slot, Scalar };

/// One variable of the optimizer.
struct OptimizerVariable {
  std::string path;
  std::vector<int64_t> shape = {};
  std::string dtype = "float32";
  double first = 0; ///< of every element
  SlotUse use = SlotUse::Step;
  int weight = -1; ///< position of its weight; -1: none
  /// Whether Keras does not track it if a LossScaleOptimizer builds it.
  bool isPlain = false;
  /// The optimizer's name, if this is the learning rate of training; else empty.
  std::string rateOf = "";
};

class Optimizer;
using OptimizerPtr = std::shared_ptr<const Optimizer>;

/// An optimizer inside another.
struct InnerOptimizer {
  std::string savedName; ///< where Keras saves it: inner_optimizer
  OptimizerPtr optimizer;
  std::vector<WeightFacts> weights; ///< the weights that it changes
  bool isScaled;                    ///< as for its variables
  unsigned begin, count; ///< its variables among the outer optimizer's
};

class Optimizer : public Configured {
public:
  std::string name;
  double learningRate = 0.001;
  SchedulePtr schedule; ///< instead of a learning rate
  std::optional<double> weightDecay;
  std::optional<double> clipNorm, globalClipNorm, clipValue;
  bool useEma = false; ///< keep moving averages of the weights
  double emaMomentum = 0.99;
  /// The steps between two overwrites of weights by averages; none: never.
  std::optional<int64_t> emaOverwriteFrequency;
  std::optional<double> lossScaleFactor;
  std::optional<int64_t> accumulationSteps; ///< batches of one change

  /// The first part of its variables' paths: rm_sprop, unless the file names
  /// it.
  std::string path() const {
    return name.empty() ? snakeCase(className) : name;
  }
  /// The variable that holds the learning rate, if there is one.
  virtual std::string ratePath() const { return path() + "/learning_rate"; }
  /// Reads the options of every optimizer, then those of the class.
  void options(Options &o) override;
  virtual void ownOptions(Options &) {}

  /// The reason why it cannot train these weights, or empty.
  virtual std::string complaint(llvm::ArrayRef<WeightFacts>) const {
    return "";
  }
  /// The variables in Keras' order. A path may occur twice. `isScaled`: as a
  /// LossScaleOptimizer builds them, without plain ones.
  virtual std::vector<OptimizerVariable>
  variables(llvm::ArrayRef<WeightFacts> weights, bool isScaled = false) const;
  /// Changes weights and variables by the gradients.
  virtual void step(OptimizerStep &step) const;
  /// The position of the variable by which the loss is multiplied before
  /// differentiation.
  virtual std::optional<unsigned> scaleVariable() const { return std::nullopt; }
  /// The optimizers that it contains.
  virtual std::vector<InnerOptimizer>
  innerOptimizers(llvm::ArrayRef<WeightFacts>,
                  bool /*isScaled*/ = false) const {
    return {};
  }

  /// The variable of a slot of a weight, without its use.
  virtual OptimizerVariable slotOf(const SlotKind &slot,
                                   const WeightFacts &facts) const;
  /// The slots of a weight; those of one inner list are adjacent for each
  /// weight.
  virtual std::vector<std::vector<SlotKind>> slots() const { return {}; }
  /// Whether this weight has the slot; if not, UpdateInputs has none for it.
  virtual bool keeps(const SlotKind &, const WeightFacts &) const {
    return true;
  }
  /// Scalars behind the slots. Keras numbers them separately: variable,
  /// variable_1.
  virtual std::vector<SlotKind> scalars() const { return {}; }
  virtual llvm::SmallVector<mlir::Value>
  newScalars(Tensors &, mlir::Value, llvm::ArrayRef<mlir::Value>) const {
    return {};
  }
  virtual std::optional<double> decayOf(const WeightFacts &) const {
    return weightDecay;
  }
  /// The new weight and slots from the old, in Keras' order of operations.
  virtual WeightUpdate update(Tensors &t, const UpdateInputs &in) const;
};

const Table<Optimizer> &optimizerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
