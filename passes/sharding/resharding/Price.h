//===- Price.h - what moving tensors between devices costs ------*- C++ -*-===//
//
// 192 bytes over "data" with 1 us and 10 GB/s move for 19.2 ns and wait for
// 1 us: {19200000, 1000000000, 192}. The planner of reshards, the propagation
// of layouts and the passes that move reshards all count so.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_PRICE_H
#define WEFT_PASSES_SHARDING_RESHARDING_PRICE_H

#include "weft/dialects/layout/Layout.h"

#include <limits>

namespace weft {

/// Integers, whose sums do not depend on their order; 100 s are the most.
int64_t femtoseconds(double seconds);

/// Messages over several axes are in flight together: they take the time of the
/// slowest.
struct Link {
  double latency = 0; ///< seconds for one message
  double bandwidth = std::numeric_limits<double>::infinity(); ///< bytes/second

  double moving(int64_t bytes) const { return double(bytes) / bandwidth; }
};
Link slowestLink(const Mesh &mesh, llvm::ArrayRef<SubAxis> over);

struct Price {
  int64_t moving = 0;  ///< femtoseconds of bytes on their way, and of work
  int64_t waiting = 0; ///< femtoseconds of latencies
  int64_t bytes = 0;   ///< received by the fullest device

  /// The price of one message.
  static Price of(const Link &link, int64_t bytes);

  int64_t time() const { return moving + waiting; }
  bool operator==(const Price &) const = default;
  Price operator+(const Price &o) const {
    return {moving + o.moving, waiting + o.waiting, bytes + o.bytes};
  }
  Price operator-(const Price &o) const {
    return {moving - o.moving, waiting - o.waiting, bytes - o.bytes};
  }
};

/// The order of layouts: latencies decide between equals only, since collectives of a step
/// are combined later, so that a sum of latencies says little.
bool movesLess(const Price &a, const Price &b);
/// The order of single reshards: less time, or as much for fewer bytes.
bool takesLess(const Price &a, const Price &b);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDING_PRICE_H
