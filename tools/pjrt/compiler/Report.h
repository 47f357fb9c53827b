//===- Report.h - what WEFT_EXPLAIN=dir keeps of a program ------*- C++ -*-===//
//
//   dir/003-jit_train_step.txt
//
//   what `weft explain` says: collectives with lines of the script, memory
//   Time: compiled in 41.3 ms; 64 runs, 1.21 ms each, the first 2.70 ms;
//   in the last one each device moved 712390 bytes.
//
// Written when the program is compiled and again after 1, 2, 4, ... runs and
// when JAX lets go of it.
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
  /// Null where WEFT_EXPLAIN is not set. Makes the folder; the file has the
  /// first number that is free.
  static std::shared_ptr<Report> make(const std::string &name,
                                      std::string explanation, double seconds);
  ~Report();
  /// `moved`: bytes that a device sent, counted.
  void ran(double seconds, uint64_t moved);

private:
  void write();
  std::string path, explanation;
  double compiling = 0, first = 0, sum = 0;
  int64_t runs = 0;
  uint64_t moved = 0; ///< in the last run
  std::mutex mutex;
};

/// Is WEFT_EXPLAIN set?
bool wantsReports();

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_COMPILER_REPORT_H
