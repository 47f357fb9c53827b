//===- CrossProcessGroup.h - a group of several processes --------*- C++ -*-===//
//
// Every process receives the slices of other processes' sources that its own
// members need. Then it runs the collective as if all members were here, but
// fills only the targets of its own members. The results have the same bits as
// in one process. For an all-reduce of 4 bytes with members 0 and 1 in one
// process and 2 and 3 in another:
//
//   group.start(sources)     sends s0 s1; sets sources[2], sources[3] to
//                               the group's memory, which receives s2 s3
//   group.poll()             true: they are there
//   work->run(group, ...)       t0 = t1 = ((s0 + s1) + s2) + s3
//   group.sendResults(targets)   for a large all-reduce: sends the slices that
//                               this process has summed; then poll() again
//   group.finish()           gives the memory back
//
// What several processes lack of a movement of boxes goes once to one of them,
// which passes it on (layout/Relays.h): these messages follow in further hops.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_CROSSPROCESSGROUP_H
#define WEFT_RUNTIME_COLLECTIVES_CROSSPROCESSGROUP_H

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/processes/Processes.h"
#include "weft/runtime/program/Memory.h"

#include <map>

namespace weft::runtime {

/// Memory for received slices, kept from one use of the group to the next.
class ReceiveMemory {
public:
  struct Block {
    size_t bytes = 0;
    Memory memory;
  };
  /// Provides at least this many bytes; false if there is not enough memory.
  bool take(size_t bytes, Block &out);
  void giveBack(Block &&block);

private:
  std::mutex mutex;
  std::multimap<size_t, Block> unused;
};

class CrossProcessGroup final : public GroupMessages {
public:
  /// Takes the number of the group, and a message tag that no other group uses.
  CrossProcessGroup(Processes &processes [[clang::lifetimebound]],
                    ReceiveMemory &staging [[clang::lifetimebound]],
                    const Ownership &ownership, const Collective &collective,
                    int64_t group, const PreparedCollective &work, int tag);

  Status start(void **sources) override;
  bool poll() override;
  bool hasResults() const override {
    return !outResults.empty() || !inResults.empty();
  }
  void sendResults(void *const *targets) override;
  void finish() override;
  void abandon() override { processes.abandon(transfer); }

private:
  /// The messages to or from one process. Large dense slices are messages of
  /// their own (`direct`), the others are packed into one.
  struct Side {
    std::vector<MemberSlice> packed, direct;
    std::vector<uint8_t> bytes; ///< contents of the packed slices
    void add(MemberSlice slice);
    void reserve();
    void pack(void *const *arrays, size_t ofMember);
    void unpack(void *const *arrays, size_t ofMember);
    void addMessages(int peer, int tag, bool isOut, void *const *arrays,
                     size_t ofMember, std::vector<PeerMessage> &messages);
  };
  using Sides = std::map<int, Side>; ///< keyed by rank
  /// Messages that are under way together; a process passes on what it has
  /// received in an earlier hop.
  struct Hop {
    Sides in, out;
  };
  void addSlices(const std::vector<int> &ranks, const Ownership &ownership,
                 const Collective &collective, int64_t group,
                 const PreparedCollective &work);
  void addResults(const std::vector<int> &ranks, const Ownership &ownership,
                  const std::vector<int64_t> &members, int64_t group,
                  const PreparedCollective &work);
  void begin(Sides &in, Sides &out, void *const *arrays);
  void copyResults();

  Processes &processes;
  ReceiveMemory &staging;
  int tag;
  size_t sourceCount, targetCount; ///< numbers of arrays of a member
  std::vector<Hop> hops;
  size_t hop = 0; ///< the one under way
  Sides outResults, inResults;
  std::vector<int64_t> own; ///< members of this process
  /// Sources of other processes: member * sourceCount + i, and the bytes of
  /// each.
  std::vector<std::pair<size_t, size_t>> foreign;
  std::vector<ReceiveMemory::Block> blocks;
  void *const *arrays = nullptr; ///< sources, then targets
  bool areResults = false;
  /// The number of `arrays` of a member.
  size_t arrayCount() const { return areResults ? targetCount : sourceCount; }
  std::vector<PeerMessage> messages;
  Transfer transfer;
  bool isStarted = false; ///< all messages of the transfer
};

/// Creates collectives whose groups may have members in `processes`: those that
/// `local` runs, with a CrossProcessGroup for each group that crosses.
std::unique_ptr<CollectiveProvider>
createCrossProcessProvider(std::unique_ptr<CollectiveProvider> local,
                           Processes &processes);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_CROSSPROCESSGROUP_H
