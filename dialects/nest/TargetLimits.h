//===- TargetLimits.h - limits of a target for loop nests -------*- C++ -*-===//
//
//   std::optional<TargetLimits> limits = targetLimits("cpu:avx2");
//   int64_t bytes = limits->vectorBytes; // 32
//   int64_t lanes = limits->lanes(f32);  // 8
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_TARGETLIMITS_H
#define WEFT_DIALECTS_NEST_TARGETLIMITS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace weft::nest {

/// Limits of a processor that launches blocks of threads. The speeds are
/// from data sheets (A100, H100, B200) and serve to choose tiles.
struct BlockLimits {
  int64_t threads = 0; ///< threads of a block
  /// Shared memory of a block that the driver grants without a special
  /// attribute.
  int64_t sharedBytes = 0;
  /// Multiprocessors, which run blocks at the same time.
  int64_t processors = 0;
  /// Multiply-adds of a multiprocessor in a cycle: of f32, and on tensor cores.
  int64_t fma = 0, tf32 = 0, half = 0;
  /// Bytes that a multiprocessor receives from the L2 cache in a cycle.
  int64_t bytes = 0;
  /// The most operations of a thread for the columns that it keeps of a row:
  /// the code is unrolled. A layer norm of 1024 columns has 576 for 32 columns;
  /// read three times instead, it took 0.192 ms on an H100 where one pass is
  /// 0.09 ms.
  int64_t heldOps = 2048;
  /// The most registers for these columns, of the 255 that a thread has.
  int64_t heldRegisters = 128;
  /// Loads of a thread that are on their way at once in a loop over a long row
  /// or over terms. With one at a time, sums of the columns of 16384 x 2304
  /// numbers of bf16 came to 340 of 2996 GB/s on an H100.
  int64_t loads = 8;
  /// The most instructions of a plan that repeat the body of a counted loop: the
  /// host reads no condition between them, which takes as long as some launches,
  /// and one graph launches them all.
  int64_t unrolled = 4096;
};

/// How a library's products compare with generated ones. Measured on an H100;
/// the table has no others yet. Cycles are those of a multiprocessor.
struct LibraryLimits {
  /// The least multiply-adds of a call: fewer take less time than a launch.
  int64_t leastMultiplyAdds = 64 << 10;
  /// The most calls of a product, for a batch that no one stride steps through.
  int64_t mostCalls = 64;
  /// A launch (3 us), and each further call of a product (2 us).
  int64_t launchCycles = 5000, callCycles = 3400;
  /// Bytes that the device's memory moves in a cycle (3 TB/s).
  int64_t memoryBytes = 1700;
  /// How many times as long generated code takes as a library: where it copies
  /// operands in runs of 16 bytes, and where it reads them one by one, for f32
  /// and for short floats on tensor cores.
  int64_t timesCopied = 2, timesComputed = 4, timesComputedHalf = 30;
};

struct TargetLimits {
  llvm::StringLiteral name; ///< cpu:avx2, cuda:sm_80
  int64_t vectorBytes;      ///< bytes of the widest register
  int64_t vectorRegisters;
  /// The most bytes of a value that is kept in scratch memory if only its
  /// kernel reads it, and of all scratch memory; larger values are in memory
  /// that the plan gives the launch.
  int64_t storedBytes, scratchBytes;
  /// The lanes of a warp, which share a row (a block shares a wide row); 1 if
  /// rows are not shared.
  int64_t rowLanes;
  /// Whether a kernel may have several nests, one after the other; false if
  /// each nest is a launch.
  bool hasSeveralNests;
  /// Whether contractions are computed in register tiles.
  bool hasTiles;
  /// Whether a library may compute contractions.
  bool hasLibraries = false;
  BlockLimits block = {}; ///< only for targets whose kernels are launches
  LibraryLimits library = {};

  /// Whether kernels are functions of the host.
  bool isOfHost() const { return block.threads == 0; }
  /// Elements in a vector, at least 1.
  int64_t lanes(mlir::Type element) const;
};

/// All targets that nests can be chosen for.
llvm::ArrayRef<TargetLimits> allTargetLimits();
/// The limits of a target; nothing for an unknown name.
std::optional<TargetLimits> targetLimits(llvm::StringRef name);
/// The limits of a target; an error at the op for an unknown name: "no loop nests for
/// 'x'; use one of cpu:avx512, ...".
llvm::FailureOr<TargetLimits> targetLimits(llvm::StringRef name,
                                           mlir::Operation *op);

} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_TARGETLIMITS_H
