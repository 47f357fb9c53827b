//===- ProgramQueries.cpp - ports and traffic of a program ----------------===//
//
// Queries of the plan only: no code of the program is loaded.
//
//===----------------------------------------------------------------------===//

#include "weft/base/ElementTypes.h"
#include "weft/base/PortRole.h"
#include "weft/runtime/abi/profile.h"
#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/program/Hazards.h"
#include "weft/runtime/program/Program.h"

#include <algorithm>
#include <cstring>

using namespace weft;
using namespace weft::runtime;

static_assert(int(DType::MAX) + 1 == elementTypeCount);
static_assert(size_t(plan::PortRole::MAX) + 1 == std::size(kRoles));

/// The text of a name in the file; empty if it is absent.
static const char *textOf(const flatbuffers::String *text) {
  return text ? text->c_str() : "";
}

/// Refuses a number that is not below `count`.
static Status checkNumber(const Plan &plan, size_t number, size_t count,
                          const char *things) {
  if (number < count)
    return {};
  return makeError(StatusCode::InvalidArgument, "program \"", plan.name,
                   "\" has ", count, " ", things, ", there is no number ",
                   number);
}

/// Writes the result of `describe` for a program to `out`; neither may be null.
template <typename Describe>
static weft_error *query(const weft_program *program, const void *out,
                         const Describe &describe) {
  return guarded([&]() -> Status {
    if (!program || !out)
      return makeError(StatusCode::InvalidArgument, "null argument");
    return describe();
  });
}

static Status describePort(const weft_program *program, bool isInput,
                           size_t index, weft_port *out) {
  const Plan &plan = program->program->plan();
  const std::vector<weft::Port> &ports = isInput ? plan.inputs : plan.outputs;
  if (Status ok = checkNumber(plan, index, ports.size(),
                              isInput ? "inputs" : "outputs");
      !ok)
    return ok;
  const weft::Port &port = ports[index];
  const Program::Texts &texts = program->program->texts();
  *out = {};
  out->name = port.name.c_str();
  out->role = weft_role(port.role);
  out->dtype = weft_dtype(port.type);
  out->rank = port.shape.size();
  out->shape = port.shape.data();
  out->bytes = port.globalBytes;
  out->device_bytes = port.localBytes;
  out->layout =
      (isInput ? texts.inputLayouts : texts.outputLayouts)[index].c_str();
  out->donated = isInput ? port.donatedTo : port.donatedFrom;
  return {};
}

static Status describeCollective(const weft_program *program, size_t index,
                                 weft_collective *out) {
  const Plan &plan = program->program->plan();
  if (Status ok =
          checkNumber(plan, index, plan.collectives.size(), "collectives");
      !ok)
    return ok;
  const Collective &collective = plan.collectives[index];
  *out = {};
  out->kind = collective.name.c_str();
  out->axes = program->program->texts().axes[index].c_str();
  out->label = collective.label.c_str();
  out->group = 1; // the largest: devices outside of a move are alone
  for (const std::vector<int64_t> &members : collective.groups)
    out->group = std::max(out->group, int64_t(members.size()));
  out->bytes = bytesSent(plan.mesh, collective);
  return {};
}

/// The text of a kernel's name; for a contraction, the name of its fallback, for
/// a sequence that of its first kernel.
static const char *kernelText(const plan::Program &file, uint32_t kernel) {
  const plan::Kernel &its = *file.kernels()->Get(kernel);
  if (const auto *host = its.code_as_host())
    return textOf(host->symbol());
  if (const auto *device = its.code_as_device())
    return textOf(device->symbol());
  if (const auto *contraction = its.code_as_contraction())
    return kernelText(file, contraction->fallback()); // never a contraction
  if (const auto *sequence = its.code_as_sequence())
    return kernelText(file, sequence->kernels()->Get(0));
  return textOf(its.code_as_builtin()->name());
}

static Status describeLaunch(const weft_program *program, const Instruction &i,
                             weft_instruction *out) {
  const Plan &plan = program->program->plan();
  const auto *file = plan::GetProgram(program->program->planBytes());
  *out = {"launch", kernelText(*file, i.index), 0,
          plan.kernels[i.index].operations};
  for (uint32_t n = 0; n < i.argumentCount; ++n)
    out->bytes += plan.buffers[plan.arguments[i.firstArgument + n]].bytes;
  return {};
}

static Status describeInstruction(const weft_program *program, size_t index,
                                  weft_instruction *out) {
  const Plan &plan = program->program->plan();
  if (Status ok =
          checkNumber(plan, index, plan.instructions.size(), "instructions");
      !ok)
    return ok;
  const Instruction &i = plan.instructions[index];
  using plan::Operation;
  if (i.kind == Operation::Launch)
    return describeLaunch(program, i, out);
  if (i.kind == Operation::Start) {
    weft_collective collective;
    Status ok = describeCollective(program, i.index, &collective);
    if (ok)
      *out = {collective.kind, collective.label, collective.bytes, 0};
    return ok;
  }
  bool isCopy = i.kind == Operation::Copy;
  *out = {isCopy                        ? "copy"
          : i.kind == Operation::Return ? "return"
          : i.kind == Operation::Wait   ? "wait"
                                        : "jump",
          "", isCopy ? 2 * plan.buffers[i.target].bytes : 0, 0};
  return {};
}

