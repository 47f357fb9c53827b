//===- StepArchive.h - several programs in one file -------------*- C++ -*-===//
//
//   int64_t devices = 0;
//   auto steps = readSteps("step.weft", devices);
//   (*steps)[0].kind, (*steps)[0].batch        // train, 32
//
// step.weft is one program, or a ZIP archive of several, train-32.weft,
// evaluate-32.weft and so on: each is a program file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_STEPARCHIVE_H
#define WEFT_TOOLS_WEFT_PROGRAMS_STEPARCHIVE_H

#include "weft/base/Result.h"
#include "weft/runtime/abi/weft.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::tool {

struct CompiledStep {
  std::string kind;           ///< train, evaluate or predict
  int64_t batch = 0;          ///< samples
  std::vector<uint8_t> image; ///< bytes of a .weft file
};

/// Reads all steps of a file, which may be one program or an archive. `devices`
/// is raised to the number that they need.
Result<std::vector<CompiledStep>> readSteps(const std::string &path,
                                            int64_t &devices);
/// Writes the steps as an archive.
Status writeSteps(const std::string &path,
                  const std::vector<CompiledStep> &steps);
/// The batch sizes of the steps of this kind, in the file's order.
std::vector<int64_t> sizesOf(const std::vector<CompiledStep> &steps,
                             const std::string &kind);
/// Whether the file begins as an archive of steps does.
bool holdsSteps(const std::string &path);

/// Loads the program of a file, or the first step of this kind of an archive,
/// for commands that take one program. `step` may be empty if there is only one
/// step. The caller frees the program.
Result<weft_program *> loadProgramFile(const std::string &path,
                                       const std::string &step);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_STEPARCHIVE_H
