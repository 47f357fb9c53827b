//===- Ports.h - ports of a compiled program --------------------*- C++ -*-===//
//
//   for (const Port &port : inputPorts(program))
//     if (port.holdsState()) ...   // weights, statistics, slots, metrics' state
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_PORTS_H
#define WEFT_TRAINING_PORTS_H

#include "weft/data/arrays/Array.h"
#include "weft/layout/Port.h"
#include "weft/runtime/abi/processes.h"

namespace weft {

std::vector<Port> inputPorts(const weft_program *program);
std::vector<Port> outputPorts(const weft_program *program);

/// The metric's name: loss, for the port metrics/loss.
std::string metricName(const Port &port);

/// Takes ownership of a runtime's error; success for null.
Status takeError(weft_error *error);
/// Copies rank 0's bytes to every process; `processes` may be null.
Status shareBytes(weft_processes *processes, std::vector<uint8_t> &bytes);

} // namespace weft

#endif // WEFT_TRAINING_PORTS_H
