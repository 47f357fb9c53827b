//===- Report.h - files that WEFT_EXPLAIN=dir writes ------------*- C++ -*-===//
//
//   dir/003-jit_train_step.txt
//
//   the output of `weft explain`: collectives with lines of the script, memory
//   Time: compiled in 41.3 ms; 64 runs, 1.210 ms each, the first 2.700 ms;
//   in the last one each device moved 712390 bytes.
//
// The report is written when the program is compiled, after 1, 2, 4, ... runs
// and when it is unloaded.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_COMPILER_REPORT_H
#define WEFT_TOOLS_PJRT_COMPILER_REPORT_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace weft::pjrt {

class Report {
public:
  /// Makes a report, or null without WEFT_EXPLAIN. Creates the folder; the file
  /// has the number after the greatest in it.
  static std::shared_ptr<Report> make(const std::string &name,
                                      std::string explanation, double seconds);
  ~Report();
  /// Counts a run, in which a device sent `moved` bytes.
  void ran(double seconds, uint64_t moved);

private:
  void write();
  std::string path, explanation;
  double compiling = 0, first = 0, sum = 0;
  int64_t runs = 0;
  uint64_t moved = 0; ///< bytes of the last run
  std::mutex mutex;
};

/// Whether WEFT_EXPLAIN is set.
bool wantsReports();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_COMPILER_REPORT_H
