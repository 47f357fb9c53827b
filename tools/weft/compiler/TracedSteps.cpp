//===- TracedSteps.cpp - steps of a model that Keras traced ---------------===//

#include "weft/tools/weft/compiler/TracedSteps.h"

#include "weft/tools/weft/compiler/CompilerMemory.h"
#include "weft/tools/weft/compiler/DescribePorts.h"
#include "weft/tools/weft/compiler/FindNonFinite.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"

#include <random>

using namespace weft;
using namespace weft::tool;

Result<std::unique_ptr<StepSource>> TracedSteps::open(const ModelFlags &given) {
  std::unique_ptr<TracedSteps> self(new TracedSteps());
  self->flags = given;
  ModelFlags any = given;
  any.namesStep = any.namesBatchSize = false;
  auto opened = ForeignProgram::open(any);
  if (!opened)
    return opened.error();
  std::unique_ptr<ForeignProgram> program = std::move(*opened);
  if (program->steps().empty())
    return Error{given.model +
                 ": is a program, and no steps of a model that could be "
                 "trained; write them with python -m weft.trace model.keras -o "
                 "step.mlir"};
  self->steps = program->steps();
  if (!given.namesBatchSize)
    self->flags.batchSize = self->steps.front().batch;
  self->usedDevices = given.devices.value_or(
      DeviceList{DeviceKind::Cpu, program->deviceCount()});
  self->seedValue = given.seed ? *given.seed : std::random_device{}();
  program = nullptr;
  releaseCompilerMemory();
  return std::unique_ptr<StepSource>(std::move(self));
}

std::vector<int64_t> TracedSteps::batchSizes(const std::string &kind) const {
  std::vector<int64_t> sizes;
  for (const stablehlo::StepFunction &step : steps)
    if (step.kind == kind)
      sizes.push_back(step.batch);
  return sizes;
}

Status TracedSteps::find(const std::string &step, int64_t batchSize) const {
  auto function = functionOf(steps, flags.model, step, batchSize);
  return function ? Status{} : Status{function.error()};
}

std::string TracedSteps::settings() const {
  return "{\"program\": \"" + hashOfFile(flags.model) + "\"}";
}

Result<std::unique_ptr<ForeignProgram>>
TracedSteps::read(const std::string &step, int64_t batchSize) const {
  ModelFlags wanted = flags;
  wanted.step = step, wanted.batchSize = batchSize;
  wanted.namesStep = wanted.namesBatchSize = true;
  return ForeignProgram::open(wanted, /*warns=*/false);
}

Result<std::vector<uint8_t>> TracedSteps::compile(const std::string &step,
                                                  int64_t batchSize) {
  auto program = read(step, batchSize);
  if (!program)
    return program.error();
  auto image = (*program)->compile();
  *program = nullptr;
  releaseCompilerMemory();
  return image;
}

Result<std::string>
TracedSteps::findNonFinite(const std::string &step, int64_t batchSize,
                           const std::vector<NamedArray> &inputs) {
  auto program = read(step, batchSize);
  if (!program)
    return program.error();
  auto module = (*program)->reach(Stage::differentiated);
  return module ? tool::findNonFinite(**module, inputs) : module.error();
}
