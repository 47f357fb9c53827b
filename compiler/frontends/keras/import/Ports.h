//===- Ports.h - arguments and results of a step -----------------*- C++ -*-===//
//
// Private to the Keras front end. Collects the arguments of a step, in the
// order of Import.h, and the results that are added while the step is built:
//
//   StepPorts ports(builder, model, StepKind::Train, options);
//   ports.annotate(distribution);
//   OwningOpRef<ModuleOp> module = ports.createModule();
//   func::FuncOp function = ports.createFunction();
//   StepValues values = ports.values(function);
//   ...
//   ports.addMetric("loss", scalar);
//   ports.addState(values, before);                // updated variables
//   ports.finish(function);
//
// Results are the state, then the loss, metrics and predictions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_PORTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_PORTS_H

#include "weft/base/PortRole.h"
#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::keras {

/// The tensors of a batch that a step reads. Labels and weights have an entry
/// for each output, which is null if the step takes none.
struct Batch {
  llvm::SmallVector<Value> inputs, labels, weights;

  /// Visits the values that exist, in the order of the arguments.
  void each(llvm::function_ref<void(Value &)> visit) {
    for (llvm::SmallVector<Value> *list : {&inputs, &labels, &weights})
      for (Value &value : *list)
        if (value)
          visit(value);
  }
};

struct StepValues {
  llvm::SmallVector<Value> variables; ///< null: not an argument
  llvm::SmallVector<Value> slots;     ///< the optimizer's variables
  llvm::SmallVector<Value> metrics;   ///< the variables of all metrics in order
  Batch batch;
};

class StepPorts {
public:
  StepPorts(mlir::OpBuilder &builder [[clang::lifetimebound]],
            const Model &model [[clang::lifetimebound]], StepKind step,
            const ImportOptions &options)
      : builder(builder), model(model), step(step), options(options) {}

  /// Annotates all ports but predictions with layouts, unless `distribution` is
  /// null (one device). Fails with an error if the model does not fit the
  /// distribution.
  mlir::LogicalResult annotate(const Distribution *distribution);
  /// Creates the module, with its mesh; createFunction() appends to it.
  mlir::OwningOpRef<mlir::ModuleOp> createModule();
  mlir::func::FuncOp createFunction();
  StepValues values(mlir::func::FuncOp function) const;
  /// Adds results for the variables that the step changes, which reuse the
  /// memory of their arguments.
  void addState(const StepValues &after, const StepValues &before);
  /// Adds the result metrics/NAME. The facts say how the values of batches are
  /// combined, and whether larger values are better.
  void addMetric(const std::string &name, Value value,
                 const PortFacts &facts = {});
  void addOutput(const std::string &name, Value value);
  void finish(mlir::func::FuncOp function);

  /// Where the layers are.
  LayerLayouts layerLayouts() const;

private:
  void addVariables();
  void addOptimizer();
  void addMetrics();
  void addBatch();
  /// Adds an argument.
  void add(const std::string &name, Role role, const PortFacts &facts,
           mlir::RankedTensorType type, const ResolvedLayout *layout) {
    types.push_back(type);
    arguments.push_back(attributesOf(name, role, facts, layout));
  }
  const ResolvedLayout *layoutOf(const std::string &path, int64_t rank);
  const ResolvedLayout *batchLayoutOf(llvm::ArrayRef<int64_t> sample,
                                      unsigned output);
  mlir::RankedTensorType batched(llvm::ArrayRef<int64_t> sample,
                                 mlir::Type element) const;
  /// The name of a port: NAME, or STEM/NAME if there are several.
  std::string portName(const char *stem, const std::string &name,
                       size_t count) const {
    return count == 1 ? stem : stem + ("/" + name);
  }
  mlir::NamedAttrList attributesOf(const std::string &name, Role role,
                                   const PortFacts &facts,
                                   const ResolvedLayout *layout);

  mlir::OpBuilder &builder;
  const Model &model;
  StepKind step;
  ImportOptions options;
  const Distribution *distribution = nullptr;
  std::optional<ResolvedLayouts> layouts;
  std::map<int64_t, ResolvedLayout> replicated; ///< indexed by rank
  std::map<std::pair<std::vector<int64_t>, MeshPart>, ResolvedLayout>
      ofBatch; ///< by shape and part
  MeshAttr mesh;

  size_t optimizerVariables = 0, metricVariables = 0;
  llvm::SmallVector<mlir::Type> types; ///< types of the arguments
  llvm::SmallVector<mlir::NamedAttrList> arguments;
  std::vector<std::pair<mlir::NamedAttrList, Value>> results, shown;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_PORTS_H
