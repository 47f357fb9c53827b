#include "weft/runtime/program/PlanReader.h"

namespace weft::runtime {

static std::string at(size_t index) {
  return "instruction " + std::to_string(index);
}

Status PlanReader::checkWritable(const std::string &what,
                                 uint32_t buffer) const {
  if (out.buffers[buffer].writable)
    return {};
  return badPlan(what, " writes buffer ", buffer,
                 out.buffers[buffer].kind == BufferKind::constant
                     ? ", a constant"
                     : ", an input that is not donated");
}

/// Whether two buffers share a byte, in arenas or in memory that devices share.
/// Ports have memory of their own.
bool PlanReader::overlap(uint32_t a, uint32_t b) const {
  if (a == b)
    return true;
  const BufferInfo &x = out.buffers[a], &y = out.buffers[b];
  if (x.kind != BufferKind::arena || y.kind != BufferKind::arena)
    return false;
  bool overlapsShared = x.shared >= 0 && x.shared == y.shared &&
                        x.sharedOffset < y.sharedOffset + y.bytes &&
                        y.sharedOffset < x.sharedOffset + x.bytes;
  return overlapsShared ||
         (x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes);
}

Status PlanReader::readLaunch(size_t index, const plan::Launch &launch,
                              Instruction &i) {
  i.index = launch.kernel();
  if (i.index >= out.kernels.size())
    return badPlan(at(index), " launches kernel ", i.index, " of ",
                   out.kernels.size());
  std::string what = at(index) + " launches " + out.kernelName(i.index);
  i.firstArgument = uint32_t(out.arguments.size());
  i.argumentCount = launch.buffers() ? launch.buffers()->size() : 0;
  for (uint32_t n = 0; n < i.argumentCount; ++n) {
    uint32_t buffer = launch.buffers()->Get(n);
    if (buffer >= out.buffers.size())
      return badPlan(what, " on buffer ", buffer, " of ", out.buffers.size());
    out.arguments.push_back(buffer);
  }
  if (const auto *contraction =
          std::get_if<LibraryContraction>(&out.kernels[i.index].code))
    if (Status ok = checkContraction(what, *contraction, i); !ok)
      return ok;
  if (Status ok = checkResults(what, i); !ok)
    return ok;
  if (Status ok = readScratch(what, launch, i); !ok)
    return ok;
  if (Status ok = readShared(what, launch.shared(), i.shared); !ok)
    return ok;
  i.argumentCount = uint32_t(out.arguments.size()) - i.firstArgument;
  return {};
}

Status PlanReader::checkResults(const std::string &what,
                                const Instruction &i) const {
  uint32_t results = out.kernels[i.index].results;
  if (results > i.argumentCount)
    return badPlan(what, " on ", i.argumentCount, " buffers, it writes ",
                   results);
  for (uint32_t n = i.argumentCount - results; n < i.argumentCount; ++n)
    if (Status ok = checkWritable(what, out.arguments[i.firstArgument + n]);
        !ok)
      return ok;
  return {};
}

Status PlanReader::readScratch(const std::string &what,
                               const plan::Launch &launch,
                               const Instruction &i) {
  uint64_t wanted = out.kernels[i.index].scratch;
  int64_t scratch = launch.scratch();
  if (scratch == -1 && wanted == 0)
    return {};
  if (scratch < 0 || scratch >= int64_t(out.buffers.size()) || wanted == 0)
    return badPlan(what, " with scratch buffer ", scratch, " of ",
                   out.buffers.size(), ", its kernel wants ", wanted, " bytes");
  const BufferInfo &buffer = out.buffers[size_t(scratch)];
  if (buffer.kind != BufferKind::arena || buffer.bytes < wanted)
    return badPlan(what, " with ", buffer.bytes, " bytes of buffer ", scratch,
                   ", its kernel wants ", wanted, " bytes of the arena");
  for (uint32_t n = 0; n < i.argumentCount; ++n)
    if (uint32_t argument = out.arguments[i.firstArgument + n];
        overlap(uint32_t(scratch), argument))
      return badPlan(what, " with scratch buffer ", scratch,
                     ", in which its buffer ", argument, " lies, too");
  out.arguments.push_back(uint32_t(scratch));
  return {};
}

Status PlanReader::readCopy(size_t index, const plan::Copy &copy,
                            Instruction &i) {
  i.index = copy.source();
  i.target = copy.target();
  if (i.index >= out.buffers.size() || i.target >= out.buffers.size())
    return badPlan(at(index), " copies buffer ", i.index, " to ", i.target,
                   " of ", out.buffers.size());
  if (out.buffers[i.index].bytes != out.buffers[i.target].bytes)
    return badPlan(at(index), " copies ", out.buffers[i.index].bytes,
                   " bytes to a buffer of ", out.buffers[i.target].bytes);
  if (Status ok = readShared(at(index), copy.shared(), i.shared); !ok)
    return ok;
  return checkWritable(at(index), i.target);
}

Status PlanReader::readJumpOutside(size_t index, const plan::JumpOutside &jump,
                                   Instruction &i) {
  MeshPart part = readPart(jump.part());
  std::string reason = invalidReason(out.mesh.axes, part);
  if (!reason.empty())
    return badPlan(at(index), ": ", reason);
  i.index = uint32_t(out.parts.size());
  i.target = jump.target();
  out.parts.push_back(std::move(part));
  return {};
}

Status PlanReader::readJumpUnless(size_t index, const plan::JumpUnless &jump,
                                  Instruction &i) {
  i.index = jump.condition();
  i.isEqual = jump.equal();
  i.target = jump.target();
  if (i.index >= out.buffers.size())
    return badPlan(at(index), " tests buffer ", i.index, " of ",
                   out.buffers.size());
  const BufferInfo &buffer = out.buffers[i.index];
  if (buffer.dtype != DType::i1 || buffer.bytes != 1)
    return badPlan(at(index), " tests buffer ", i.index, " of ",
                   name(buffer.dtype), shapeText(buffer.shape),
                   ", which is no i1 scalar");
  return {};
}

Status PlanReader::readInstructions() {
  size_t count = in.instructions() ? in.instructions()->size() : 0;
  if (count == 0)
    return badPlan("no instructions");
  for (size_t n = 0; n < count; ++n) {
    const plan::Instruction &instruction = *in.instructions()->Get(n);
    Instruction i;
    i.kind = instruction.operation_type();
    Status ok;
    if (!instruction.operation())
      return badPlan(at(n), " is empty");
    if (const plan::Launch *op = instruction.operation_as_Launch())
      ok = readLaunch(n, *op, i);
    else if (const plan::Copy *op = instruction.operation_as_Copy())
      ok = readCopy(n, *op, i);
    else if (const plan::Start *op = instruction.operation_as_Start())
      ok = readStart(n, *op, i);
    else if (const plan::Wait *op = instruction.operation_as_Wait())
      ok = readWait(n, *op, i);
    else if (const plan::Jump *op = instruction.operation_as_Jump())
      i.target = op->target();
    else if (const plan::JumpUnless *op = instruction.operation_as_JumpUnless())
      ok = readJumpUnless(n, *op, i);
    else if (const auto *op = instruction.operation_as_JumpOutside())
      ok = readJumpOutside(n, *op, i);
    else if (!instruction.operation_as_Return())
      return badPlan(at(n), " has the unknown operation ", int(i.kind));
    if (!ok)
      return ok;
    bool jumps = i.kind == plan::Operation::Jump ||
                 i.kind == plan::Operation::JumpUnless ||
                 i.kind == plan::Operation::JumpOutside;
    if (jumps && i.target >= count)
      return badPlan(at(n), " jumps to ", i.target, " of ", count);
    out.instructions.push_back(i);
  }
  plan::Operation last = out.instructions.back().kind;
  if (last != plan::Operation::Return && last != plan::Operation::Jump)
    return badPlan(at(count - 1), " is the last and neither returns nor jumps");
  return checkWaits();
}

std::string Plan::describe(uint32_t index) const {
  const Instruction &i = instructions[index];
  bool isWait = i.kind == plan::Operation::Wait;
  std::string text = at(isWait ? i.target : index);
  if (isWait || i.kind == plan::Operation::Start) {
    const Collective &c = collectives[i.index];
    text += " (" + c.name;
    if (!c.label.empty())
      text += " of " + c.label;
    text += ")";
  }
  return text;
}

} // namespace weft::runtime
