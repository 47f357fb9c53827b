//===- Moves.h - copies between devices -------------------------*- C++ -*-===//
//
// Every collective that does not reduce is a list of box copies from one
// member of a group to another; those of permute and exchange follow from
// own() of the two layouts. 7 elements from "data"=2 to replicated: member 0
// copies [0,4) to itself and to member 1, member 1 [4,7) likewise.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_MOVES_H
#define WEFT_RUNTIME_COLLECTIVES_MOVES_H

#include "weft/runtime/program/Movement.h"
#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// A copy from the one source of a member to the one target of another.
struct Move {
  int64_t source, target; ///< members of the group
  BoxCopy copy;
};

/// Copies block k of every member to its place in all: the same for all groups.
std::vector<Move> movesOf(const Collective &collective, const AllGather &its);
/// Copies block j of member i to member j: the same for all groups.
std::vector<Move> movesOf(const Collective &collective, const AllToAll &its);
/// Copies the positions that each member needs, in runs that are contiguous on
/// both sides: the same for all groups.
std::vector<Move> movesOf(const Collective &collective, const Fetch &its);
/// Copies all of member `senders[k]` to member k: the same for all
/// groups.
std::vector<Move> movesOf(const Collective &collective,
                          const CollectivePermute &its);
/// Copies the elements that each member of a group lacks, from the holders in
/// turn: the member that lacks most of a shard comes first.
Error reshardMoves(const Mesh &mesh, const Collective &collective,
                   const Resharding &its, int64_t group,
                   std::vector<Move> &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_MOVES_H
