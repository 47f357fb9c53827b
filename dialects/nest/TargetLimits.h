//===- TargetLimits.h - what loop nests are chosen for ----------*- C++ -*-===//
//
//   std::optional<TargetLimits> limits = targetLimits("cpu:avx2");
//   int64_t bytes = limits->vectorBytes; // 32
//   int64_t lanes = limits->lanes(f32);  // 8
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_TARGETLIMITS_H
#define WEFT_DIALECTS_NEST_TARGETLIMITS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace weft::nest {

/// Limits of a processor that launches blocks of threads. The figures of
/// speed are those of data sheets (A100, H100, B200): tiles are chosen by them.
struct BlockLimits {
  int64_t threads = 0; ///< of a block
  /// Shared memory of a block, without asking the driver for more.
  int64_t sharedBytes = 0;
  int64_t processors = 0; ///< run blocks at the same time
  /// Multiply-adds of a processor in a cycle: of f32, and on tensor cores.
  int64_t fma = 0, tf32 = 0, half = 0;
  /// Bytes that come to a processor from the L2 cache in a cycle.
  int64_t bytes = 0;
};

struct TargetLimits {
  llvm::StringLiteral name; ///< cpu:avx2, cuda:sm_80
  int64_t vectorBytes;      ///< of the widest register
  int64_t vectorRegisters;
  /// A value that only its kernel reads is kept in scratch memory up to so many
  /// bytes, all of them together up to `scratchBytes`; a larger one is an extra
  /// result of the kernel. 0: a launch has no memory of its own.
  int64_t storedBytes, scratchBytes;
  /// The lanes that share a row; 1 where rows are not shared.
  int64_t rowLanes;
  /// May a kernel be several nests, one after the other? Not where each is a
  /// launch of its own.
  bool hasSeveralNests;
  /// Are contractions computed in register tiles?
  bool hasTiles;
  /// May a library compute contractions?
  bool hasLibraries = false;
  BlockLimits block = {}; ///< of targets whose kernels are launches

  /// Elements in a vector, 1 at least.
  int64_t lanes(mlir::Type element) const;
};

/// All targets that nests can be chosen for.
llvm::ArrayRef<TargetLimits> allTargetLimits();
/// Nothing for a name that is none of these.
std::optional<TargetLimits> targetLimits(llvm::StringRef name);
/// "no loop nests for 'x'; use one of cpu:avx512, ...".
std::string unknownTargetLimits(llvm::StringRef name);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_TARGETLIMITS_H
