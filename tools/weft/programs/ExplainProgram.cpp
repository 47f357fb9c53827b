//===- ExplainProgram.cpp - weft explain step.weft ------------------------===//
//
// Explains the plan of a program file: ports, communication, memory, code.
// Neither the compiler nor any code of the program is loaded. Reasons and fixes
// need the model.
//
//===----------------------------------------------------------------------===//

#include "weft/base/Text.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/programs/BoundProgram.h"
#include "weft/tools/weft/programs/ProgramPorts.h"
#include "weft/tools/weft/programs/StepArchive.h"
#include "weft/training/Ports.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace weft;
using namespace weft::tool;

using Json = nlohmann::ordered_json;
using Row = std::pair<std::string, uint64_t>;

/// The first given flag that cannot apply to a compiled program.
static const char *flagOfSources(const ExplainFlags &flags) {
  const ModelFlags &model = flags.model;
  if (const char *flag = model.ofSources())
    return flag;
  return !model.expect.empty()            ? "--expect"
         : !model.memory.empty()          ? "--memory"
         : model.microbatches > 1         ? "--microbatches"
         : !model.overlap.empty()         ? "--overlap"
         : !model.rings.empty()           ? "--rings"
         : !model.matmulPrecision.empty() ? "--matmul-precision"
         : !model.collectives.empty()     ? "--collectives"
         : !flags.html.empty()            ? "--html"
         : flags.all                      ? "--all"
         : model.fixSeconds               ? "--fix-seconds"
         : flags.kernels                  ? "--kernels"
                                          : nullptr;
}

static Json jsonOf(const std::vector<weft_port> &ports) {
  Json list = Json::array();
  for (const weft_port &port : ports)
    list.push_back(
        {{"name", port.name},
         {"role", weft_role_name(port.role)},
         {"shape", std::vector<int64_t>(port.shape, port.shape + port.rank)},
         {"dtype", name(ElementType(port.dtype))},
         {"layout", port.layout},
         {"bytes", port.bytes},
         {"device_bytes", port.device_bytes},
         {"donated", port.donated < 0 ? Json() : Json(port.donated)}});
  return list;
}

static Json jsonOf(const weft_program *program, const weft_program_info &info,
                   const std::vector<weft_collective> &collectives) {
  Json listed = Json::array();
  uint64_t total = 0;
  for (const weft_collective &collective : collectives) {
    listed.push_back({{"kind", collective.kind},
                      {"axes", collective.axes},
                      {"bytes", collective.bytes},
                      {"group", collective.group},
                      {"label", collective.label}});
    total += collective.bytes;
  }
  return {{"name", info.name},
          {"target", info.target},
          {"mesh", info.mesh},
          {"devices", info.device_count},
          {"inputs", jsonOf(describePorts(program, true))},
          {"outputs", jsonOf(describePorts(program, false))},
          {"collectives", listed},
          {"total", {{"bytes", total}, {"count", collectives.size()}}},
          {"memory",
           {{"inputs", info.input_bytes},
            {"outputs", info.output_bytes},
            {"arena", info.arena_bytes},
            {"constants", info.constant_bytes}}},
          {"code",
           {{"kernels", info.kernel_count},
            {"launches", info.launch_count},
            {"bytes", info.code_bytes}}}};
}

static void printRows(const std::vector<Row> &rows) {
  size_t words = 0, digits = 0;
  for (const auto &[text, bytes] : rows) {
    words = std::max(words, text.size());
    digits = std::max(digits, grouped(bytes).size());
  }
  for (const auto &[text, bytes] : rows)
    std::printf("  %-*s  %*s\n", int(words), text.c_str(), int(digits),
                grouped(bytes).c_str());
}

static void print(const weft_program *program, const weft_program_info &info,
                  const std::vector<weft_collective> &collectives) {
  printText(portTable(program) + "\n");
  std::vector<Row> rows;
  uint64_t total = 0;
  for (const weft_collective &collective : collectives) {
    rows.push_back({std::string(collective.kind) + "  " + collective.axes +
                        "  " + collective.label,
                    collective.bytes});
    total += collective.bytes;
  }
  rows.push_back(
      {"total in " + std::to_string(collectives.size()) +
           (collectives.size() == 1 ? " collective" : " collectives"),
       total});
  std::printf("Sent by one device, in bytes; collectives in loops are counted "
              "once:\n\n");
  printRows(rows);
  std::printf("\nMemory of one device, in bytes:\n\n");
  printRows({{"inputs", info.input_bytes},
             {"outputs that reuse no input", info.output_bytes},
             {"intermediate values", info.arena_bytes},
             {"constants, shared by all devices", info.constant_bytes}});
  std::printf("\nCode: %zu kernels, launched at %zu places, %s bytes\n",
              info.kernel_count, info.launch_count,
              grouped(info.code_bytes).c_str());
}

int weft::tool::runExplainProgram(const ExplainFlags &flags) {
  const std::string &path = flags.model.model;
  if (const char *flag = flagOfSources(flags))
    return fail(std::string(flag) + " has no effect on " + path +
                ", which is compiled; leave it out, or explain the model");
  auto read = loadProgramFile(path, flags.model.namesStep ? flags.model.step
                                                          : std::string());
  if (!read)
    return fail(read.error());
  weft_program *loaded = *read;
  OwnedProgram program(loaded);
  weft_program_info info = describeProgram(loaded);
  std::vector<weft_collective> collectives(info.collective_count);
  for (size_t i = 0; i < collectives.size(); ++i)
    if (Status known =
            takeError(weft_program_collective(loaded, i, &collectives[i]));
        !known)
      return fail(known.error().in(path));
  if (flags.json)
    std::printf("%s\n", jsonOf(loaded, info, collectives)
                            .dump(2, ' ', false, Json::error_handler_t::replace)
                            .c_str());
  else
    print(loaded, info, collectives);
  return 0;
}
