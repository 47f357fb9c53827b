//===- Aliases.cpp - arrays with shared memory or a later value -----------===//
//
//   CreateViewOfDeviceBuffer      memory of another library, which is told when
//                                 the last user is done with it
//   CreateAliasBuffer             an array whose value comes later,
//   FulfillAliasBuffer            from another array: copied when that is ready
//   DonateWithControlDependency   the array's memory under a new name, ready
//                                 once the caller's work on it is done, too
//
// Runs wait for their arguments in the order of their requests, so an alias
// must not be fulfilled by the result of a run that was requested after one
// that waits for the alias: that is refused, see `fulfill`.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/ElementTypes.h"
#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

#include <cstring>

using namespace weft::pjrt;

struct PJRT_FulfillAliasBufferCallback {
  StoragePtr storage;
  PromisePtr ready;
  BufferType type;
  std::vector<int64_t> dims;
  MemoryOrder order;
};
struct PJRT_ExecuteContext {};
struct PJRT_AsyncTrackingEvent {
  std::string description;
};

namespace {

constexpr uintptr_t kAlignment = 64; // alignment of memory that kernels use

PJRT_Error *view(Client_CreateViewOfDeviceBuffer_Args *args) {
  const weft::ElementFacts *element = elementType(args->type);
  if (!element)
    return error(kUnimplemented, "a view of elements of type number " +
                                     std::to_string(args->type) +
                                     " is not supported");
  if (args->stream)
    return error(kUnimplemented, "a view that waits for a stream is not "
                                 "supported; CPU devices have none");
  auto address = reinterpret_cast<uintptr_t>(args->device_buffer_ptr);
  if (address % kAlignment)
    return error(kInvalidArgument,
                 "a view of memory that is aligned to " +
                     std::to_string(address & -address) + " bytes needs " +
                     std::to_string(kAlignment) + "; copy it");
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  PJRT_Memory *memory = args->struct_size >= sizeof *args && args->memory
                            ? args->memory
                            : args->device->memories[0];
  size_t bytes = element->bytes();
  for (int64_t size : dims)
    bytes *= static_cast<size_t>(size);
  auto release = [done = args->on_delete_callback,
                  pointer = args->device_buffer_ptr,
                  user = args->on_delete_callback_arg] {
    if (done)
      done(pointer, user);
  };
  MemoryOrder order;
  if (PJRT_Error *why = readOrder(args->layout, args->type, dims, order))
    return why;
  args->buffer = makeBuffer(
      args->type, std::move(dims), memory,
      std::make_shared<Storage>(args->device_buffer_ptr, bytes, release),
      Promise::kept(), std::move(order));
  return nullptr;
}

PJRT_Error *createAlias(Client_CreateAliasBuffer_Args *args) {
  std::vector<int64_t> dims(args->shape_dims,
                            args->shape_dims + args->shape_num_dims);
  StoragePtr storage;
  MemoryOrder order;
  if (PJRT_Error *why =
          allocate(args->shape_element_type, dims, args->shape_layout,
                   args->memory->device, storage, order))
    return why;
  auto ready = std::make_shared<Promise>();
  args->fulfill_alias_buffer_cb = new PJRT_FulfillAliasBufferCallback{
      storage, ready, args->shape_element_type, dims, order};
  args->alias_buffer =
      makeBuffer(args->shape_element_type, std::move(dims), args->memory,
                 storage, ready, std::move(order));
  return nullptr;
}

/// The reason why the array cannot fulfill the alias, which gets the error,
/// too.
PJRT_Error *unfit(const PJRT_FulfillAliasBufferCallback &alias,
                  PJRT_Buffer *buffer, const StoragePtr &from) {
  if (!from)
    return deletedError();
  if (buffer->type != alias.type || buffer->dims != alias.dims)
    return error(kInvalidArgument,
                 "the array that fulfils an alias has not its shape");
  // A third owner, besides the buffer and the callback, is a waiting run.
  if (alias.storage.use_count() > 2 && buffer->ready->isWork &&
      !buffer->ready->isSettled())
    return error(kFailedPrecondition,
                 "an alias that runs wait for is fulfilled by the result of a "
                 "run that has not "
                 "ended, which may be behind them; wait for it first");
  return nullptr;
}

PJRT_Error *fulfill(Client_FulfillAliasBuffer_Args *args) {
  std::unique_ptr<PJRT_FulfillAliasBufferCallback> alias(
      args->fulfill_alias_buffer_cb);
  if (args->status_code) {
    PJRT_Error said{args->status_code,
                    std::string(args->error_message, args->error_message_size)};
    alias->ready->settle(&said);
    return nullptr;
  }
  StoragePtr from = storageOf(args->buffer);
  if (PJRT_Error *why = unfit(*alias, args->buffer, from)) {
    alias->ready->settle(why);
    return why;
  }
  size_t element = elementType(alias->type)->bytes();
  args->buffer->ready->whenSettled(
      [from, element, to = alias->storage, ready = alias->ready,
       dims = alias->dims, order = alias->order,
       strides = byteStrides(alias->dims, args->buffer->order, element)](
          const PJRT_Error *why) {
        if (!why)
          copyArray(to->data(), order, from->data(), strides.data(), dims,
                    element);
        ready->settle(why);
      });
  return nullptr;
}

PJRT_Error *donate(Buffer_DonateWithControlDependency_Args *args) {
  std::lock_guard<std::mutex> guard(args->buffer->mutex);
  if (!args->buffer->storage)
    return deletedError();
  if (args->buffer->externalReferences > 0)
    return error(kFailedPrecondition,
                 "an array that others refer to cannot be donated");
  auto ready = std::make_shared<Promise>();
  args->callback_data = new std::pair(args->buffer->ready, ready);
  args->dependency_ready_callback = [](DependencyReady *said) {
    auto *both =
        static_cast<std::pair<PromisePtr, PromisePtr> *>(said->callback_data);
    PJRT_Error failure{said->error_code,
                       said->error_code ? std::string(said->error_message,
                                                      said->error_message_size)
                                        : ""};
    both->first->whenSettled(
        [failure, ready = both->second](const PJRT_Error *why) {
          ready->settle(why ? why : failure.code ? &failure : nullptr);
        });
    delete both;
  };
  args->out_buffer =
      makeBuffer(args->buffer->type, args->buffer->dims, args->buffer->memory,
                 std::move(args->buffer->storage), ready, args->buffer->order);
  args->buffer->storage = nullptr;
  return nullptr;
}

/// Creates an empty context: no extension gives it data.
PJRT_Error *createContext(ExecuteContext_Create_Args *args) {
  args->context = new PJRT_ExecuteContext;
  return nullptr;
}
PJRT_Error *destroyContext(ExecuteContext_Destroy_Args *args) {
  delete args->context;
  return nullptr;
}

/// Creates an event for a profiler's display.
PJRT_Error *createTracking(Device_CreateAsyncTrackingEvent_Args *args) {
  args->event = new PJRT_AsyncTrackingEvent{
      std::string(args->description, args->description_size)};
  return nullptr;
}
PJRT_Error *destroyTracking(AsyncTrackingEvent_Destroy_Args *args) {
  delete args->event;
  return nullptr;
}

} // namespace

void weft::pjrt::setAliasFunctions(Function *table) {
  set(table, kClient_CreateViewOfDeviceBuffer, view);
  set(table, kClient_CreateAliasBuffer, createAlias);
  set(table, kClient_FulfillAliasBuffer, fulfill);
  set(table, kBuffer_DonateWithControlDependency, donate);
  set(table, kExecuteContext_Create, createContext);
  set(table, kExecuteContext_Destroy, destroyContext);
  set(table, kDevice_CreateAsyncTrackingEvent, createTracking);
  set(table, kAsyncTrackingEvent_Destroy, destroyTracking);
}
