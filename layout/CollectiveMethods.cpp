#include "weft/layout/CollectiveMethods.h"

#include "weft/layout/Sizes.h"

#include <algorithm>

using namespace weft;

static constexpr std::string_view kModes[] = {"", "nccl", "peer", "exact"};

std::optional<CollectiveMode> weft::parseCollectiveMode(std::string_view text) {
  for (size_t mode = 1; mode < std::size(kModes); ++mode)
    if (kModes[mode] == text)
      return CollectiveMode(mode);
  return std::nullopt;
}

std::string_view weft::functionName(NcclCall call) {
  static constexpr std::string_view names[] = {
      "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast"};
  return names[size_t(call)];
}

/// Whether NCCL reduces the type. Its numbers have 8, 32 or 64 bits, or are
/// floats of 16.
static bool hasReduction(ElementType type, ReduceKind kind) {
  const ElementFacts &facts = factsOf(type);
  bool isWide = facts.bits == 32 || facts.bits == 64;
  switch (facts.kind) {
  case ElementKind::Float:
    return accumulates(kind) && (isWide || facts.bits == 16);
  case ElementKind::Signed:
  case ElementKind::Unsigned:
    return (isWide || facts.bits == 8) && kind != ReduceKind::And &&
           kind != ReduceKind::Or;
  default:
    return false;
  }
}

/// Whether blocks along the dimension are adjacent in memory.
static bool isOutermost(const LocalArray &array, int64_t dim) {
  return std::all_of(array.shape.begin(), array.shape.begin() + dim,
                     [](int64_t size) { return size == 1; });
}

namespace {
struct CallFinder {
  const GroupOver &group;
  std::span<const LocalArray> sources, targets;

  int64_t members() const { return shardCount(group.digits); }

  std::optional<NcclCall> operator()(const Combination &its) const {
    for (const LocalArray &source : sources)
      if (!hasReduction(source.type, its.kind))
        return std::nullopt;
    if (!its.dim)
      return NcclCall::AllReduce;
    bool isEven = sources.size() == 1 && isOutermost(sources[0], *its.dim) &&
                  sources[0].shape[size_t(*its.dim)] % members() == 0;
    return isEven ? std::optional(NcclCall::ReduceScatter) : std::nullopt;
  }
  /// Gathers if a ring replicates what only the group's digits divide, in the
  /// order of the members.
  std::optional<NcclCall> operator()(const Movement &its) const {
    if (!its.isRing || !its.to.isReplicated() || its.from.isPartial())
      return std::nullopt;
    for (size_t dim = 0; dim < its.from.dims.size(); ++dim)
      if (const SubAxes &digits = its.from.dims[dim]; !digits.empty()) {
        bool isInOrder = normalise(group.mesh, digits) ==
                         normalise(group.mesh, group.digits);
        bool isEven = its.shape[dim] % members() == 0;
        return isInOrder && isEven && isOutermost(sources[0], int64_t(dim))
                   ? std::optional(NcclCall::AllGather)
                   : std::nullopt;
      }
    return std::nullopt;
  }
  std::optional<NcclCall> operator()(const Sending &its) const {
    bool isOfOne = std::ranges::all_of(its.senders, [&](int64_t sender) {
      return sender >= 0 && sender == its.senders[0];
    });
    return isOfOne ? std::optional(NcclCall::Broadcast) : std::nullopt;
  }
  std::optional<NcclCall> operator()(const Fetching &) const {
    return std::nullopt;
  }
  std::optional<NcclCall> operator()(const HostCall &) const {
    return std::nullopt;
  }
};
} // namespace

std::optional<NcclCall> weft::ncclCallOf(const Communication &communication,
                                         const GroupOver &group,
                                         std::span<const LocalArray> sources,
                                         std::span<const LocalArray> targets) {
  return std::visit(CallFinder{group, sources, targets}, communication);
}

CollectiveMethod weft::methodOf(CollectiveMode mode,
                                const Communication &communication,
                                const GroupOver &group,
                                std::span<const LocalArray> sources,
                                std::span<const LocalArray> targets) {
  int64_t bytes = 0;
  for (const LocalArray &source : sources)
    bytes = saturatingAdd(bytes, source.bytes());
  if (mode == CollectiveMode::Peer ||
      (mode == CollectiveMode::Usual && bytes <= kMostPeerBytes))
    return CollectiveMethod::Peer;
  if (mode == CollectiveMode::Exact)
    return CollectiveMethod::Exchange;
  return ncclCallOf(communication, group, sources, targets)
             ? CollectiveMethod::Library
             : CollectiveMethod::Exchange;
}
