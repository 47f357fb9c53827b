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

/// A program of six devices with all kinds of buffers and instructions.
static PlanBuilder sixDevices() {
  PlanBuilder p({{"x", 2}, {"y", 3}});
  uint32_t v = p.state("v", DType::f32, {8}, {{whole(0, 2)}});
  uint32_t out = p.output("out", DType::f32, {7, 3}, {{whole(1, 3)}, {}});
  uint32_t a = p.arena(DType::f32, {3, 3}), flag = p.arena(DType::i1, {}),
           gathered = p.arena(DType::f32, {12});
  p.collective(CollectiveKind::all_reduce, {v}, {v}, {whole(0, 2)});
  p.collective(CollectiveKind::all_gather, {v}, {gathered}, {whole(1, 3)}, 0,
               0);
  p.exchange(a, out, {7, 3}, {{whole(1, 3)}, {}}, {{whole(1, 3)}, {}});
  p.jumpUnless(flag, 0);
  p.copy(a, out);
  p.add(ReturnT());
  return p;
}

std::string weft::test::samplePlan() {
  std::vector<uint8_t> bytes = sixDevices().planBytes();
  return {bytes.begin(), bytes.end()};
}

std::string weft::test::sampleProgram() {
  std::vector<uint8_t> bytes = sixDevices().planBytes();
  bytes = assembleProgramFile(kernelLibrary(), bytes, 0);
  return {bytes.begin(), bytes.end()};
}
