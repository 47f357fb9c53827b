//===- CompileOptions.h - compile options of a program ----------*- C++ -*-===//
//
// Parses XLA's serialized CompileOptionsProto, of which five fields are read.
// A script's options for one program, which are Weft's own, are among them:
//
//   jax.jit(f).lower(x).compile(compiler_options={"weft_target": "cpu:avx2"})
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H

#include "weft/tools/pjrt/Objects.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pjrt {

/// An option of the script: a name with one of these values.
struct ScriptOption {
  std::string name, text; ///< text: of the value
  bool isText = false;    ///< and not a number or a truth value
};

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices; ///< one for each partition; empty: not given
  std::string assignment;       ///< `devices` as JAX wrote them
  std::vector<ScriptOption> ofScript;
};

/// Parses the bytes; false if they are no such message.
bool readCompileOptions(std::string_view bytes, CompileOptions &out);

/// Reads the options of the script; an error for an unknown one, or null.
PJRT_Error *readProgramOptions(const CompileOptions &options,
                               ProgramOptions &out);

/// Serializes a DeviceAssignmentProto of one replica.
std::string writeAssignment(const std::vector<int64_t> &devices);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H
