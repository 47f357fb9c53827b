//===- Ports.h - ports of a compiled program --------------------*- C++ -*-===//
//
//   for (const Port &port : inputPorts(program))
//     if (port.holdsState()) ...   // weights, statistics, slots, metrics' state
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_PORTS_H
#define WEFT_TRAINING_PORTS_H

#include "weft/base/PortRole.h"
#include "weft/data/arrays/Array.h"
#include "weft/runtime/abi/processes.h"

#include <nlohmann/json_fwd.hpp>

namespace weft {

struct Port {
  std::string name; ///< d1/kernel, x, metrics/loss
  Role role;
  ElementType type;
  Shape shape;          ///< global
  int donatedTo;        ///< input: the output that reuses its memory, or -1
  std::string metadata; ///< JSON, or empty

  bool holdsState() const { return weft::holdsState(role); }
  /// Whether Keras counts the port among a layer's weights, as it does moving
  /// statistics.
  bool isWeight() const;
  bool isData() const { return holdsBatch(role); }
};

std::vector<Port> inputPorts(const weft_program *program);
std::vector<Port> outputPorts(const weft_program *program);

/// The metric's name: loss, for the port metrics/loss.
std::string metricName(const Port &port);
/// An entry of a port's metadata; null if there is none.
nlohmann::json metadataEntry(const Port &port, const char *key);
/// A metadata entry that is a string; empty if it is not one.
std::string metadataText(const Port &port, const char *key);

/// Takes ownership of a runtime's error; success for null.
Status takeError(weft_error *error);
/// Copies rank 0's bytes to every process; `processes` may be null.
Status shareBytes(weft_processes *processes, std::vector<uint8_t> &bytes);

} // namespace weft

#endif // WEFT_TRAINING_PORTS_H
