//===- Price.cpp - prices of moving tensors between devices ---------------===//

#include "weft/passes/sharding/resharding/Price.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace weft;

int64_t weft::femtoseconds(double seconds) {
  return std::llround(std::min(seconds * 1e15, 1e17));
}

Link weft::slowestLink(const Mesh &mesh, llvm::ArrayRef<SubAxis> over) {
  Link link;
  for (const SubAxis &sub : over) {
    const MeshAxis &axis = mesh.axes[sub.axis];
    link.latency = std::max(link.latency, axis.latency);
    link.bandwidth = std::min(link.bandwidth, axis.bandwidth);
  }
  return link;
}

Price Price::of(const Link &link, int64_t bytes) {
  return {femtoseconds(link.moving(bytes)), femtoseconds(link.latency), bytes};
}

bool weft::movesLess(const Price &a, const Price &b) {
  return std::tuple(a.moving, a.waiting) < std::tuple(b.moving, b.waiting);
}

bool weft::takesLess(const Price &a, const Price &b) {
  return std::tuple(a.time(), a.bytes) < std::tuple(b.time(), b.bytes);
}
