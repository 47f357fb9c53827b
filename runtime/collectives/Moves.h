//===- Moves.h - copies between devices -------------------------*- C++ -*-===//
//
// A collective that neither combines, depends on values nor calls the host is a
// list of box copies from one member of a group to another; the copies of a
// movement follow from own() of the two layouts. To replicate 7 elements that
// "data"=2 splits, member 0 copies [0,4) to itself and to member 1, and member
// 1 copies [4,7) likewise.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_MOVES_H
#define WEFT_RUNTIME_COLLECTIVES_MOVES_H

#include "weft/runtime/program/Movement.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// A copy from a source of a member to the only target of a member.
struct Move {
  int64_t source, target; ///< members of the group
  BoxCopy copy;
  uint32_t array = 0; ///< the source's number
};

/// Copies the positions that each member needs, in runs of positions that
/// adjoin on both sides: the same for all groups.
std::vector<Move> movesOf(const Collective &collective,
                          const FetchedPositions &positions, int64_t dim);
/// Copies all of member `senders[k]` to member k, nothing for -1: the same for
/// all groups.
std::vector<Move> movesOf(const Collective &collective, const Sending &its);
/// Copies the elements that each member of a group gets, its own copies
/// included. The holders of a shard serve the members without it in turn, the
/// one that needs most of the shard first. Fails if the group lacks an element.
Status movesOf(const Mesh &mesh, const Collective &collective,
               const Movement &its, int64_t group, std::vector<Move> &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_MOVES_H
