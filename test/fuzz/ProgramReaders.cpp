//===- ProgramReaders.cpp - the readers of .weft files --------------------===//

#include "weft/test/fuzz/FileReaders.h"
#include "weft/test/unit/runtime-plan.h"

using namespace weft;
using namespace weft::test;

bool weft::test::readPlan(const std::string &bytes) {
  static const std::vector<uint8_t> elf = kernelLibrary();
  std::vector<uint8_t> image = assembleProgramFile(elf, bytes, 0);
  weft_program *program = nullptr;
  weft_error_free(
      weft_program_load_memory(image.data(), image.size(), &program));
  bool accepted = program != nullptr;
  weft_program_free(program);
  return accepted;
}

bool weft::test::readProgram(const std::string &bytes) {
  weft_program *program = nullptr;
  weft_error_free(
      weft_program_load_memory(bytes.data(), bytes.size(), &program));
  if (program)
    weft_error_free(weft_program_prepare(program));
  bool accepted = program != nullptr;
  weft_program_free(program);
  return accepted;
}

/// A program of six devices with all kinds of buffers and collectives.
static PlanBuilder sixDevices() {
  PlanBuilder p({{"x", 2}, {"y", 3}});
  const Axes x = {fullAxis(0, 2)}, y = {fullAxis(1, 3)};
  uint32_t v = p.state("v", DType::f32, {8}, {x});
  uint32_t out = p.output("out", DType::f32, {7, 3}, {y, {}});
  uint32_t a = p.arena(DType::f32, {3, 3}), b = p.arena(DType::f32, {3, 3}),
           flag = p.arena(DType::i1, {}), gathered = p.arena(DType::f32, {12}),
           at = p.arena(DType::i64, {3, 3}), four = p.arena(DType::f32, {4}),
           tall = p.arena(DType::f32, {9, 1});
  p.allReduce({v, a}, {v, b}, x);
  p.allGather(v, gathered, y, 0);
  p.reduceScatter(gathered, four, y, 0);
  p.allToAll(a, tall, y, 1, 0);
  p.exchange(a, out, {7, 3}, {y, {}}, {y, {}});
  p.fetch(v, gathered, x, 0, {8, 4, 1, -4, 1, 8});
  p.pick(a, at, b, y, 0);
  p.collectivePermute(a, b, y, {1, 2, -1});
  p.collective("permute", PlanBuilder::movement({7, 3}, {y, {}}, {y, {}}), {a},
               {b}, {fullAxis(0, 2), fullAxis(1, 3)});
  p.hostCall(7, {a, at}, {b}, x);
  p.launch("increment", {v});
  p.jumpUnless(flag, 0);
  p.copy(a, out);
  p.add(ReturnT());
  return p;
}

/// A program of one GPU, with kernels and calls of libraries.
static PlanBuilder oneDevice() {
  PlanBuilder p({{"x", 1}});
  uint32_t v = p.state("v", DType::f32, {8}, {{}});
  uint32_t a = p.arena(DType::f32, {8}), scratch = p.arena(DType::i8, {64});
  auto module = std::make_unique<DeviceModuleT>();
  module->chip = "sm_90";
  module->data.assign(40, 'x');
  p.program.modules.push_back(std::move(module));
  DeviceKernelT device;
  device.symbol = "relu";
  device.block = {256, 1, 1};
  device.blocks = 64;
  device.shared = 512;
  p.kernel(device, 64);
  p.launchLast({v, a}, int32_t(scratch));
  LibraryContractionT dot;
  dot.batch = {{2, 4, 0, 4}};
  dot.rows = std::make_unique<ContractionDim>(2, 2, 0, 2);
  dot.columns = std::make_unique<ContractionDim>(2, 0, 1, 1);
  dot.contract = std::make_unique<ContractionDim>(2, 1, 2, 0);
  p.kernel(std::move(dot), 64);
  p.launchLast({a, a, v}, int32_t(scratch));
  KernelSequenceT sequence;
  sequence.kernels = {0, 0};
  p.kernel(std::move(sequence), 64);
  p.launchLast({v, a}, int32_t(scratch));
  BuiltinT builtin;
  builtin.name = "sort";
  builtin.parameters = {8, 1};
  p.kernel(builtin);
  p.launchLast({v});
  p.add(ReturnT());
  return p;
}

std::vector<std::string> weft::test::samplePlans() {
  std::vector<std::string> plans;
  for (PlanBuilder (*make)() : {sixDevices, oneDevice}) {
    std::vector<uint8_t> bytes = make().planBytes();
    plans.emplace_back(bytes.begin(), bytes.end());
  }
  return plans;
}

std::vector<std::string> weft::test::samplePrograms() {
  std::vector<std::string> programs;
  for (const std::string &plan : samplePlans()) {
    std::vector<uint8_t> bytes = assembleProgramFile(kernelLibrary(), plan, 0);
    programs.emplace_back(bytes.begin(), bytes.end());
  }
  return programs;
}
