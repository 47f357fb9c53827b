//===- TargetRates.h - what devices and links do in a second ----*- C++ -*-===//
//
// Layouts are chosen by time: of bytes over links, and of work that is repeated
// instead of moving bytes. A mesh may state its links; where it does not, the
// target's row of one table does:
//
//   ratesOf("cuda:sm_90a")->bandwidth     3.6e11 bytes a second
//   withRates(mesh, *rates)               the mesh with these links
//
// Propagation alone compares movements with work; the passes after it compare
// them with each other, by the links of the mesh.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_RESHARDING_TARGETRATES_H
#define WEFT_PASSES_SHARDING_RESHARDING_TARGETRATES_H

#include "weft/layout/Layout.h"

#include <string>

namespace weft {

struct TargetRates {
  llvm::StringRef family; ///< the target's name up to ':'
  double latency;         ///< seconds for one message
  double bandwidth;       ///< bytes a second over one link
  double iterations;      ///< a second, of an op's loops on a device
  /// Whether a device computes while these links carry its bytes. CPU devices
  /// of one machine copy them with the cores that compute.
  bool isBesideWork;
};

/// The row of a target; null if its family is unknown.
const TargetRates *ratesOf(llvm::StringRef target);
/// The row of CPUs.
const TargetRates &ratesOfCpus();
/// The families of the table: "cpu, cuda".
std::string familiesOfRates();

/// Whether an axis of the mesh has links of its own: a network.
bool statesLinks(const Mesh &mesh);

/// The mesh with the target's links, or as it is if one of its axes has links
/// of its own.
Mesh withRates(Mesh mesh, const TargetRates &rates);

} // namespace weft

#endif // WEFT_PASSES_SHARDING_RESHARDING_TARGETRATES_H
