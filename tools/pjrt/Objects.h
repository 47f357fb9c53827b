//===- Objects.h - objects behind the pointers that JAX holds ---*- C++ -*-===//
//
// A buffer is one array on one device: its memory, and a promise that it will
// hold the value. Buffers of several devices may be results of a run that have
// one memory, as their values are equal (weft_program_holder). Work is done in the order
// of its requests: the runtime has a queue, and Dispatcher.h holds back work
// that waits for the host. Promises are kept or broken when a ticket of the
// runtime is done, or by a caller that transfers an array piece by piece
// (Transfers.cpp), fulfills an alias (Aliases.cpp) or poisons a run
// (Launches.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_OBJECTS_H
#define WEFT_TOOLS_PJRT_OBJECTS_H

#include "weft/tools/pjrt/Abi.h"
#include "weft/tools/pjrt/Blocks.h"
#include "weft/tools/pjrt/compiler/Compiler.h"
#include "weft/tools/pjrt/compiler/Report.h"
#include "weft/tools/pjrt/programs/KnownPrograms.h"
#include "weft/tools/pjrt/transfers/Dispatcher.h"
#include "weft/tools/pjrt/transfers/HostTransfers.h"
#include "weft/tools/pjrt/transfers/Launches.h"
#include "weft/tools/pjrt/transfers/MemoryOrder.h"

#include "weft/base/DeviceList.h"
#include "weft/layout/Port.h"
#include "weft/runtime/abi/weft.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct PJRT_Error {
  int code;
  std::string message;
};

/// JAX's object for an order of memory (Layouts.cpp).
struct PJRT_Layouts_MemoryLayout {
  std::string text;
};

