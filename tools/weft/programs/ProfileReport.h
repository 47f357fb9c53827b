//===- ProfileReport.h - times of instructions as tables --------*- C++ -*-===//
//
//   ProfileReport report(program, {.bandwidth = 1.2e10, .isMeasured = true});
//   Status described = report.describe();    // first
//   report.add(times, count, seconds);       // of each run
//   report.table(20); report.json(); report.trace();
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H
#define WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H

#include "weft/base/Result.h"
#include "weft/runtime/abi/profile.h"

#include <string>
#include <vector>

namespace weft::tool {

/// The peaks of one device.
struct Roof {
  double bandwidth = 0;    ///< bytes a second
  bool isMeasured = false; ///< whether the bandwidth was measured, not stated
  double operations = 0;   ///< operations a second; 0: not stated
};

class ProfileReport {
public:
  /// `graphs`: whether runs without measurement may use graphs.
  ProfileReport(const weft_program *program, const Roof &roof, bool graphs);
  /// Describes the program's instructions.
  Status describe();
  /// Adds the times of one run, which took `seconds`.
  void add(const weft_instruction_time *times, size_t count, double seconds);

  /// The sums of a kernel or collective in one run on one device: means over
  /// runs and devices.
  struct Row {
    std::string kind, name;
    double count = 0, seconds = 0, bytes = 0, operations = 0;
    /// The least seconds that the roof allows, divided by the measured ones; 0
    /// for collectives, which wait for others.
    double roofShare(const Roof &roof) const;
  };
  /// The rows, slowest first.
  std::vector<Row> rows() const;
  /// A head, the first `most` rows, 0 for all, in lines of at most 96 columns
  /// (names are cut), and one row for the others.
  std::string table(size_t most) const;
  std::string json() const;
  /// The last run as Chrome's trace events: a track for each device.
  std::string trace() const;

private:
  /// What a device does in a run, in seconds: means over runs and devices.
  struct Busy {
    double computing = 0, communication = 0; ///< at least one of each
    double exposed = 0; ///< communication without computing
    bool communicates = false;
  };
  void addBusy();
  double runSeconds() const; ///< the median
  std::string busyLine() const;
  std::string head() const;
  std::string graphsLine() const;

  const weft_program *program;
  Roof roof;
  /// Pieces that are one launch without measurement, of more than one
  /// instruction.
  std::vector<weft_piece> graphs;
  std::vector<weft_instruction> instructions;
  std::vector<double> runs; ///< seconds
  int64_t devices = 0;
  std::vector<std::pair<uint64_t, double>> sums; ///< count, ns; by instruction
  std::vector<weft_instruction_time> last;
  Busy busy; ///< sums over runs and devices
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_PROFILEREPORT_H
