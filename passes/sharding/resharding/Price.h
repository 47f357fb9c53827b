//===- Price.h - prices of moving tensors between devices -------*- C++ -*-===//
//
// 192 bytes over "data" with 10 GB/s and a latency of 1 us are in flight for
// 19.2 ns: {19200000, 1000000000, 192}. The planner of reshards, the
// propagation of layouts and the passes that move reshards all use such prices.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_PRICE_H
#define WEFT_PASSES_SHARDING_RESHARDING_PRICE_H

#include "weft/layout/Layout.h"

#include <limits>

namespace weft {

/// Converts seconds (at most 100) to integers, whose sums do not depend on
/// their order.
int64_t femtoseconds(double seconds);

/// The link of a message. Messages over several axes are in flight together:
/// they take the time of the slowest.
struct Link {
  double latency = 0; ///< seconds for one message
  double bandwidth = std::numeric_limits<double>::infinity(); ///< bytes/second

  double moving(int64_t bytes) const { return double(bytes) / bandwidth; }
};
Link slowestLink(const Mesh &mesh, llvm::ArrayRef<SubAxis> over);

struct Price {
  int64_t moving = 0;  ///< femtoseconds of bytes in flight, and of work
  int64_t waiting = 0; ///< femtoseconds of latencies
  int64_t bytes = 0;   ///< moved by the busiest device

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

/// The order of prices of layouts. Latencies only break ties: collectives of a
/// step are combined later, so a sum of latencies means little.
bool movesLess(const Price &a, const Price &b);
/// The order of prices of single reshards: by time, then by bytes.
bool takesLess(const Price &a, const Price &b);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDING_PRICE_H