namespace weft::pjrt {

inline PJRT_Error *error(ErrorCode code, std::string message) {
  return new PJRT_Error{code, "Weft: " + std::move(message)};
}

/// A promise: pending, kept, or broken for a reason.
class Promise {
public:
  using Callback = std::function<void(const PJRT_Error *)>;
  static std::shared_ptr<Promise> kept();
  bool isSettled() const { return settled.load(std::memory_order_acquire); }
  /// The reason why the promise was broken, or null. Requires a settled
  /// promise.
  const PJRT_Error *failure() const { return reason.get(); }
  /// Whether a run or a copy settles the promise, in order, and not the host.
  bool isWork = false;
  /// Whether a run that calls the host settles the promise, and may break it.
  bool callsHost = false;
  /// Whether work that needs the promise may be enqueued only once it is
  /// settled. Otherwise the work that settles it is earlier in the queue.
  bool holdsBack() const { return !isSettled() && (!isWork || callsHost); }
  /// Settles the promise; the first call decides, others return false.
  bool settle(const PJRT_Error *why);
  /// Calls back at once if the promise is settled, else when it is.
  void whenSettled(Callback callback);
  void wait();

private:
  std::atomic<bool> settled{false};
  std::unique_ptr<PJRT_Error> reason;
  std::mutex mutex;
  std::condition_variable change;
  std::vector<Callback> waiting;
};
using PromisePtr = std::shared_ptr<Promise>;

/// The bytes that the arrays of one device take.
struct MemoryUse {
  std::atomic<int64_t> now{0}, peak{0}, count{0}, largest{0};
  void add(int64_t bytes);
};

/// Memory of one device.
class Storage {
public:
  Storage(size_t bytes, std::shared_ptr<MemoryUse> use)
      : bytes(bytes), use(std::move(use)), pointer(takeBlock(bytes)) {
    if (pointer)
      this->use->add(static_cast<int64_t>(bytes));
  }
  /// Memory of another library, with a function that is called when it is no
  /// longer used.
  Storage(void *foreign, size_t bytes, std::function<void()> release)
      : bytes(bytes), release(std::move(release)), pointer(foreign) {}
  ~Storage() {
    if (release) {
      release();
      return;
    }
    if (pointer)
      use->now -= static_cast<int64_t>(bytes);
    giveBlock(pointer, bytes);
  }
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;
  /// Null if there was no memory.
  void *data() const { return pointer; }
  size_t size() const { return bytes; }

private:
  size_t bytes;
  std::shared_ptr<MemoryUse> use; ///< null for memory of another library
  std::function<void()> release;
  void *pointer;
};
using StoragePtr = std::shared_ptr<Storage>;

inline constexpr std::string_view kPlatformName = "weft";
/// The kinds of memory that JAX may name. CPU devices compute in the host's
/// memory, which is all of them.
inline constexpr std::string_view kMemoryKinds[] = {"device", "pinned_host",
                                                    "unpinned_host"};
inline constexpr size_t kMemoryKindCount = std::size(kMemoryKinds);
/// Parses a list of at most 4096 devices of the CPU, one for an empty text;
/// nothing, with the reason in `why`, for other texts.
Result<DeviceList> parseDevices(std::string_view text);
PJRT_DeviceDescription describeDevice(int id);

/// Makes a buffer; row-major without an order.
PJRT_Buffer *makeBuffer(BufferType type, std::vector<int64_t> dims,
                        PJRT_Memory *memory, StoragePtr storage,
                        PromisePtr ready, MemoryOrder order = {});
PJRT_Layouts_MemoryLayout describe(const MemoryOrder &order);
/// The order that a layout gives an array of a known type; an error for tiles
/// and for gaps.
PJRT_Error *readOrder(const MemoryLayout *layout, BufferType type,
                      const std::vector<int64_t> &dims, MemoryOrder &out);
/// Allocates memory for an array, with the order of its elements; an error if
/// there is no memory, the type is unknown, or from readOrder().
PJRT_Error *allocate(BufferType type, const std::vector<int64_t> &dims,
                     const MemoryLayout *layout, PJRT_Device *device,
                     StoragePtr &out, MemoryOrder &order);
/// An error unless these bytes from an offset on are within an array.
PJRT_Error *outside(int64_t offset, int64_t size, size_t bytes);

/// The relation of devices with the same tile; numbers are XLA's
/// OpSharding.Type.
enum TileHolders : int64_t { kCopies = 0, kSummands = 6 };

/// The index of a port's kind of memory in kMemoryKinds; that of the devices
/// where the program names none.
inline size_t memoryKindOf(const Port &port) {
  const auto *known = std::ranges::find(kMemoryKinds, port.facts.memory);
  return known == std::end(kMemoryKinds) ? 0 : known - std::begin(kMemoryKinds);
}

/// A sharding of XLA: the number of tiles in each dimension, and the device of
/// each tile; no tiles: replicated. Dimensions after those of the array count
/// the devices of a tile, one for each kind.
struct TileAssignment {
  std::vector<int64_t> dims, devices, holders;
};

/// The layout of a value that the script observes (Observations.h).
struct Observation {
  std::string name;
  TileAssignment tiles;
};

/// A loaded program, shared by the executables of the same bytes, or of the
/// same computation (KnownPrograms.h).
struct LoadedProgram {
  ~LoadedProgram() { weft_program_free(program); }
  weft_program *program = nullptr;
  /// Facts of the caller's memory, which the program may lack, are given.
  std::vector<Port> inputs, outputs;
  Mesh mesh;
  /// For each output and position the position whose memory it may have.
  std::vector<std::vector<int64_t>> holders;
  std::vector<Observation> observations;
  std::vector<ProgramChannel> channels; ///< without repetitions
  bool callsHost = false;               ///< it has channels, or calls Python
  std::string name, skeleton;           ///< skeleton: HloSkeleton.h
  std::vector<uint8_t> image;           ///< the bytes that were loaded
  std::string source; ///< the program from JAX, for ProgramSource::hloText()
  std::string fingerprint;                   ///< the fingerprint of the image
  std::shared_ptr<Report> report;            ///< null without WEFT_EXPLAIN
  mutable std::atomic<bool> isShort = false; ///< the last run was short
};

/// A compiled program on chosen devices (PJRT_LoadedExecutable).
struct Executable {
  std::shared_ptr<const LoadedProgram> loaded;
  PJRT_Client *client = nullptr;
  std::vector<PJRT_Device *> devices; ///< indexed by partition
  std::string assignment;
  std::string options; ///< as JAX wrote them
  std::vector<BufferType> types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks, kindSizes;
  std::vector<std::unique_ptr<PJRT_Layouts_MemoryLayout>> layouts;
  /// Lists of layouts; mutable, as PJRT's type for them has pointers to
  /// non-const.
  mutable std::vector<PJRT_Layouts_MemoryLayout *> inputLayouts, outputLayouts;
  std::vector<const char *> kinds;
  mutable std::vector<NamedValue> costs; ///< computed on request
  mutable std::mutex mutex;
};

} // namespace weft::pjrt

