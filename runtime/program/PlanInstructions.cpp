#include "weft/runtime/program/PlanReader.h"

namespace weft::runtime {

static std::string at(size_t index) {
  return "instruction " + std::to_string(index);
}

Error PlanReader::checkWritable(const std::string &what,
                                uint32_t buffer) const {
  if (out.buffers[buffer].writable)
    return nullptr;
  return badPlan(what, " writes buffer ", buffer,
                 out.buffers[buffer].kind == BufferKind::constant
                     ? ", a constant"
                     : ", an input that is not donated");
}

/// Do two buffers share a byte? Ports have memory of their own.
bool PlanReader::overlap(uint32_t a, uint32_t b) const {
  if (a == b)
    return true;
  const BufferInfo &x = out.buffers[a], &y = out.buffers[b];
  return x.kind == BufferKind::arena && y.kind == BufferKind::arena &&
         x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
}

Error PlanReader::readLaunch(size_t index, const plan::Launch &launch,
                             Instruction &i) {
  i.index = launch.kernel();
  if (i.index >= out.kernels.size())
    return badPlan(at(index), " launches kernel ", i.index, " of ",
                   out.kernels.size());
  i.firstArgument = uint32_t(out.arguments.size());
  if (!launch.buffers())
    return nullptr;
  i.argumentCount = launch.buffers()->size();
  for (uint32_t buffer : *launch.buffers()) {
    if (buffer >= out.buffers.size())
      return badPlan(at(index), " launches \"", out.kernels[i.index],
                     "\" on buffer ", buffer, " of ", out.buffers.size());
    out.arguments.push_back(buffer);
  }
  return nullptr;
}

Error PlanReader::readCopy(size_t index, const plan::Copy &copy,
                           Instruction &i) {
  i.index = copy.source();
  i.target = copy.target();
  if (i.index >= out.buffers.size() || i.target >= out.buffers.size())
    return badPlan(at(index), " copies buffer ", i.index, " to ", i.target,
                   " of ", out.buffers.size());
  if (out.buffers[i.index].bytes != out.buffers[i.target].bytes)
    return badPlan(at(index), " copies ", out.buffers[i.index].bytes,
                   " bytes to a buffer of ", out.buffers[i.target].bytes);
  return checkWritable(at(index), i.target);
}

Error PlanReader::readJumpUnless(size_t index, const plan::JumpUnless &jump,
                                 Instruction &i) {
  i.index = jump.condition();
  i.target = jump.target();
  if (i.index >= out.buffers.size())
    return badPlan(at(index), " tests buffer ", i.index, " of ",
                   out.buffers.size());
  const BufferInfo &buffer = out.buffers[i.index];
  if (buffer.dtype != DType::i1 || buffer.bytes != 1)
    return badPlan(at(index), " tests buffer ", i.index, " of ",
                   name(buffer.dtype), shapeText(buffer.shape),
                   ", which is no i1 scalar");
  return nullptr;
}

Error PlanReader::readInstructions() {
  size_t count = in.instructions() ? in.instructions()->size() : 0;
  if (count == 0)
    return badPlan("no instructions");
  for (size_t n = 0; n < count; ++n) {
    const plan::Instruction &instruction = *in.instructions()->Get(n);
    Instruction i;
    i.kind = instruction.operation_type();
    Error e;
    if (!instruction.operation())
      return badPlan(at(n), " is empty");
    if (const plan::Launch *op = instruction.operation_as_Launch())
      e = readLaunch(n, *op, i);
    else if (const plan::Copy *op = instruction.operation_as_Copy())
      e = readCopy(n, *op, i);
    else if (const plan::Collective *op = instruction.operation_as_Collective())
      e = readCollective(n, *op, i);
    else if (const plan::Jump *op = instruction.operation_as_Jump())
      i.target = op->target();
    else if (const plan::JumpUnless *op = instruction.operation_as_JumpUnless())
      e = readJumpUnless(n, *op, i);
    else if (!instruction.operation_as_Return())
      return badPlan(at(n), " has the unknown operation ", int(i.kind));
    if (e)
      return e;
    bool jumps = i.kind == plan::Operation::Jump ||
                 i.kind == plan::Operation::JumpUnless;
    if (jumps && i.target >= count)
      return badPlan(at(n), " jumps to ", i.target, " of ", count);
    out.instructions.push_back(i);
  }
  plan::Operation last = out.instructions.back().kind;
  if (last != plan::Operation::Return && last != plan::Operation::Jump)
    return badPlan(at(count - 1), " is the last and neither returns nor jumps");
  return nullptr;
}

std::string Plan::describe(uint32_t index) const {
  const Instruction &i = instructions[index];
  std::string text = at(index);
  if (i.kind == plan::Operation::Collective) {
    const Collective &c = collectives[i.index];
    text += std::string(" (") + plan::EnumNameCollectiveKind(c.kind);
    if (!c.label.empty())
      text += " of " + c.label;
    text += ")";
  }
  return text;
}

} // namespace weft::runtime
