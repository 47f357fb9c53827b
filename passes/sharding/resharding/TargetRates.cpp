//===- TargetRates.cpp - what devices and links do in a second -------------===//

#include "weft/passes/sharding/resharding/TargetRates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace weft;

// CPUs: devices of one machine, which copy through its memory; the links are
// those of a mesh that states none. GPUs: NVLink 4 at four fifths of its 450
// GB/s in one direction, the latency of a small collective of NCCL, and a fourth
// of the products that an H100 can add in bf16.
static constexpr TargetRates kRates[] = {
    {"cpu", 1e-6, 1e10, 3.2e11, false},
    {"cuda", 1e-5, 3.6e11, 1e14, true},
};

const TargetRates &weft::ratesOfCpus() { return kRates[0]; }

const TargetRates *weft::ratesOf(llvm::StringRef target) {
  llvm::StringRef family = target.split(':').first;
  if (family == "native")
    return &ratesOfCpus();
  auto row = llvm::find_if(
      kRates, [&](const TargetRates &its) { return its.family == family; });
  return row == std::end(kRates) ? nullptr : row;
}

std::string weft::familiesOfRates() {
  return llvm::join(
      llvm::map_range(kRates,
                      [](const TargetRates &row) { return row.family; }),
      ", ");
}

bool weft::statesLinks(const Mesh &mesh) {
  return llvm::any_of(mesh.axes, [](const MeshAxis &axis) {
    return axis.latency != MeshAxis().latency ||
           axis.bandwidth != MeshAxis().bandwidth;
  });
}

Mesh weft::withRates(Mesh mesh, const TargetRates &rates) {
  if (statesLinks(mesh))
    return mesh;
  for (MeshAxis &axis : mesh.axes) {
    axis.latency = rates.latency;
    axis.bandwidth = rates.bandwidth;
  }
  return mesh;
}