struct PJRT_Event {
  weft::pjrt::PromisePtr promise;
};

struct PJRT_DeviceDescription {
  int id = 0;
  std::string text;
};

struct PJRT_Memory {
  int id = 0;
  size_t kind = 0; ///< number in kMemoryKinds
  std::string text;
  PJRT_Device *device = nullptr;
};

struct PJRT_Device {
  PJRT_DeviceDescription description;
  PJRT_Memory owned[weft::pjrt::kMemoryKindCount]; ///< one of each kind
  PJRT_Memory *memories[weft::pjrt::kMemoryKindCount] = {};
  PJRT_Device *self[1] = {this};
  PJRT_Client *client = nullptr;
  std::shared_ptr<weft::pjrt::MemoryUse> use =
      std::make_shared<weft::pjrt::MemoryUse>();
};

struct PJRT_TopologyDescription {
  std::vector<PJRT_DeviceDescription *> descriptions;
  /// Descriptions of a topology without devices.
  std::vector<std::unique_ptr<PJRT_DeviceDescription>> owned;
  mutable weft::pjrt::KnownPrograms programs;
  mutable weft::pjrt::Compiler compiler;
};

struct PJRT_Client {
  std::vector<std::unique_ptr<PJRT_Device>> owned;
  std::vector<PJRT_Device *> devices;
  std::vector<PJRT_Memory *> memories;
  PJRT_TopologyDescription topology;
  weft::pjrt::Dispatcher dispatcher;
  /// Returns the runtime of all devices, made on first use, or null and the
  /// reason. Called by work that the dispatcher begins.
  weft_runtime *runtime(std::string &why);
  weft_runtime *madeRuntime = nullptr;
  bool shares = true;     ///< whether devices share memory: WEFT_SHARE
  bool hasLapack = false; ///< whether the runtime has the script's LAPACK
  weft::pjrt::TransfersInOrder transfers; ///< transfers of the enqueued runs
  std::chrono::steady_clock::time_point
      lastRunEnded; ///< set by the runs themselves
  weft::pjrt::Launches launches;
  ~PJRT_Client();
};

struct PJRT_Buffer {
  weft::pjrt::BufferType type;
  std::vector<int64_t> dims;
  PJRT_Device *device;
  PJRT_Memory *memory; ///< memory of the device
  weft::pjrt::PromisePtr ready;
  weft::pjrt::MemoryOrder order;
  std::mutex mutex;
  weft::pjrt::StoragePtr storage; ///< null: deleted or donated
  /// One object of all buffers that have this memory; null for one alone.
  std::shared_ptr<const bool> sharers;
  int externalReferences = 0;
};

namespace weft::pjrt {

/// The array's memory; null if it was deleted or donated.
inline StoragePtr storageOf(PJRT_Buffer *buffer) {
  std::lock_guard<std::mutex> guard(buffer->mutex);
  return buffer->storage;
}

inline PJRT_Error *deletedError() {
  return error(kInvalidArgument, "the array has been deleted or donated");
}

} // namespace weft::pjrt

struct PJRT_Executable {
  std::shared_ptr<const weft::pjrt::Executable> value;
};

struct PJRT_LoadedExecutable {
  std::shared_ptr<const weft::pjrt::Executable> value;
  bool isDeleted = false;
};

#endif // WEFT_TOOLS_PJRT_OBJECTS_H
