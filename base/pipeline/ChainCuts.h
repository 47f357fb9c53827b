//===- ChainCuts.h - a chain of layers as stages ----------------*- C++ -*-===//
//
//   layers of 6, 1, 2, 3, 1 seconds, three stages, moves at no cost:
//
//   | 6 | 1 2 3 | 1 |    slowest 6
//   | 6 | 1 2 | 3 1 |    slowest 6, and nearer to the mean: this one
//
// All stages work on different microbatches, so a step takes as long as the
// slowest. A cut is found by dynamic programming over the layers: of the cuts
// whose slowest stage is the least, the one with the least sum of squares.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_CHAINCUTS_H
#define WEFT_BASE_PIPELINE_CHAINCUTS_H

#include "weft/base/Result.h"

#include <vector>

namespace weft::pipeline {

/// A layer of the chain.
struct ChainLayer {
  double seconds = 0;
  /// Seconds of what is moved if a stage begins here, for each of both stages.
  double border = 0;
  double held = 0; ///< bytes of weights, gradients and slots
  double live = 0; ///< bytes that each microbatch keeps until its gradients
};

struct ChainCut {
  std::vector<size_t> begins;  ///< the first layer of each stage
  std::vector<double> seconds; ///< of each stage, with its moves
  std::vector<double> bytes;   ///< of each stage
  double slowest() const;
};

/// Cuts a chain in as many stages as `liveMicrobatches` has numbers: how many
/// microbatches each stage keeps at most. A stage has at most `memory` bytes, 0
/// for any; if no cut has, that of the least fullest stage is taken. Fails if
/// there are fewer layers than stages.
Result<ChainCut> cutChain(const std::vector<ChainLayer> &layers,
                          const std::vector<int> &liveMicrobatches,
                          double memory = 0);

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_CHAINCUTS_H
