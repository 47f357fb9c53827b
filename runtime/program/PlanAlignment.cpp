#include "weft/runtime/program/PlanAlignment.h"

#include <cstdint>

namespace weft::runtime {

/// A vector of numbers or of sub-axes.
template <typename Element>
static bool aligned(const flatbuffers::Vector<Element> *vector) {
  // An empty one may lie anywhere.
  return !vector || vector->size() == 0 ||
         reinterpret_cast<uintptr_t>(vector->Data()) % 8 == 0;
}

static bool aligned(const plan::Layout *layout) {
  if (!layout)
    return true;
  if (layout->dims())
    for (const plan::DimLayout *dim : *layout->dims())
      if (!aligned(dim->axes()))
        return false;
  return aligned(layout->partial());
}

static bool aligned(const plan::Mesh *mesh) {
  return !mesh || (aligned(mesh->axis_sizes()) && aligned(mesh->devices()) &&
                   aligned(mesh->latency()) && aligned(mesh->bandwidth()));
}

static bool aligned(const plan::Buffer *buffer) {
  return aligned(buffer->shape());
}

static bool aligned(const plan::Port *port) {
  return aligned(port->shape()) && aligned(port->layout());
}

static bool aligned(const plan::Instruction *instruction) {
  const plan::Collective *op = instruction->operation_as_Collective();
  return !op || (aligned(op->axes()) && aligned(op->shape()) &&
                 aligned(op->from_layout()) && aligned(op->to_layout()));
}

/// A vector of tables.
template <typename Table>
static bool
allAligned(const flatbuffers::Vector<flatbuffers::Offset<Table>> *tables) {
  if (tables)
    for (const Table *table : *tables)
      if (!aligned(table))
        return false;
  return true;
}

bool isAligned(const plan::Program &program) {
  return aligned(program.mesh()) && allAligned(program.buffers()) &&
         allAligned(program.inputs()) && allAligned(program.outputs()) &&
         allAligned(program.instructions());
}

} // namespace weft::runtime
