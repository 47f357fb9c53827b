//===- CollectiveMethods.h - how GPUs carry out a communication -*- C++ -*-===//
//
// A group whose devices are on several GPUs communicates in one of three ways:
//
//   Peer      a kernel on each GPU reads and writes the memory of all, in the
//             order of the devices
//   Library   a call of NCCL computes it: sums are added in NCCL's order
//   Exchange  GPUs send each other what they lack, by NCCL; then the kernel of
//             `Peer` runs on received copies: the same bits
//
// The compiler's reports and the runtime choose by the same rules. With a
// device a GPU, over 8 GPUs, sums of f32:
//
//                               nccl      exact     peer   by default
//   all_reduce of 1 MiB         Library   Exchange  Peer   Library
//   all_reduce of 1 KiB         Library   Exchange  Peer   Peer
//   all_reduce max of 1 MiB     Exchange  Exchange  Peer   Exchange
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_COLLECTIVEMETHODS_H
#define WEFT_LAYOUT_COLLECTIVEMETHODS_H

#include "weft/layout/Communication.h"

namespace weft {

enum class CollectiveMethod : uint8_t { Peer, Library, Exchange };

/// What --collectives asks for; `Usual` without it.
enum class CollectiveMode : uint8_t { Usual, Nccl, Peer, Exact };
/// Parses nccl, peer or exact.
std::optional<CollectiveMode> parseCollectiveMode(std::string_view text);

/// The call of NCCL that does the same as a communication.
enum class NcclCall : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast
};
/// The call's name: "ncclAllReduce".
std::string_view functionName(NcclCall call);

/// The call that equals a communication, on dense arrays of equal sizes; none
/// if elements must be packed, or the library lacks the type or reduction. A
/// maximum or minimum of floats is not the library's, which may drop NaN.
std::optional<NcclCall> ncclCallOf(const Communication &communication,
                                   const GroupOver &group,
                                   std::span<const LocalArray> sources,
                                   std::span<const LocalArray> targets);

/// The most bytes of a device's sources for which the default takes `Peer`: one
/// launch on each GPU, where a call of NCCL takes several steps. Not measured
/// on several GPUs yet.
constexpr int64_t kMostPeerBytes = 512 << 10;

/// The method of a mode, for a group with its devices on several GPUs that
/// address each other's memory.
CollectiveMethod methodOf(CollectiveMode mode,
                          const Communication &communication,
                          const GroupOver &group,
                          std::span<const LocalArray> sources,
                          std::span<const LocalArray> targets);

} // namespace weft

#endif // WEFT_LAYOUT_COLLECTIVEMETHODS_H
