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
// they change, moving averages are updated, and constraints are applied. An
// optimizer that contains others has variables and steps of its own
// (Wrappers.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"

namespace weft::keras {

class Tensors;
struct OptimizerStep;
struct UpdateInputs;
struct WeightUpdate;

/// A learning rate that is a function of the step's number.
class Schedule : public Configured {
public:
  /// The rate as a scalar of f32; `step` is the iteration as f32, which starts
  /// at 0.
  virtual Tensor rate(Tensors &t, Tensor step) const = 0;
};
using SchedulePtr = std::shared_ptr<const Schedule>;
const Table<Schedule> &scheduleTable();

/// A kind of variable that weights have, in the weight's shape unless slotOf()
/// changes it, or a scalar of the optimizer.
struct SlotKind {
  const char *name;
  double first = 0; ///< initial value of every element
};

/// The properties of a weight that an optimizer may need.
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
  double first = 0; ///< initial value of every element
  SlotUse use = SlotUse::Step;
  int weight = -1; ///< position of its weight; -1: none
  /// Whether Keras does not track the variable if a LossScaleOptimizer builds
  /// it.
  bool isPlain = false;
  /// The optimizer's name, if the variable is the learning rate of training.
  std::string rateOf = "";
};

class Optimizer;
using OptimizerPtr = std::shared_ptr<const Optimizer>;

/// An optimizer inside another.
struct InnerOptimizer {
  std::string savedName; ///< its attribute in Keras: inner_optimizer
  OptimizerPtr optimizer;
  std::vector<WeightFacts> weights; ///< the weights that it changes
  bool isScaled;                    ///< the argument of variables()
  unsigned begin, count;            ///< range in the outer's variables
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
  /// The number of steps after which averages overwrite the weights; none:
  /// never.
  std::optional<int64_t> emaOverwriteFrequency;
  std::optional<double> lossScaleFactor;
  std::optional<int64_t> accumulationSteps; ///< batches for each update

  /// The prefix of the variables' paths: the name in the file, or such as
  /// rm_sprop.
  std::string path() const {
    return name.empty() ? snakeCase(className) : name;
  }
  /// The path of the variable that holds the learning rate without a schedule;
  /// empty if there are several.
  virtual std::string ratePath() const { return path() + "/learning_rate"; }
  /// Reads the options of every optimizer, then those of the class.
  void options(Options &o) override;
  virtual void ownOptions(Options &) {}

  /// The reason why the optimizer cannot train these weights, or empty.
  virtual std::string complaint(llvm::ArrayRef<WeightFacts>) const {
    return "";
  }
  /// The variables in Keras' order; paths may repeat. With `isScaled` they are
  /// those that a LossScaleOptimizer builds, without plain ones and scalars.
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

  /// The variable for a slot of a weight; the caller sets its use.
  virtual OptimizerVariable slotOf(const SlotKind &slot,
                                   const WeightFacts &facts) const;
  /// The slots of each weight. Variables of the slots in one inner list are
  /// adjacent for each weight.
  virtual std::vector<std::vector<SlotKind>> slots() const { return {}; }
  /// Whether the weight has the slot; without it, UpdateInputs has no value for
  /// it.
  virtual bool keeps(const SlotKind &, const WeightFacts &) const {
    return true;
  }
  /// The scalar variables after the slots, which Keras numbers separately:
  /// variable, variable_1.
  virtual std::vector<SlotKind> scalars() const { return {}; }
  virtual std::vector<Tensor> newScalars(Tensors &, Tensor,
                                         llvm::ArrayRef<Tensor>) const;
  virtual std::optional<double> decayOf(const WeightFacts &) const {
    return weightDecay;
  }
  /// Computes the new weight and slots, in Keras' order of operations.
  virtual WeightUpdate update(Tensors &t, const UpdateInputs &in) const;
};

const Table<Optimizer> &optimizerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_OPTIMIZERS_OPTIMIZER_H
