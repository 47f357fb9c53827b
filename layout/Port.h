//===- Port.h - an argument or result of a program --------------*- C++ -*-===//
//
//   if (port.holdsState()) ...   // weights, statistics, slots, metrics' state
//
// A plan's file has the first half of the fields (runtime/abi/PlanPorts.h reads
// them); whoever loads a plan derives the second half.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_PORT_H
#define WEFT_LAYOUT_PORT_H

#include "weft/base/ElementTypes.h"
#include "weft/base/PortFacts.h"
#include "weft/base/PortRole.h"
#include "weft/layout/Layout.h"

namespace weft {

struct Port {
  std::string name; ///< d1/kernel, x, metrics/loss
  Role role = Role::Other;
  ElementType type = ElementType::Float32;
  std::vector<int64_t> shape; ///< shape of the whole array
  Layout layout;
  uint32_t buffer = 0;    ///< the buffer of the plan
  int64_t donatedTo = -1; ///< input: the output that reuses its memory
  PortFacts facts;

  int64_t donatedFrom = -1;   ///< output: the input with the same memory
  std::vector<int64_t> local; ///< shape of a device's shard, with its padding
  uint64_t globalBytes = 0;   ///< bytes of the whole array
  uint64_t localBytes = 0;    ///< bytes of each device that holds a shard
  /// A number that is equal for ports whose devices hold the same shards of
  /// equal arrays, so that a buffer of one program can be passed to another.
  uint64_t signature = 0;

  bool holdsState() const { return weft::holdsState(role); }
  /// Whether Keras counts the port among a layer's weights, as it does moving
  /// statistics.
  bool isWeight() const {
    return role == Role::Weight || (role == Role::State && facts.isStatistic);
  }
  bool isData() const { return holdsBatch(role); }
};

} // namespace weft

#endif // WEFT_LAYOUT_PORT_H
