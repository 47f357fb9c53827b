//===- ProfileReport.cpp - times of instructions as tables ----------------===//

#include "weft/tools/weft/programs/ProfileReport.h"

#include "weft/tools/weft/programs/ProgramPorts.h"
#include "weft/training/Ports.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using namespace weft::tool;
using Json = nlohmann::ordered_json;

ProfileReport::ProfileReport(const weft_program *program, const Roof &roof,
                             bool areOn)
    : program(program), roof(roof),
      instructions(weft_program_instruction_count(program)),
      sums(instructions.size()) {
  if (!areOn ||
      !std::string_view(describeProgram(program).target).starts_with("cuda:"))
    return;
  graphs.resize(weft_program_pieces(program, nullptr, 0));
  weft_program_pieces(program, graphs.data(), graphs.size());
  std::erase_if(graphs, [](const weft_piece &its) { return its.count < 2; });
}

weft::Status ProfileReport::describe() {
  for (size_t i = 0; i < instructions.size(); ++i)
    if (Status ok =
            takeError(weft_program_instruction(program, i, &instructions[i]));
        !ok)
      return ok;
  return {};
}

void ProfileReport::add(const weft_instruction_time *times, size_t count,
                        double seconds) {
  runs.push_back(seconds);
  last.assign(times, times + count);
  for (const weft_instruction_time &time : last) {
    auto &[seen, nanoseconds] = sums[time.instruction];
    ++seen;
    nanoseconds += double(time.end_ns - time.begin_ns);
    devices = std::max(devices, time.position + 1);
  }
  addBusy();
}

/// Adds up, over the last run's devices, when each computes and communicates.
void ProfileReport::addBusy() {
  // +1 and -1 where an instruction of a device begins and ends.
  struct Change {
    uint64_t at;
    int computing, sending;
  };
  std::map<int64_t, std::vector<Change>> devicesOf;
  for (const weft_instruction_time &time : last) {
    std::string_view kind = instructions[time.instruction].kind;
    int computes = kind == "launch" || kind == "copy";
    int sends = !computes && kind != "jump" && kind != "return";
    busy.communicates |= sends > 0;
    devicesOf[time.position].push_back({time.begin_ns, computes, sends});
    devicesOf[time.position].push_back({time.end_ns, -computes, -sends});
  }
  for (auto &[device, changes] : devicesOf) {
    std::sort(changes.begin(), changes.end(),
              [](const Change &a, const Change &b) { return a.at < b.at; });
    int computing = 0, sending = 0;
    for (size_t i = 0; i + 1 < changes.size(); ++i) {
      computing += changes[i].computing;
      sending += changes[i].sending;
      double seconds = 1e-9 * double(changes[i + 1].at - changes[i].at);
      busy.computing += computing > 0 ? seconds : 0;
      busy.communication += sending > 0 ? seconds : 0;
      busy.exposed += sending > 0 && computing == 0 ? seconds : 0;
    }
  }
}

double ProfileReport::runSeconds() const {
  std::vector<double> sorted(runs);
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? 0 : sorted[sorted.size() / 2];
}

double ProfileReport::Row::roofShare(const Roof &roof) const {
  if (kind != "launch" && kind != "copy")
    return 0;
  double least = roof.bandwidth > 0 ? bytes / roof.bandwidth : 0;
  if (roof.operations > 0)
    least = std::max(least, operations / roof.operations);
  return seconds > 0 ? least / seconds : 0;
}

std::vector<ProfileReport::Row> ProfileReport::rows() const {
  std::map<std::pair<std::string, std::string>, Row> byName;
  double share = 1.0 / double(std::max<size_t>(runs.size(), 1)) /
                 double(std::max<int64_t>(devices, 1));
  for (size_t i = 0; i < instructions.size(); ++i) {
    auto [seen, nanoseconds] = sums[i];
    if (!seen)
      continue;
    const weft_instruction &its = instructions[i];
    Row &row = byName[{its.kind, its.name}];
    row.kind = its.kind;
    row.name = its.name;
    double times = double(seen) * share;
    row.count += times;
    row.seconds += nanoseconds * 1e-9 * share;
    row.bytes += double(its.bytes) * times;
    row.operations += its.operations * times;
  }
  std::vector<Row> all;
  for (auto &[key, row] : byName)
    all.push_back(std::move(row));
  std::stable_sort(all.begin(), all.end(), [](const Row &a, const Row &b) {
    return a.seconds > b.seconds;
  });
  return all;
}

