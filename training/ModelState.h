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
// A port's facts have the variable's initial value: an initializer and a seed,
// or the elements.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_MODELSTATE_H
#define WEFT_TRAINING_MODELSTATE_H

#include "weft/data/arrays/StoredArray.h"
#include "weft/training/Ports.h"

#include <functional>
#include <memory>

namespace weft {

class ModelState {
public:
  explicit ModelState(weft_runtime *runtime) : runtime(runtime) {}
  /// Makes a buffer for every variable without one. Refuses a program whose
  /// variable has another shape or dtype than the existing one.
  Status addPorts(const weft_program *program);
  /// Draws initial values and random states as after
  /// keras.utils.set_random_seed(seed), where the ports' facts say which of
  /// the drawn numbers seeds a variable.
  void reseed(uint64_t seed);
  /// Sets variables without a value to their initial values.
  Status initialise();
  /// Sets each weight whose facts name its average to the average's value, as Keras does after the last epoch of fit
  /// (Optimizer.finalize_variable_values).
  Status takeAverages();
  /// Resets metrics' variables to their initial values, at the start of an
  /// epoch.
  Status resetMetrics();
  /// Loads values by variable path. `strict`: each variable must be given, and
  /// each array must belong to a variable.
  Status load(const std::vector<NamedArray> &arrays, bool strict);
  /// Loads the value of one variable, block by block. An array without a
  /// variable of its name is ignored.
  Status load(const StoredArray &array);
  /// Loads several arrays, one after the other.
  Status load(const std::vector<StoredArray> &arrays);
  /// Saves all variables except metrics', in the order in which programs named
  /// them.
  Result<std::vector<NamedArray>> save() const;
  /// The arrays of save(), to be read when needed. The state must outlive them.
  std::vector<StoredArray> stored() const { return storedValues(false); }
  /// The arrays of stored(), and metrics' variables.
  std::vector<StoredArray> storedAll() const { return storedValues(true); }

  struct Variable {
    Port port;
    weft_buffer *buffer;
    bool hasValue = false;
    bool isDrawn = false; ///< whether its value came from a seed
  };
  /// Whether any variable has a value that came from a seed.
  bool hasDrawn() const;
  const std::vector<Variable> &variables() const { return list; }
  /// The buffer of a variable, or null.
  weft_buffer *buffer(std::string_view name) const;
  Result<Array> read(std::string_view name) const;
  /// The values of Keras' get_weights(): the layers' weights and moving
  /// statistics, not random states nor the optimizer's variables.
  std::vector<StoredArray> storedWeights() const;
  Status write(std::string_view name, const Array &value);

private:
  std::vector<StoredArray> storedValues(bool metrics) const;
  Status set(Variable &variable, const Array &value);
  Status set(Variable &variable, const StoredArray &value);
  Variable *find(std::string_view name);
  struct Free {
    void operator()(weft_buffer *buffer) const { weft_buffer_free(buffer); }
  };
  weft_runtime *runtime;
  std::vector<Variable> list;
  std::vector<std::unique_ptr<weft_buffer, Free>> owned;
};

/// The value of a port in a buffer of it, whose blocks are read when needed.
StoredArray storedIn(weft_buffer *buffer, const Port &port);
/// Writes a value to a buffer of a port, block by block.
Status writeStored(weft_buffer *buffer, const Port &port,
                   const StoredArray &value);

/// The value that a port's facts describe, drawn when it is read.
Result<StoredArray> initialValue(const Port &port);

} // namespace weft

#endif // WEFT_TRAINING_MODELSTATE_H
