#include "weft/runtime/program/PlanAlignment.h"

#include <cstdint>

namespace weft::runtime {

/// Whether a vector of numbers or of sub-axes is aligned.
template <typename Element>
static bool aligned(const flatbuffers::Vector<Element> *vector) {
  // An empty vector may have any address.
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

static bool aligned(const plan::MeshPart *part) {
  return !part || (aligned(part->digits()) && aligned(part->values()));
}

static bool aligned(const plan::Port *port) {
  return aligned(port->shape()) && aligned(port->layout()) &&
         aligned(port->part());
}

static bool aligned(const plan::Observation *observation) {
  return aligned(observation->layout());
}

static bool
aligned(const flatbuffers::Vector<flatbuffers::Offset<plan::MovedSource>>
            *sources) {
  if (sources)
    for (const plan::MovedSource *source : *sources)
      if (!aligned(source->shape()) || !aligned(source->layout()))
        return false;
  return true;
}

static bool aligned(const plan::Instruction *instruction) {
  if (const auto *jump = instruction->operation_as_JumpOutside())
    return aligned(jump->part());
  const plan::Start *start = instruction->operation_as_Start();
  if (!start || !aligned(start->group()))
    return !start;
  if (const plan::Movement *its = start->kind_as_movement())
    return aligned(its->shape()) && aligned(its->from()) &&
           aligned(its->to()) && aligned(its->from_part()) &&
           aligned(its->to_part()) && aligned(its->boxes()) &&
           aligned(its->to_shape()) && aligned(its->others());
  const plan::Sending *sending = start->kind_as_sending();
  return !sending || aligned(sending->senders());
}

static bool aligned(const plan::Kernel *kernel) {
  if (const plan::LibraryContraction *its = kernel->code_as_contraction())
    return aligned(its->batch());
  const plan::Builtin *builtin = kernel->code_as_builtin();
  return !builtin || aligned(builtin->parameters());
}

/// Whether all tables of a vector are aligned.
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
         allAligned(program.kernels()) && allAligned(program.instructions()) &&
         allAligned(program.observations());
}

} // namespace weft::runtime
