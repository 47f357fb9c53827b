//===- Port.h - an argument or result of a program --------------*- C++ -*-===//
//
//   if (port.holdsState()) ...   // weights, statistics, slots, metrics' state
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PORT_H
#define WEFT_BASE_PORT_H

#include "weft/base/ElementTypes.h"
#include "weft/base/PortFacts.h"
#include "weft/base/PortRole.h"

namespace weft {

struct Port {
  std::string name; ///< d1/kernel, x, metrics/loss
  Role role = Role::Other;
  ElementType type = ElementType::Float32;
  std::vector<int64_t> shape; ///< shape of the whole array
  int64_t donatedTo = -1;     ///< input: the output that reuses its memory
  PortFacts facts;

  bool holdsState() const { return weft::holdsState(role); }
  /// Whether Keras counts the port among a layer's weights, as it does moving
  /// statistics.
  bool isWeight() const {
    return role == Role::Weight || (role == Role::State && facts.isStatistic);
  }
  bool isData() const { return holdsBatch(role); }
};

} // namespace weft

#endif // WEFT_BASE_PORT_H
