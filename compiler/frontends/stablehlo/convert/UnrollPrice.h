//===- UnrollPrice.h - whether a loop is unrolled ---------------*- C++ -*-===//
//
// A round of a loop costs its body's work and kOverhead besides: two launches
// for counter and condition, two jumps, and the kernels that rounds cannot
// share. Unrolling saves that, and costs time to compile: a copy of the body for
// each round. So:
//
//   rounds  ops  work of a round      unrolled
//   5       40   any, all ops fuse    yes: one kernel keeps everything in
//                                     registers (JAX's random numbers)
//   8       20   30,000               yes: the overhead is most of the time
//   8       20   50 million           no: products of matrices hide it
//   24      90   any                  no: 2,160 ops to compile instead of 90
//
// No number of rounds is a limit by itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_UNROLLPRICE_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_UNROLLPRICE_H

#include "mlir/IR/Block.h"

namespace weft::stablehlo {

class UnrollPrice {
public:
  /// The price of a body of converted ops, loops in it unrolled or kept.
  explicit UnrollPrice(mlir::Block &body);

  /// Ops of the body, those of regions included.
  uint64_t ops() const { return count; }
  /// Whether to unroll this many rounds, in a program in which unrolling made
  /// `already` ops.
  bool pays(uint64_t rounds, uint64_t already) const;

  /// The most ops of an unrolled loop, and of all in a program.
  static constexpr uint64_t kMostOps = 512, kMostOfProgram = 16384;
  /// The overhead of a round in instructions, about ten microseconds.
  static constexpr double kOverhead = 40'000;

private:
  void add(mlir::Block &block, double times);

  uint64_t count = 0;
  double work = 0;   ///< instructions of a round
  bool fuses = true; ///< each op is part of any kernel
};

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_UNROLLPRICE_H
