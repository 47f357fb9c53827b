//===- CompileOptions.h - compile options of a program ----------*- C++ -*-===//
//
// Parses XLA's serialized CompileOptionsProto, of which four fields are read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H
#define WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pjrt {

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices; ///< one for each partition; empty: not given
  std::string assignment;       ///< `devices` as JAX wrote them
};

/// Parses the bytes; false if they are no such message.
bool readCompileOptions(std::string_view bytes, CompileOptions &out);

/// Serializes a DeviceAssignmentProto of one replica.
std::string writeAssignment(const std::vector<int64_t> &devices);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_COMPILEOPTIONS_H
