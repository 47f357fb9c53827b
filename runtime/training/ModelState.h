//===- ModelState.h - a model's variables on the devices --------*- C++ -*-===//
//
//   ModelState state(runtime);
//   state.addPorts(trainProgram);          // one buffer for each variable
//   state.initialise();                    // Keras' initial values
//   for (const StoredArray &array : *openNpz("w.npz"))
//     state.load(array);
//   trainer.fit(...);                      // programs share the buffers
//   writeKerasArchive("out.keras", {{}, config, bySavedPath(state.stored(), map)}, groups);
//
// A port's metadata says how its variable begins:
//   {"initializer": {"class_name": "GlorotUniform", "config": {}}, "seed": 12}
//   {"value": 0.001}      {"value": [1337, 0]}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_MODELSTATE_H
#define WEFT_RUNTIME_TRAINING_MODELSTATE_H

#include "weft/runtime/data/StoredArray.h"
#include "weft/runtime/training/Ports.h"

#include <functional>
#include <memory>

namespace weft {

class ModelState {
public:
  explicit ModelState(weft_runtime *runtime) : runtime(runtime) {}
  /// Makes a buffer for every variable that is not there yet. A program whose
  /// variable has another shape or dtype than one already there is refused.
  Status addPorts(const weft_program *program);
  /// Gives the variables that have no value yet their initial one.
  Status initialise();
  /// Gives each weight whose metadata names its average, {"average": PATH}, the
  /// value of that: what Keras does after the last epoch of fit
  /// (Optimizer.finalize_variable_values).
  Status takeAverages();
  /// Gives metrics' variables their initial values again: an epoch begins.
  Status resetMetrics();
  /// Values by variable path. `strict`: each variable must be given, and each
  /// array must belong to a variable.
  Status load(const std::vector<NamedArray> &arrays, bool strict);
  /// The value of one variable, block by block; nothing where the model has no
  /// variable of that name.
  Status load(const StoredArray &array);
  /// The same of several, one after the other.
  Status load(const std::vector<StoredArray> &arrays);
  /// All variables but metrics', in the order in which programs named them.
  Result<std::vector<NamedArray>> save() const;
  /// The same, to be read when needed. The state must be there as long.
  std::vector<StoredArray> stored() const { return storedValues(false); }
  /// Metrics' too.
  std::vector<StoredArray> storedAll() const { return storedValues(true); }
  Result<std::vector<NamedArray>> saveAll() const { return saved(true); }

  struct Variable {
    Port port;
    weft_buffer *buffer;
    bool hasValue = false;
    bool isDrawn = false; ///< its value came from a seed
  };
  /// Whether any variable has a value that came from a seed.
  bool hasDrawn() const;
  const std::vector<Variable> &variables() const { return list; }
  /// Null where there is none.
  weft_buffer *buffer(std::string_view name) const;
  Result<Array> read(std::string_view name) const;
  /// The layers' weights, no optimizer's variables, one after the other.
  Status readWeights(
      const std::function<void(const std::string &, Array)> &take) const;
  Status write(std::string_view name, const Array &value);

private:
  Result<std::vector<NamedArray>> saved(bool metrics) const;
  std::vector<StoredArray> storedValues(bool metrics) const;
  Status set(Variable &variable, const Array &value);
  Status set(Variable &variable, const StoredArray &value);
  static Status checkShape(const Variable &variable, const Shape &shape);
  Variable *find(std::string_view name);
  struct Free {
    void operator()(weft_buffer *buffer) const { weft_buffer_free(buffer); }
  };
  weft_runtime *runtime;
  std::vector<Variable> list;
  std::vector<std::unique_ptr<weft_buffer, Free>> owned;
};

/// The value that a port's metadata describes, drawn when it is read.
Result<StoredArray> initialValue(const Port &port);

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_MODELSTATE_H
