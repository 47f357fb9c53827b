//===- Provider.h - moves the data of collectives ---------------*- C++ -*-===//
//
// The only interface by which code that runs devices communicates. For a group
// of two devices in this process and a collective with one operand:
//
//   std::unique_ptr<PreparedCollective> prepared;
//   provider->prepare(mesh, ownership, collective, 0, prepared);
//                                       // equals ncclCommSplit
//   void *sources[] = {a0, a1}, *targets[] = {b0, b1};
//   for (int64_t c = 0; c < prepared->chunkCount(group); ++c)
//     prepared->run(group, sources, targets, c);   // any thread, any order
//
// If members of the group are in other processes, messages come before and, for
// a large all-reduce, after:
//
//   GroupMessages *messages = prepared->messages(group);   // null: all are here
//   messages->start(sources);           // own members have arrived
//   while (!messages->poll()) ...       // from now on sources are there
//   ... the chunks, as above ...
//   if (messages->hasResults()) {
//     messages->sendResults(targets);
//     while (!messages->poll()) ...
//   }
//   messages->finish();
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PROVIDER_H
#define WEFT_RUNTIME_COLLECTIVES_PROVIDER_H

#include "weft/runtime/abi/weft.h"
#include "weft/runtime/collectives/Moves.h"
#include "weft/runtime/collectives/Pieces.h"
#include "weft/runtime/processes/Ownership.h"

#include <functional>
#include <memory>

namespace weft::runtime {

/// A slice of one of a member's sources (or targets): `box` copies it to dense
/// memory.
struct MemberSlice {
  int64_t member;
  uint32_t array;
  BoxCopy box;
};

/// The messages between a group's members here and in other processes. They are
/// exchanged once for each arrival of the members here. Only one thread at a
/// time may call it.
class GroupMessages {
public:
  virtual ~GroupMessages() = default;
  /// Sends the slices of the own `sources` that others need, and sets the
  /// addresses of others' sources: their slices are there once poll() is true.
  virtual Status start(void **sources) = 0;
  /// Returns true once all messages have been received and sent; never if the
  /// provider has a failure().
  virtual bool poll() = 0;
  /// Whether processes fill slices of each other's targets.
  virtual bool hasResults() const = 0;
  /// Sends the slices of results that were filled here, after all chunks; call
  /// poll() after it.
  virtual void sendResults(void *const *targets) = 0;
  /// Ends the occurrence.
  virtual void finish() = 0;
  /// Ends the occurrence after a failure: no memory is read or written any
  /// more.
  virtual void abandon() = 0;
};

/// A reduction in device order; the pieces of one array are adjacent.
struct ReduceTable {
  ReduceKind kind;
  std::span<const ReducePiece> pieces;
};
/// A collective on the arrays of a group as data, for devices that run it
/// themselves; nothing if only the host can run it. It is valid as long as the
/// collective.
using CollectiveTable =
    std::variant<std::monostate, std::span<const Move>, ReduceTable, PickTable>;

/// One collective instruction, ready to run any number of times.
class PreparedCollective {
public:
  virtual ~PreparedCollective() = default;
  /// The number of pieces of work, once all of the group's own devices have
  /// arrived. They are independent of each other; none may be run before all
  /// have arrived.
  virtual int64_t chunkCount(int64_t group) const = 0;
  /// Runs one piece. sources[member * number of sources + i], targets likewise.
  /// Members of other processes have no targets (null), nor have members that
  /// share an earlier member's; only those slices of
  /// their sources are read that needs() returns.
  virtual void run(int64_t group, void *const *sources, void *const *targets,
                   int64_t chunk) const = 0;
  /// The slices of any member's sources that are read to fill the targets of
  /// some members, each slice once, in an order that is the same in every
  /// process.
  virtual std::vector<MemberSlice>
  needs(int64_t group,
        const std::function<bool(int64_t member)> &isTarget) const = 0;
  /// The slices of targets that the process of some members fills for members
  /// of other processes, too, as processes divide a large all-reduce among
  /// them.
  virtual std::vector<MemberSlice>
  results(int64_t, const std::function<bool(int64_t member)> &) const {
    return {};
  }
  /// The messages of a group with members in other processes; null for other
  /// groups.
  virtual GroupMessages *messages(int64_t) const { return nullptr; }
  /// The collective as data, equal to run() of all chunks.
  virtual CollectiveTable table(int64_t) const { return {}; }
};

class CollectiveProvider {
public:
  virtual ~CollectiveProvider() = default;
  /// Prepares a collective. `firstGroup`: the number of its first group among
  /// all groups of the program, the same in every process.
  virtual Status prepare(const Mesh &mesh, const Ownership &ownership,
                         const Collective &collective, int64_t firstGroup,
                         std::unique_ptr<PreparedCollective> &out) const = 0;
  /// The reason why no more messages come from other processes; null without a
  /// failure.
  virtual Status failure() const { return {}; }
  /// Whether failure() is a deadlock: the devices of all processes wait for
  /// each other.
  virtual bool isDeadlock() const { return false; }
  /// Sets whether the devices of this process can only wait for messages;
  /// deadlocks are detected by it.
  virtual void setWaiting(bool) const {}
};

/// The function that answers the host calls of programs; none at first.
struct HostFunction {
  weft_host_fn call = nullptr;
  void *user = nullptr;
};

/// Creates a provider for devices that are all in this process, in memory that
/// every worker can address. `host` is read at each call and outlives the
/// provider. Without it, or without its function, prepare() refuses host calls.
WEFT_EXPORT std::unique_ptr<CollectiveProvider>
createInProcessProvider(const HostFunction *host = nullptr);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_PROVIDER_H
