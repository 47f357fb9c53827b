//===- Neighbours.h - ranks of a communicator in other processes *- C++ -*-===//
//
// What a rank of another process posts arrives by name: kind and number of the
// call, sender, and the first rank of the receiving process.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_NCCL_NEIGHBOURS_H
#define WEFT_TEST_CUDA_NCCL_NEIGHBOURS_H

#include "weft/test/cuda/nccl/Objects.h"

namespace weft::fake {

/// Ranks of a communicator that is not of this process alone.
struct Neighbours {
  std::string folder;       ///< of all communicators that were split from one
  std::string key;          ///< the key of this process in the folder
  std::vector<int> leaders; ///< indexed by rank: the first rank of its process
  int self = 0;             ///< this process's first rank
  uint64_t splits = 0, calls = 0;
  std::map<std::pair<int, int>, uint64_t> pairs; ///< messages, by both ranks
  std::set<std::pair<int, int>> connected;       ///< own rank, other rank

  bool isOwn(int rank) const { return leaders[size_t(rank)] == self; }
  /// The first ranks of the other processes.
  std::set<int> others() const;
  std::string name(const std::string &what, int from, int to) const;
  /// Sends from an own rank to every other process.
  void tellOthers(const std::string &what, int from,
                  const std::vector<uint8_t> &bytes) const;
  /// Takes what a rank of another process has told.
  bool hear(const std::string &what, int from,
            std::vector<uint8_t> &bytes) const;
};

/// Connects own ranks with others, as the first call between them does: returns
/// once these have come to a call, too. Reports those that do not.
Status connect(const Clique &clique,
               const std::vector<std::pair<int, int>> &all);

/// Joins ranks of several processes: `joins` are those of this one, by rank.
Status joinProcesses(const std::string &id, const std::map<int, Join> &joins);
/// Completes a split with the colors of ranks in other processes.
Status splitAmong(Clique &parent, const std::vector<Split> &splits);
/// The last process to leave a communicator that was not split from another
/// removes its messages.
void leave(const Clique &clique);

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_NCCL_NEIGHBOURS_H
