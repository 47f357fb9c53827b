//===- Run.cpp - weft run: a program file on named arrays -----------------===//
//
//   weft run predict.weft --inputs in.npz --outputs out.npz
//   weft run predict.weft --list        which loads no code of the program
//
// Only programs in StableHLO, such as prog.mlir, are compiled. Arrays are
// global and named after the program's ports; they are scattered by the ports'
// layouts before the run, and gathered after it.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/programs/BoundProgram.h"
#include "weft/tools/weft/programs/Gpus.h"
#include "weft/tools/weft/programs/ProgramPorts.h"
#include "weft/tools/weft/programs/Statistics.h"

#include "weft/data/files/Files.h"

#include <cstdio>
#include <optional>

using namespace weft;
using namespace weft::tool;

static Status writeOutputs(const std::vector<Port> &ports, const Bound &bound,
                           OutputFile &file) {
  std::vector<NamedArray> arrays;
  for (size_t o = 0; o < ports.size(); ++o) {
    Array array = Array::zeros(ports[o].type, ports[o].shape);
    if (Status read = takeError(weft_buffer_read(
            bound.outputs[o], array.bytes.data(), array.bytes.size()));
        !read)
      return read;
    arrays.push_back({ports[o].name, std::move(array)});
  }
  return writeNpz(file, arrays);
}

static Status repeatRuns(const RunFlags &flags, weft_runtime *runtime,
                         const weft_program *program, Bound &bound,
                         StepClock &clock) {
  for (int64_t i = 0; i < flags.repeat; ++i) {
    clock.beginStep();
    auto begin = std::chrono::steady_clock::now();
    if (Status ran = takeError(weft_execute(
            runtime, program, bound.inputs.data(), bound.outputs.data()));
        !ran)
      return ran.in(flags.program);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    clock.endStep(runtime, took.count(), /*waitSeconds=*/0);
  }
  return {};
}

static Status execute(const RunFlags &flags, const weft_program *program) {
  if (Status loaded = takeError(weft_program_prepare(program)); !loaded)
    return loaded.in(flags.program);
  auto out = OutputFile::open(flags.outputs);
  if (!out)
    return out.error();
  std::optional<OutputFile> stats;
  if (!flags.stats.empty()) {
    auto opened = OutputFile::open(flags.stats);
    if (!opened)
      return opened.error();
    stats.emplace(std::move(*opened));
  }
  auto file = NpzFile::open(flags.inputs);
  if (!file)
    return file.error();
  std::vector<Port> inputs = inputPorts(program);
  std::vector<Port> outputs = outputPorts(program);
  if (Status named = checkNames(*file, inputs, outputs); !named)
    return named;
  auto runtime = createRuntime(flags, program);
  if (!runtime)
    return runtime.error();
  weft_runtime *created = runtime->get();
  Bound bound;
  uint64_t hash = 0;
  auto read = [&](const Port &port) {
    auto array = readInput(*file, port);
    if (array && flags.processes)
      hash = hash * 31 + weft_hash(array->bytes.data(), array->bytes.size());
    return array;
  };
  if (Status in = bindInputs(created, program, inputs, read, bound); !in)
    return in;
  if (Status same = takeError(
          weft_processes_agree(flags.processes, flags.inputs.c_str(), hash));
      !same)
    return same.in(flags.program);
  if (Status to = bindOutputs(created, program, inputs, outputs.size(), bound);
      !to)
    return to;
  StepClock clock;
  if (Status ran = repeatRuns(flags, created, program, bound, clock); !ran)
    return ran;
  OwnCodeWarnings().print(created);
  if (Status written = writeOutputs(outputs, bound, *out); !written)
    return written;
  if (!stats)
    return {};
  stats->write(
      clock.json(created, /*compileMilliseconds=*/0, /*aheadBytes=*/0));
  return stats->commit();
}

int weft::tool::runProgram(const RunFlags &given) {
  RunFlags flags = given;
  if (weft_processes_rank(flags.processes) != 0) { // rank 0 writes files
    for (std::string *path : {&flags.outputs, &flags.stats})
      if (!path->empty())
        *path = "/dev/null";
  }
  Result<OwnedProgram> program = loadProgram(flags);
  if (!program)
    return fail(program.error());
  if (flags.list)
    printText(portTable(program->get()));
  if (flags.outputs.empty())
    return 0;
  Status ran = execute(flags, program->get());
  return ran ? 0 : fail(ran.error());
}
