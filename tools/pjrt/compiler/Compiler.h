//===- Compiler.h - from JAX's bytes to a program image ---------*- C++ -*-===//
//
//   Compiler compiler;                         // one for each topology
//   CompiledProgram found;
//   if (!compiler.findOnDisk(code, 8, {}, found)) { // the same bytes, earlier
//     ProgramSource source(compiler, code, 8);
//     if (!known.contains(source.key()))
//       image = source.compile();                // from disk for an equal key
//   }
//
// This is the only part of the plugin that uses MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_COMPILER_COMPILER_H
#define WEFT_TOOLS_PJRT_COMPILER_COMPILER_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pjrt {

/// What a script asks of one program (compiler_options of JAX).
struct ProgramOptions {
  std::string target; ///< as WEFT_TARGET; empty: that of the compiler
  std::string expect; ///< a budget, as `weft compile --expect`; empty: none
};

/// What a program computes (compiler/hlo/HloCosts.h).
struct ProgramCosts {
  double flops = 0, transcendentals = 0;
};

struct CompiledProgram {
  std::string name;           ///< jit_f
  std::vector<uint8_t> image; ///< the bytes of a .weft file
};

/// Objects that are slow to make and kept between programs: MLIR's contexts and
/// the code generator. Threads may share it.
class Compiler {
public:
  Compiler();
  ~Compiler();
  /// Finds the result of an earlier compilation of these very bytes for as many
  /// partitions; false without one, or if WEFT_EXPLAIN asks for reports. Does
  /// not use MLIR.
  bool findOnDisk(std::string_view code, int64_t partitions,
                  const ProgramOptions &options, CompiledProgram &out) const;
  /// The version, build and processor, on which compiled code depends.
  const std::string &version() const;
  /// The error in WEFT_TARGET; empty if there is none.
  const std::string &wrongTarget() const;

private:
  friend class ProgramSource;
  struct State;
  std::unique_ptr<State> state;
};

class ProgramSource {
public:
  ProgramSource(Compiler &compiler, std::string_view code, int64_t partitions,
                ProgramOptions options = {});
  ~ProgramSource();
  /// The error, with its place in the user's script; empty if there is none so
  /// far.
  const std::string &error() const;
  /// The name of the program: jit_f.
  const std::string &name() const;
  /// A key that is equal for programs with one name and the same computation,
  /// wherever in a script they are from.
  const std::string &key() const;
  /// Compiles to the bytes of a .weft file; none after an error. Requires that
  /// error() is empty.
  std::vector<uint8_t> compile();
  /// The partitioned program in XLA's syntax (compiler/hlo), from the passes up
  /// to stage `scheduled`; compile() is not needed. Empty after an error.
  std::string hloText();
  /// The operations of one device's program, with loops once; compile() is not
  /// needed. Zeros after an error.
  ProgramCosts costs();
  /// The explanation of the compiled program, if WEFT_EXPLAIN asks for it.
  const std::string &explanation() const;
  /// The seconds since the constructor began: those of reading and compiling.
  double seconds() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_COMPILER_COMPILER_H
