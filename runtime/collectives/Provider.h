//===- Provider.h - who moves the data of collectives -----------*- C++ -*-===//
//
// One interface for all ways of communicating. A provider is handed the
// devices this process owns and groups of global positions, so that MPI or
// NCCL fit behind it. In process, a group of two devices with one operand:
//
//   std::unique_ptr<PreparedCollective> prepared;
//   provider->prepare(collective, prepared);       // equals ncclCommSplit
//   void *sources[] = {a0, a1}, *targets[] = {b0, b1};
//   for (int64_t c = 0; c < prepared->chunkCount(group); ++c)
//     prepared->run(group, sources, targets, c);   // any thread, any order
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVES_PROVIDER_H
#define WEFT_RUNTIME_COLLECTIVES_PROVIDER_H

#include "weft/runtime/abi/weft.h"
#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/program/Movement.h"
#include "weft/runtime/program/Plan.h"

#include <functional>
#include <memory>

namespace weft::runtime {

/// A part of one of a member's sources (or targets): `box` copies it out, one
/// run after the other.
struct MemberPart {
  int64_t member;
  uint32_t array;
  BoxCopy box;
};

/// One collective instruction, ready to run any number of times.
class PreparedCollective {
public:
  virtual ~PreparedCollective() = default;
  /// Pieces of work once all of the group's own devices have arrived. They are
  /// independent of each other; none may be run before all have arrived.
  virtual int64_t chunkCount(int64_t group) const = 0;
  /// Runs one of them. sources[member * number of sources + i], targets
  /// likewise. Members of other processes have no targets (null); of their
  /// sources only those parts are read that needs() names.
  virtual void run(int64_t group, void *const *sources, void *const *targets,
                   int64_t chunk) const = 0;
  /// What filling the targets of some members reads of any member's sources,
  /// each byte once, in an order that is the same in every process.
  virtual std::vector<MemberPart>
  needs(int64_t group,
        const std::function<bool(int64_t member)> &isTarget) const = 0;
  /// Parts of targets that some members' process fills for those of other
  /// processes too: a large all-reduce between processes is cut among them.
  virtual std::vector<MemberPart>
  results(int64_t, const std::function<bool(int64_t member)> &) const {
    return {};
  }
  /// Bytes one device sends in one occurrence: the ring formula for standard
  /// collectives, bytes copied to others for permute and exchange.
  virtual uint64_t bytesSent(int64_t position) const = 0;
};

class CollectiveProvider {
public:
  virtual ~CollectiveProvider() = default;
  virtual Error prepare(const Mesh &mesh, const Ownership &ownership,
                        const Collective &collective,
                        std::unique_ptr<PreparedCollective> &out) const = 0;
};

/// Who answers the host_call of programs; nobody at first.
struct HostFunction {
  weft_host_fn call = nullptr;
  void *user = nullptr;
};

/// All devices in this process, in memory every worker can address. `host` is
/// asked at each call and outlives the provider; null: nobody answers.
std::unique_ptr<CollectiveProvider>
createInProcessProvider(const HostFunction *host = nullptr);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVES_PROVIDER_H