static Status describeProgram(const weft_program *program,
                              weft_program_info *out) {
  const Plan &plan = program->program->plan();
  const auto *written = plan::GetProgram(program->program->planBytes());
  *out = {};
  out->name = plan.name.c_str();
  out->target = textOf(written->target());
  out->mesh = program->program->texts().mesh.c_str();
  out->device_count =
      1 + *std::max_element(plan.mesh.devices.begin(), plan.mesh.devices.end());
  out->arena_bytes = plan.arenaBytes;
  // Those of the device that holds most.
  for (int64_t p = 0; p < plan.mesh.size(); ++p) {
    uint64_t inputs = 0, outputs = 0;
    for (const weft::Port &port : plan.inputs)
      inputs += plan.bytesAt(port, p);
    for (const weft::Port &port : plan.outputs)
      if (port.donatedFrom < 0)
        outputs += plan.bytesAt(port, p);
    out->input_bytes = std::max<uint64_t>(out->input_bytes, inputs);
    out->output_bytes = std::max<uint64_t>(out->output_bytes, outputs);
  }
  out->constant_bytes = written->constants() ? written->constants()->size() : 0;
  out->code_bytes = program->program->codeBytes();
  out->kernel_count = plan.kernels.size();
  for (const Instruction &instruction : plan.instructions)
    out->launch_count += instruction.kind == plan::Operation::Launch;
  out->collective_count = plan.collectives.size();
  return {};
}

/// The number of an enum: C allows any number, and C++ only those within its
/// bits.
template <typename Enum> static unsigned numberOf(const Enum &given) {
  unsigned number;
  static_assert(sizeof number == sizeof given);
  std::memcpy(&number, &given, sizeof number);
  return number;
}

extern "C" {

WEFT_EXPORT const char *weft_dtype_name(weft_dtype dtype) {
  unsigned number = numberOf(dtype);
  return number < elementTypeCount ? kElementTypes[number].name.data()
                                   : nullptr;
}

WEFT_EXPORT const char *weft_dtype_numpy_name(weft_dtype dtype) {
  unsigned number = numberOf(dtype);
  return number < elementTypeCount ? kElementTypes[number].numpy.data()
                                   : nullptr;
}

WEFT_EXPORT const char *weft_role_name(weft_role role) {
  unsigned number = numberOf(role);
  return number < std::size(kRoles) ? kRoles[number].name.data() : nullptr;
}

WEFT_EXPORT size_t weft_program_input_count(const weft_program *program) {
  return program ? program->program->plan().inputs.size() : 0;
}

WEFT_EXPORT size_t weft_program_output_count(const weft_program *program) {
  return program ? program->program->plan().outputs.size() : 0;
}

WEFT_EXPORT weft_error *weft_program_input(const weft_program *program,
                                           size_t input, weft_port *out) {
  return query(program, out,
               [&] { return describePort(program, true, input, out); });
}

WEFT_EXPORT weft_error *weft_program_output(const weft_program *program,
                                            size_t output, weft_port *out) {
  return query(program, out,
               [&] { return describePort(program, false, output, out); });
}

WEFT_EXPORT weft_error *weft_program_describe(const weft_program *program,
                                              weft_program_info *out) {
  return query(program, out, [&] { return describeProgram(program, out); });
}

WEFT_EXPORT size_t weft_program_instruction_count(const weft_program *program) {
  return program ? program->program->plan().instructions.size() : 0;
}

WEFT_EXPORT int64_t weft_program_holder(const weft_program *program,
                                        size_t output, int64_t position) {
  if (!program)
    return position;
  const Plan &plan = program->program->plan();
  if (output >= plan.outputs.size() || position < 0 ||
      position >= plan.mesh.size())
    return position;
  int32_t shared = plan.buffers[plan.outputs[output].buffer].shared;
  if (shared < 0)
    return position;
  return plan.sharings[size_t(shared)].firsts(
      [](int64_t) { return true; })[size_t(position)];
}

WEFT_EXPORT size_t weft_program_pieces(const weft_program *program,
                                       weft_piece *out, size_t room) {
  std::vector<StraightPiece> pieces = straightPieces(program->program->plan());
  for (size_t n = 0; n < std::min(room, pieces.size()); ++n)
    out[n] = {pieces[n].first, pieces[n].end - pieces[n].first};
  return pieces.size();
}

WEFT_EXPORT weft_error *weft_program_instruction(const weft_program *program,
                                                 size_t instruction,
                                                 weft_instruction *out) {
  return query(program, out,
               [&] { return describeInstruction(program, instruction, out); });
}

WEFT_EXPORT weft_error *weft_program_collective(const weft_program *program,
                                                size_t collective,
                                                weft_collective *out) {
  return query(program, out,
               [&] { return describeCollective(program, collective, out); });
}
}
