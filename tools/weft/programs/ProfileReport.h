//===- ProfileReport.h - times of instructions as tables --------*- C++ -*-===//
//
//   ProfileReport report(program, {.bandwidth = 1.2e10, .isMeasured = true});
//   report.add(times, count, seconds);       // of each run
//   report.table(20); report.json(); report.trace();
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H
#define WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H

#include "weft/runtime/abi/profile.h"

#include <string>
#include <vector>

namespace weft::tool {

/// The peaks of one device.
struct Roof {
  double bandwidth = 0;    ///< bytes a second
  bool isMeasured = false; ///< the bandwidth; else it was stated
  double operations = 0;   ///< a second, a multiply-add is one; 0: not stated
};

class ProfileReport {
public:
  ProfileReport(const weft_program *program, const Roof &roof);
  /// Success, or why the program's instructions cannot be described.
  weft_error *describe();
  /// Times of one run, which took so long.
  void add(const weft_instruction_time *times, size_t count, double seconds);

  /// All runs of a kernel or collective: of one device, the mean over devices
  /// and runs.
  struct Row {
    std::string kind, name;
    double count = 0, seconds = 0, bytes = 0, operations = 0;
    /// Least seconds that the roof allows, over those that it took; of
    /// collectives, which wait for others, nothing.
    double roofShare(const Roof &roof) const;
  };
  /// The rows, slowest first.
  std::vector<Row> rows() const;
  /// The first `most` rows, 0 for all, in lines of 96 columns at most: names are
  /// cut.
  std::string table(size_t most) const;
  std::string json() const;
  /// Chrome's trace events, of the last run: a track for each device.
  std::string trace() const;

private:
  double runSeconds() const; ///< the median
  std::string head() const;

  const weft_program *program;
  Roof roof;
  std::vector<weft_instruction> instructions;
  std::vector<double> runs; ///< seconds
  int64_t devices = 0;
  std::vector<std::pair<uint64_t, double>> sums; ///< count, ns by instruction
  std::vector<weft_instruction_time> last;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H