static std::string formatted(const char *format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string ProfileReport::head() const {
  weft_program_info info = describeProgram(program);
  std::string peak =
      roof.operations > 0
          ? formatted("%.1f Gop/s, as stated", roof.operations * 1e-9)
          : std::string("arithmetic not stated (--peak-operations)");
  return formatted("%s for %s, %lld %s, %zu %s of %.3f ms\n", info.name,
                   info.target, static_cast<long long>(devices),
                   devices == 1 ? "device" : "devices", runs.size(),
                   runs.size() == 1 ? "run" : "runs", runSeconds() * 1e3) +
         formatted("roof: %.1f GB/s, %s; ", roof.bandwidth * 1e-9,
                   roof.isMeasured ? "measured by a copy on device 0"
                                   : "as stated") +
         peak + "\n" + graphsLine() + busyLine() + "\n";
}

/// When a device computes and communicates; nothing without communication.
std::string ProfileReport::busyLine() const {
  double share = 1e3 / double(std::max<size_t>(runs.size(), 1)) /
                 double(std::max<int64_t>(devices, 1));
  if (!busy.communicates)
    return "";
  return formatted(
      "a device computes for %.3f ms and communicates for %.3f ms, "
      "of which %.3f ms are exposed\n",
      busy.computing * share, busy.communication * share, busy.exposed * share);
}

/// The graphs of runs that are not measured; nothing if there are none.
std::string ProfileReport::graphsLine() const {
  if (graphs.empty())
    return "";
  constexpr size_t most = 3;
  std::string text = "graphs, where devices share a GPU: instructions";
  for (size_t i = 0; i < std::min(most, graphs.size()); ++i)
    text += formatted("%s %zu to %zu", i ? "," : "", graphs[i].first,
                      graphs[i].first + graphs[i].count - 1);
  if (graphs.size() > most)
    text += formatted(", %zu more", graphs.size() - most);
  return text + "\n";
}

/// A kernel's name, or the kind of another instruction and the value that it
/// moves, in at most `width` columns.
static std::string shownName(const ProfileReport::Row &row, size_t width) {
  std::string name = row.kind == "launch" ? row.name
                     : row.name.empty()   ? row.kind
                                          : row.kind + " " + row.name;
  return name.size() <= width ? name : name.substr(0, width - 3) + "...";
}

/// The line of one row, in 96 columns.
static std::string lineOf(const ProfileReport::Row &row, double all,
                          const Roof &roof) {
  bool isOwn = row.kind == "launch" || row.kind == "copy";
  std::string line = formatted(
      "%6.0f %9.4f %5.1f%% %9.3f %7.2f ", row.count, row.seconds * 1e3,
      all > 0 ? 100 * row.seconds / all : 0, row.bytes * 1e-6,
      row.seconds > 0 ? row.bytes / row.seconds * 1e-9 : 0);
  line += row.operations > 0
              ? formatted("%8.2f ", row.operations / row.seconds * 1e-9)
              : std::string("       - ");
  line += isOwn ? formatted("%4.0f%%  ", 100 * row.roofShare(roof))
                : std::string("    -  ");
  return line + shownName(row, 96 - line.size()) + "\n";
}

std::string ProfileReport::table(size_t most) const {
  std::vector<Row> all = rows();
  double seconds = 0;
  for (const Row &row : all)
    seconds += row.seconds;
  std::string text =
      head() + formatted("%6s %9s %6s %9s %7s %8s %5s  %s\n", "count", "ms",
                         "share", "MB", "GB/s", "Gop/s", "roof", "name");
  size_t shown = most == 0 ? all.size() : std::min(most, all.size());
  for (size_t i = 0; i < shown; ++i)
    text += lineOf(all[i], seconds, roof);
  if (shown == all.size())
    return text;
  Row rest;
  rest.kind = "others:";
  rest.name = std::to_string(all.size() - shown) + " (--top 0 shows all)";
  for (size_t i = shown; i < all.size(); ++i) {
    rest.count += all[i].count;
    rest.seconds += all[i].seconds;
    rest.bytes += all[i].bytes;
    rest.operations += all[i].operations;
  }
  return text + lineOf(rest, seconds, roof);
}

std::string ProfileReport::json() const {
  weft_program_info info = describeProgram(program);
  Json listed = Json::array();
  for (const Row &row : rows())
    listed.push_back({{"kind", row.kind},
                      {"name", row.name},
                      {"count", row.count},
                      {"ms", row.seconds * 1e3},
                      {"bytes", row.bytes},
                      {"operations", row.operations},
                      {"roof_share", row.roofShare(roof)}});
  Json pieces = Json::array();
  for (const weft_piece &its : graphs)
    pieces.push_back({its.first, its.first + its.count - 1});
  double share = 1e3 / double(std::max<size_t>(runs.size(), 1)) /
                 double(std::max<int64_t>(devices, 1));
  Json report = {{"program", info.name},
                 {"target", info.target},
                 {"devices", devices},
                 {"runs", runs.size()},
                 {"run_ms", runSeconds() * 1e3},
                 {"roof",
                  {{"bytes_per_second", roof.bandwidth},
                   {"measured", roof.isMeasured},
                   {"operations_per_second",
                    roof.operations > 0 ? Json(roof.operations) : Json()}}},
                 {"busy",
                  {{"computing_ms", busy.computing * share},
                   {"communication_ms", busy.communication * share},
                   {"exposed_ms", busy.exposed * share}}},
                 {"graphs", std::move(pieces)},
                 {"rows", std::move(listed)}};
  return report.dump(2) + "\n";
}

std::string ProfileReport::trace() const {
  Json events = Json::array();
  for (int64_t device = 0; device < devices; ++device)
    events.push_back(
        {{"name", "thread_name"},
         {"ph", "M"},
         {"pid", 0},
         {"tid", device},
         {"args", {{"name", "device " + std::to_string(device)}}}});
  for (const weft_instruction_time &time : last) {
    const weft_instruction &its = instructions[time.instruction];
    bool isNamed = *its.name != '\0';
    events.push_back({{"name", isNamed ? its.name : its.kind},
                      {"cat", its.kind},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", time.position},
                      {"ts", double(time.begin_ns) * 1e-3},
                      {"dur", double(time.end_ns - time.begin_ns) * 1e-3},
                      {"args",
                       {{"instruction", time.instruction},
                        {"bytes", its.bytes},
                        {"operations", its.operations}}}});
  }
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}
             .dump() +
         "\n";
}
