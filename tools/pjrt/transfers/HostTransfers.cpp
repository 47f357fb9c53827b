//===- HostTransfers.cpp - runs that send to the caller and receive -------===//

#include "weft/tools/pjrt/transfers/HostTransfers.h"

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

#include "weft/runtime/abi/HostFunctions.h"

#include <cstring>
#include <optional>

using namespace weft::pjrt;

namespace {

/// Memory that a stream fills while a run waits.
struct Reception {
  std::mutex mutex;
  std::condition_variable change;
  char *to = nullptr;
  size_t total = 0, current = 0;
  std::optional<std::string> failure;
  bool isComplete() const { return current == total; }
};

} // namespace

struct PJRT_CopyToDeviceStream {
  std::shared_ptr<Reception> value;
  ~PJRT_CopyToDeviceStream() {
    std::lock_guard<std::mutex> guard(value->mutex);
    if (value->isComplete() || value->failure)
      return;
    value->failure = "its stream was given up after " +
                     std::to_string(value->current) + " of " +
                     std::to_string(value->total) + " bytes";
    value->change.notify_all();
  }
};

namespace {

std::string fromError(PJRT_Error *error) {
  std::unique_ptr<PJRT_Error> owned(error);
  return error->message;
}

PJRT_Error *callbackError(int code, const char *message, size_t size) {
  return new PJRT_Error{code, std::string(message, size)};
}

std::string send(SendCallback callback, void *user, const void *from,
                 size_t bytes) {
  Chunk chunk{std::malloc(std::max<size_t>(bytes, 1)), bytes,
              [](void *data, void *) { std::free(data); }, nullptr};
  std::memcpy(chunk.data, from, bytes);
  CallbackError toError = callbackError;
  PJRT_Error *why = callback(&chunk, &toError, bytes, /*done=*/true, user);
  return why ? fromError(why) : "";
}

std::string receive(RecvCallback callback, void *user, void *to, size_t bytes) {
  auto value = std::make_shared<Reception>();
  value->to = static_cast<char *>(to);
  value->total = bytes;
  callback(new PJRT_CopyToDeviceStream{value}, user);
  std::unique_lock<std::mutex> guard(value->mutex);
  value->change.wait(guard,
                     [&] { return value->isComplete() || value->failure; });
  return value->failure.value_or("");
}

/// Adds bytes. Returns the reason why they do not fit, or nothing. The run may
/// continue once all are there.
std::string add(Reception &value, const Chunk &chunk) {
  std::lock_guard<std::mutex> guard(value.mutex);
  if (value.failure)
    return *value.failure;
  size_t left = value.total - value.current;
  if (chunk.size > left || left == 0) {
    std::string why = "a chunk of " + std::to_string(chunk.size) +
                      " bytes was added to a stream that lacks " +
                      std::to_string(left);
    if (left > 0)
      value.failure = why;
    value.change.notify_all();
    return why;
  }
  std::memcpy(value.to + value.current, chunk.data, chunk.size);
  value.current += chunk.size;
  value.change.notify_all();
  return "";
}

PJRT_Error *addChunk(CopyToDeviceStream_AddChunk_Args *args) {
  std::string why = add(*args->stream->value, *args->chunk);
  args->chunk->deleter(args->chunk->data, args->chunk->deleter_arg);
  auto done = std::make_shared<Promise>();
  PJRT_Error failure{kInvalidArgument, "Weft: " + why};
  done->settle(why.empty() ? nullptr : &failure);
  args->transfer_complete = new PJRT_Event{done};
  return nullptr;
}

PJRT_Error *destroy(CopyToDeviceStream_Destroy_Args *args) {
  delete args->stream;
  return nullptr;
}

PJRT_Error *totalBytes(CopyToDeviceStream_TotalBytes_Args *args) {
  args->total_bytes = static_cast<int64_t>(args->stream->value->total);
  return nullptr;
}

PJRT_Error *granule(CopyToDeviceStream_GranuleSize_Args *args) {
  args->granule_size_in_bytes = 1;
  return nullptr;
}

PJRT_Error *currentBytes(CopyToDeviceStream_CurrentBytes_Args *args) {
  Reception &value = *args->stream->value;
  std::lock_guard<std::mutex> guard(value.mutex);
  args->current_bytes = static_cast<int64_t>(value.current);
  return nullptr;
}

/// The callback of a channel in the list of the first device, or null.
template <typename Info>
const Info *find(Info *const *lists, size_t count, int64_t channel) {
  for (size_t i = 0; lists && i < count; ++i)
    if (lists[0][i].channel_id == channel)
      return &lists[0][i];
  return nullptr;
}

} // namespace

PJRT_Error *HostTransfers::collect(const ExecuteOptions &options,
                                   const LoadedProgram &program) {
  for (const ProgramChannel &one : program.channels) {
    Channel &channel = channels[one.function];
    channel.bytes = one.bytes;
    bool sends = one.function < WEFT_HOST_RECEIVE;
    int64_t number =
        one.function - (sends ? WEFT_HOST_SEND : WEFT_HOST_RECEIVE);
    if (const auto *info =
            sends ? find(options.send_callbacks, options.num_send_ops, number)
                  : nullptr) {
      channel.send = info->send_callback;
      channel.user = info->user_arg;
    }
    if (const auto *info = sends ? nullptr
                                 : find(options.recv_callbacks,
                                        options.num_recv_ops, number)) {
      channel.receive = info->recv_callback;
      channel.user = info->user_arg;
    }
    if (!channel.send && !channel.receive)
      return error(kInvalidArgument,
                   std::string("the program ") +
                       (sends ? "sends" : "receives") + " on channel " +
                       std::to_string(number) +
                       ", for which the run is given no callback");
  }
  return nullptr;
}

bool HostTransfers::isWanted() const {
  std::lock_guard<std::mutex> guard(mutex);
  if (!wanted)
    wanted = !run->isSettled();
  return *wanted;
}

std::string HostTransfers::failure() const {
  std::lock_guard<std::mutex> guard(mutex);
  return failed;
}

void HostTransfers::fail(const std::string &why) const {
  std::lock_guard<std::mutex> guard(mutex);
  if (failed.empty())
    failed = why;
}

std::string HostTransfers::transfer(int64_t function, void *const *operands,
                                    void *const *results) const {
  const Channel &channel = channels.at(function);
  std::string why =
      channel.send
          ? send(channel.send, channel.user, operands[0], channel.bytes)
          : receive(channel.receive, channel.user, results[0], channel.bytes);
  return why.empty() ? why : "a transfer of the host failed: " + why;
}

void weft::pjrt::setHostTransferFunctions(Function *table) {
  set(table, kCopyToDeviceStream_Destroy, destroy);
  set(table, kCopyToDeviceStream_AddChunk, addChunk);
  set(table, kCopyToDeviceStream_TotalBytes, totalBytes);
  set(table, kCopyToDeviceStream_GranuleSize, granule);
  set(table, kCopyToDeviceStream_CurrentBytes, currentBytes);
}
