//===- StepArchive.cpp - several programs in one file ---------------------===//

#include "weft/tools/weft/programs/StepArchive.h"

#include "weft/base/StepKind.h"
#include "weft/data/formats/Zip.h"
#include "weft/tools/weft/programs/BoundProgram.h"
#include "weft/tools/weft/programs/ProgramPorts.h"
#include "weft/training/Ports.h"

#include <algorithm>

using namespace weft;
using namespace weft::tool;

bool weft::tool::holdsSteps(const std::string &path) {
  Result<std::string> magic = readStart(path, 4);
  return magic && *magic == "PK\x03\x04";
}

/// Describes a step by its ports.
static Result<CompiledStep> readStep(const std::string &where,
                                     std::vector<uint8_t> image,
                                     int64_t &devices) {
  weft_program *loaded = nullptr;
  if (Status read = takeError(
          weft_program_load_memory(image.data(), image.size(), &loaded));
      !read)
    return Error{where + ": " + read.error().message +
                 (read.message().find("; ") == std::string::npos
                      ? "; compile it again"
                      : "")};
  OwnedProgram program(loaded);
  CompiledStep step;
  for (const Port &port : inputPorts(loaded))
    if (port.isData() && !port.shape.empty())
      step.batch = port.shape[0];
  for (const Port &port : outputPorts(loaded))
    if (port.role == Role::Weight || port.role == Role::Slot)
      step.kind = stepName(StepKind::Train);
    else if (port.role == Role::Metric && step.kind.empty())
      step.kind = stepName(StepKind::Evaluate);
    else if (port.role == Role::Output && step.kind.empty())
      step.kind = stepName(StepKind::Predict);
  if (step.kind.empty() || step.batch == 0)
    return Error{where + ": is no step of a model, which takes a batch and "
                         "gives metrics or outputs; run it with weft run"};
  devices = std::max(devices, describeProgram(loaded).device_count);
  step.image = std::move(image);
  return step;
}

Result<std::vector<CompiledStep>> weft::tool::readSteps(const std::string &path,
                                                        int64_t &devices) {
  std::vector<CompiledStep> steps;
  if (!holdsSteps(path)) {
    auto bytes = readFile(path);
    if (!bytes)
      return bytes.error();
    auto step = readStep(path, std::move(*bytes), devices);
    if (!step)
      return step.error();
    steps.push_back(std::move(*step));
    return steps;
  }
  auto zip = ZipReader::open(path);
  if (!zip)
    return zip.error();
  for (const ZipReader::Member &member : zip->members()) {
    auto bytes = zip->read(member.name);
    if (!bytes)
      return bytes.error();
    auto step = readStep(path + ": " + member.name, std::move(*bytes), devices);
    if (!step)
      return step.error();
    steps.push_back(std::move(*step));
  }
  if (steps.empty())
    return Error{path + ": is an empty archive; compile it again"};
  return steps;
}

Status weft::tool::writeSteps(const std::string &path,
                              const std::vector<CompiledStep> &steps) {
  auto file = OutputFile::open(path);
  if (!file)
    return file.error();
  ZipWriter writer(*file);
  for (const CompiledStep &step : steps)
    writer.add(step.kind + "-" + std::to_string(step.batch) + ".weft",
               {{step.image.data(), step.image.size()}});
  writer.finish();
  return file->commit();
}

std::vector<int64_t> weft::tool::sizesOf(const std::vector<CompiledStep> &steps,
                                         const std::string &kind) {
  std::vector<int64_t> sizes;
  for (const CompiledStep &step : steps)
    if (step.kind == kind)
      sizes.push_back(step.batch);
  return sizes;
}

/// Reads one step of an archive.
static Result<std::vector<uint8_t>> readStep(const std::string &path,
                                             const std::string &step) {
  int64_t devices = 0;
  auto steps = readSteps(path, devices);
  if (!steps)
    return steps.error();
  std::string has;
  for (CompiledStep &compiled : *steps) {
    if (compiled.kind == step || (step.empty() && steps->size() == 1))
      return std::move(compiled.image);
    has += (has.empty() ? "" : ", ") + compiled.kind;
  }
  return Error{path + ": holds the steps " + has + "; choose one with --step"};
}

Result<weft_program *> weft::tool::loadProgramFile(const std::string &path,
                                                   const std::string &step) {
  weft_program *loaded = nullptr;
  Status read;
  if (holdsSteps(path)) {
    auto image = readStep(path, step);
    if (!image)
      return image.error();
    read = takeError(
        weft_program_load_memory(image->data(), image->size(), &loaded));
  } else {
    read = takeError(weft_program_load(path.c_str(), &loaded));
  }
  if (!read)
    return read.error();
  return loaded;
}
