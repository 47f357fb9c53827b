//===- Objects.h - communicators and calls of the fake NCCL -----*- C++ -*-===//
//
// Calls are collected until the outermost group ends; then each rank's calls are
// compared with those of the others in this process, so that what would wait for
// ever on GPUs is found. Calls of ranks in other processes (Neighbours.h) are
// compared when they arrive.
//
//   rank 0 of communicator 1 calls ncclAllReduce of 8 f32, sum, rank 1 calls
//   ncclAllReduce of 7 f32, sum: on GPUs they would wait for ever
//
// A call takes place once the streams of all its ranks have reached it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_NCCL_OBJECTS_H
#define WEFT_TEST_CUDA_NCCL_OBJECTS_H

#include "weft/runtime/devices/cuda/NcclAbi.h"
#include "weft/test/cuda/driver/LibraryCalls.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace weft::fake {

using nccl::Comm;
using nccl::Status;

struct Neighbours;

/// A communicator with all its ranks.
struct Clique {
  int number = 0;
  std::vector<Comm> ranks;                ///< null in other processes
  std::shared_ptr<Neighbours> neighbours; ///< null if all are in this process
  bool isApart = false; ///< a rank of another process made another call
};

enum class CallKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Send,
  Recv
};

struct Call {
  CallKind kind;
  cuda::Address from, to;
  uint64_t count;
  nccl::Type type;
  int argument; ///< the reduction, root or peer; 0 for others
  Comm comm;
  cuda::Stream stream;

  bool isBetweenTwo() const {
    return kind == CallKind::Send || kind == CallKind::Recv;
  }
  uint64_t bytes() const;
  /// "ncclAllReduce of 8 f32, sum"
  std::string text() const;
};

/// A split that waits for the end of its group.
struct Split {
  Comm parent;
  int color, key;
  Comm *out;
};
/// A rank that joins a new communicator.
struct Join {
  nccl::UniqueId id;
  int count, rank;
  Comm *out;
};

struct Library {
  static Library &get();

  std::set<Comm> comms;
  std::vector<std::unique_ptr<Clique>> cliques;
  int depth = 0; ///< the depth of open groups
  /// The failure of a call of the open group, which then does nothing.
  Status failed = Status::Success;
  std::vector<Call> calls;
  std::vector<Split> splits;
  std::vector<Join> joins;
  uint64_t ids = 0;

  /// Adds a communicator whose ranks are on these devices.
  Clique *add(const std::vector<cuda::Context> &contexts);
};

/// The result that a test's environment wants, or Success. Names of
/// FAKE_CUDA_FAIL are those of functions: ncclAllReduce:2, ncclAllReduce:2:5. A
/// failure within a group is that of the group, too.
Status begin(const char *function);
/// Whether the communicator exists; reports it if not.
bool exists(Comm comm);
/// "rank 1 of communicator 2"
std::string nameOf(Comm comm);
uint64_t bytesOf(nccl::Type type);

/// Ends the outermost group: what has been collected takes place.
Status endGroup();
/// Creates the communicators of a group.
Status finishSplits();
Status finishJoins();

/// Enqueues a collective call of all ranks in this process, in their order.
Status enqueueTogether(const std::vector<Call> &calls);
/// Enqueues the sends and receives of a group in one communicator, as NCCL
/// does, in one operation of each rank.
Status enqueuePairs(const std::vector<Call> &calls);

/// Combines arrays element by element, in an order that depends on the seed and
/// on the collective, and neither on the rank nor on the time.
std::vector<uint8_t> combine(const std::vector<std::vector<uint8_t>> &arrays,
                             const Call &call);

} // namespace weft::fake

namespace weft::nccl {

struct CommObject {
  fake::Clique *clique = nullptr;
  int rank = 0;
  cuda::Context context = nullptr; ///< the context of the rank's device
  bool isAborted = false;
};

} // namespace weft::nccl

#endif // WEFT_TEST_CUDA_NCCL_OBJECTS_H
