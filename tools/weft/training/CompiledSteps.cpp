//===- CompiledSteps.cpp - steps that were compiled before ----------------===//

#include "weft/tools/weft/training/CompiledSteps.h"

#include <random>

using namespace weft;
using namespace weft::tool;

/// The first given flag that cannot apply to a compiled step.
static const char *flagOfSources(const ModelFlags &flags) {
  ModelFlags others = flags;
  others.devices.reset();
  if (const char *flag = others.ofSources())
    return flag;
  return !flags.expect.empty()            ? "--expect"
         : !flags.memory.empty()          ? "--memory"
         : flags.microbatches > 1         ? "--microbatches"
         : !flags.overlap.empty()         ? "--overlap"
         : !flags.rings.empty()           ? "--rings"
         : !flags.matmulPrecision.empty() ? "--matmul-precision"
         : flags.namesTarget              ? "--target"
         : flags.timing                   ? "--timing"
                                          : nullptr;
}

Result<std::unique_ptr<StepSource>>
CompiledSteps::open(const ModelFlags &given) {
  std::unique_ptr<CompiledSteps> self(new CompiledSteps());
  self->flags = given;
  if (const char *flag = flagOfSources(given))
    return Error{std::string(flag) + " has no effect on " + given.model +
                 ", which is compiled; leave it out, or compile the model "
                 "with it"};
  int64_t devices = 0;
  auto steps = readSteps(given.model, devices);
  if (!steps)
    return steps.error();
  self->steps = std::move(*steps);
  auto sizes = sizesOf(self->steps, given.step);
  if (!given.namesBatchSize)
    self->flags.batchSize =
        sizes.empty() ? self->steps.front().batch : sizes.front();
  self->usedDevices =
      given.devices.value_or(DeviceList{DeviceKind::Cpu, devices});
  self->seedValue = given.seed ? *given.seed : std::random_device{}();
  return std::unique_ptr<StepSource>(std::move(self));
}

std::string CompiledSteps::settings() const {
  weft_program *program = nullptr;
  const std::vector<uint8_t> &image = steps.front().image;
  weft_error *error =
      weft_program_load_memory(image.data(), image.size(), &program);
  std::string source;
  for (const Port &port : error ? std::vector<Port>() : inputPorts(program))
    if (!port.facts.source.empty())
      source = port.facts.source;
  weft_error_free(error);
  weft_program_free(program);
  return "{\"program\": \"" + source + "\"}";
}

const CompiledStep *CompiledSteps::step(const std::string &kind,
                                        int64_t batchSize) const {
  for (const CompiledStep &compiled : steps)
    if (compiled.kind == kind && compiled.batch == batchSize)
      return &compiled;
  return nullptr;
}

std::vector<int64_t> CompiledSteps::batchSizes(const std::string &kind) const {
  return sizesOf(steps, kind);
}

Status CompiledSteps::find(const std::string &kind, int64_t batchSize) const {
  if (step(kind, batchSize))
    return {};
  std::string has;
  for (const CompiledStep &compiled : steps)
    has += (has.empty() ? "" : ", ") + compiled.kind + " of " +
           std::to_string(compiled.batch);
  return Error{flags.model + ": has no " + kind + " step of " +
               std::to_string(batchSize) + " samples, but " + has +
               "; compile it with weft compile --step all, from a model that "
               "was traced with --batch-size for each size of a batch"};
}

Result<std::vector<uint8_t>> CompiledSteps::compile(const std::string &kind,
                                                    int64_t batchSize) {
  if (const CompiledStep *found = step(kind, batchSize))
    return found->image;
  return find(kind, batchSize).error();
}
