#include "weft/runtime/devices/cuda/MemoryNeeds.h"
#include "weft/base/Text.h"

#include <utility>

namespace weft::runtime {

/// The category of a port, among those of MemoryNeeds().
static size_t categoryOf(const Port &port) {
  switch (port.role) {
  case Role::Weight:
  case Role::State:
    return 0;
  case Role::Slot:
    return 1;
  default:
    return port.isData() ? 2 : 3;
  }
}

MemoryNeeds::MemoryNeeds(const Plan &plan)
    : rows{{"weights", 0},
           {"optimizer", 0},
           {"batch and arguments", 0},
           {"other inputs and results", 0},
           {"activations and temporaries", plan.arenaBytes}} {
  // Those of the device that holds most: ports may be on parts of the mesh.
  const std::vector<Row> arena = rows;
  uint64_t most = 0;
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    std::vector<Row> before = std::exchange(rows, arena);
    for (const Port &input : plan.inputs)
      rows[categoryOf(input)].bytes += plan.bytesAt(input, p);
    for (const Port &output : plan.outputs)
      if (output.donatedFrom < 0)
        rows[categoryOf(output)].bytes += plan.bytesAt(output, p);
    if (p > 0 && total() <= most)
      rows = std::move(before);
    most = total();
  }
}

uint64_t MemoryNeeds::total() const {
  uint64_t bytes = 0;
  for (const Row &row : rows)
    bytes += row.bytes;
  return bytes;
}

std::string MemoryNeeds::text() const {
  std::string out;
  for (const Row &row : rows)
    if (row.bytes)
      out +=
          (out.empty() ? "" : ", ") + (row.name + (" " + grouped(row.bytes)));
  return out;
}

} // namespace weft::runtime
