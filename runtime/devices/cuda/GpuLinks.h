//===- GpuLinks.h - how the GPUs of a set exchange data ---------*- C++ -*-===//
//
// The GPUs of a set of devices, and communicators of NCCL between them: one of
// all, which is split for each set of GPUs that a group needs. GPUs are named by
// their ranks (JointGpus.h); those of other processes have no `comm` here.
//
//   if (Status ok = links.connect({{0, 1}, {2, 3}}); !ok) return ok;
//   nccl::Comm comm = links.comm({0, 1}, 1);      // of GPU 1, which is rank 1
//
// Several processes prepare the same programs in the same order, so that they
// split communicators together.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H
#define WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H

#include "weft/layout/CollectiveMethods.h"
#include "weft/runtime/devices/cuda/JointGpus.h"
#include "weft/runtime/devices/cuda/Nccl.h"
#include "weft/runtime/program/Plan.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>

namespace weft::runtime {

class GpuLinks {
public:
  /// The ranks of GPUs, in the order of their ranks in a communicator.
  using GpuSet = std::vector<int>;

  GpuLinks(JointGpus gpus, Processes *processes)
      : gpus(std::move(gpus)), processes(processes) {}
  ~GpuLinks();
  GpuLinks(const GpuLinks &) = delete;
  GpuLinks &operator=(const GpuLinks &) = delete;

  /// Sets what collectives of programs that are prepared from now on use.
  /// Several processes refuse Peer.
  Status setMode(CollectiveMode given);
  bool isOneGpu() const { return gpus.own.size() == 1; }
  /// Whether GPUs of a set are in other processes; whether some are in this one.
  bool leavesProcess(const GpuSet &set) const;
  bool hasOwn(const GpuSet &set) const;
  /// Chooses the method of a collective for a group on these GPUs, two or more;
  /// for Peer, lets them address each other's memory. An error says what they
  /// lack.
  Status choose(const Mesh &mesh, const Collective &collective,
                const GpuSet &set, CollectiveMethod &out) const;
  /// Whether a set needs a communicator, for a method that was chosen here. With
  /// several processes the answer is the same in all of them.
  bool needsComm(const GpuSet &set, CollectiveMethod method) const {
    return set.size() > 1 && (processes || method != CollectiveMethod::Peer);
  }
  /// Makes the communicators that are not there yet.
  Status connect(const std::vector<GpuSet> &sets);
  nccl::Comm comm(const GpuSet &set, size_t rank) const {
    return comms.at(set)[rank];
  }
  const Nccl &library() const { return *nccl; }
  /// Sets the streams of this process, whose failures await() looks for.
  void watch(std::vector<const GpuStream *> all) { streams = std::move(all); }
  /// Waits for a stream or an event, whose calls of NCCL may wait for other
  /// GPUs. If a stream of this process fails, or another process, ends the
  /// communicators, so that the others end, too. Any thread may call it.
  template <typename Point> void await(const Point &point) {
    awaitWhile([&] { return point.query() == cuda::Result::NotReady; });
  }
  /// Ends all communicators, and with them the calls that wait for a failed
  /// one. The GPUs can exchange nothing by NCCL any more.
  void abort();
  /// A call of NCCL, in a scope, that may wait for other processes. No thread
  /// ends the communicators meanwhile.
  class Call {
  public:
    explicit Call(const GpuLinks &links [[clang::lifetimebound]]);
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

  private:
    std::lock_guard<std::mutex> guard;
    Processes *processes;
  };
  /// Fails if abort() was called: with the failure of another process, if that
  /// was the reason.
  Status check() const;
  /// Checks a run that is over without an error of its own GPUs: another
  /// process may have failed.
  Status checkRun() const { return processes ? check() : Status(); }

private:
  Status reach(const GpuSet &set) const;
  Status open();
  Status openAmong(std::vector<nccl::Comm> &made);
  Status split(const std::vector<GpuSet> &apart);
  bool hasFailed() const;
  void awaitWhile(const std::function<bool()> &isRunning);

  JointGpus gpus;
  Processes *processes; ///< null: this process has all GPUs
  CollectiveMode mode = CollectiveMode::Usual;
  const Nccl *nccl = nullptr;
  std::vector<nccl::Comm> all; ///< one for each GPU, once used
  /// By set and rank in it; null for GPUs of other processes.
  std::map<GpuSet, std::vector<nccl::Comm>> comms;
  std::vector<const GpuStream *> streams;
  std::atomic<bool> isOpen = false; ///< whether there are communicators
  std::atomic<bool> isAborted = false;
  /// Held while communicators are used, made and ended.
  mutable std::mutex calling;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_GPULINKS_H
