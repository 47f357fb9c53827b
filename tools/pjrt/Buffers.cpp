//===- Buffers.cpp - arrays on devices ------------------------------------===//

#include "weft/tools/pjrt/ElementTypes.h"
#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/transfers/Tickets.h"

using namespace weft::pjrt;

namespace {

/// Makes an array from one of the host, which is copied before the call
/// returns.
PJRT_Error *fromHost(Client_BufferFromHostBuffer_Args *args) {
  std::vector<int64_t> dims(args->dims, args->dims + args->num_dims);
  PJRT_Memory *memory = args->memory ? args->memory : args->device->memories[0];
  StoragePtr storage;
  MemoryOrder order;
  if (PJRT_Error *why = allocate(args->type, dims, args->device_layout,
                                 memory->device, storage, order))
    return why;
  size_t element = elementType(args->type)->bytes();
  std::vector<int64_t> strides =
      args->num_byte_strides
          ? std::vector(args->byte_strides,
                        args->byte_strides + args->num_byte_strides)
          : byteStrides(dims, rowMajor(dims.size()), element);
  copyArray(storage->data(), order, args->data, strides.data(), dims, element);
  args->buffer =
      makeBuffer(args->type, std::move(dims), memory, std::move(storage),
                 Promise::kept(), std::move(order));
  args->done_with_host_buffer = new PJRT_Event{Promise::kept()};
  return nullptr;
}

PJRT_Error *destroy(Buffer_Destroy_Args *args) {
  delete args->buffer;
  return nullptr;
}

PJRT_Error *typeOf(Buffer_ElementType_Args *args) {
  args->type = args->buffer->type;
  return nullptr;
}

template <typename Args> PJRT_Error *dimensions(Args *args) {
  args->dims = args->buffer->dims.data();
  args->num_dims = args->buffer->dims.size();
  return nullptr;
}

PJRT_Error *dynamicDimensions(Buffer_DynamicDimensionIndices_Args *args) {
  args->indices = nullptr;
  args->count = 0;
  return nullptr;
}

PJRT_Error *memoryLayout(Buffer_GetMemoryLayout_Args *args) {
  args->layout = {};
  args->layout.struct_size = sizeof(MemoryLayout);
  args->layout.type = kTiled;
  args->layout.tiled = {sizeof(TiledLayout),
                        nullptr,
                        args->buffer->order.data(),
                        args->buffer->order.size(),
                        nullptr,
                        nullptr,
                        0};
  return nullptr;
}

PJRT_Error *size(Buffer_OnDeviceSizeInBytes_Args *args) {
  StoragePtr storage = storageOf(args->buffer);
  args->bytes = storage ? storage->size() : 0;
  return nullptr;
}

PJRT_Error *deviceOf(Buffer_Device_Args *args) {
  args->device = args->buffer->device;
  return nullptr;
}

PJRT_Error *memoryOf(Buffer_Memory_Args *args) {
  args->memory = args->buffer->memory;
  return nullptr;
}

PJRT_Error *deleteMemory(Buffer_Delete_Args *args) {
  std::lock_guard<std::mutex> guard(args->buffer->mutex);
  args->buffer->storage = nullptr;
  args->buffer->sharers = nullptr;
  return nullptr;
}

PJRT_Error *isDeleted(Buffer_IsDeleted_Args *args) {
  args->is_deleted = !storageOf(args->buffer);
  return nullptr;
}

/// A copy of one array to another device.
struct DeviceCopy {
  StoragePtr from, to;
  PromisePtr ready, done; ///< promises of `from` and `to`
  int64_t fromDevice, toDevice;

  void begin(PJRT_Client &client) const {
    if (ready->isSettled() && ready->failure()) {
      done->settle(ready->failure());
      return;
    }
    weft_ticket *ticket = nullptr;
    std::string why;
    if (weft_runtime *runtime = client.runtime(why))
      why = takeMessage(weft_device_copy(runtime, toDevice, to->data(),
                                         fromDevice, from->data(), from->size(),
                                         &ticket));
    if (!why.empty()) {
      end(why);
      return;
    }
    whenDone(ticket, [copy = *this](const std::string &why) { copy.end(why); });
  }
  /// Ends the copy. `ready` is settled, as its work was enqueued earlier.
  void end(const std::string &why) const {
    PJRT_Error failure{kInternal, "Weft: " + why};
    done->settle(why.empty() ? ready->failure() : &failure);
  }
};

/// Copies in the order of all other work, as later requests may write to the
/// array.
PJRT_Buffer *copy(PJRT_Buffer *buffer, const StoragePtr &from,
                  PJRT_Memory *memory) {
  PJRT_Device *device = memory->device;
  auto to = std::make_shared<Storage>(from->size(), device->use);
  auto done = std::make_shared<Promise>();
  done->isWork = true;
  Dispatcher::Promises needed;
  if (buffer->ready->holdsBack())
    needed.push_back(buffer->ready);
  DeviceCopy copy{from,
                  to,
                  buffer->ready,
                  done,
                  buffer->device->description.id,
                  device->description.id};
  PJRT_Client *client = device->client;
  client->dispatcher.add(std::move(needed), [copy = std::move(copy), client] {
    copy.begin(*client);
  });
  return makeBuffer(buffer->type, buffer->dims, memory, to, done,
                    buffer->order);
}

PJRT_Error *copyToDevice(Buffer_CopyToDevice_Args *args) {
  StoragePtr from = storageOf(args->buffer);
  if (!from)
    return deletedError();
  args->copy = copy(args->buffer, from, args->device->memories[0]);
  return nullptr;
}

PJRT_Error *copyToMemory(Buffer_CopyToMemory_Args *args) {
  StoragePtr from = storageOf(args->buffer);
  if (!from)
    return deletedError();
  args->copy = copy(args->buffer, from, args->memory);
  return nullptr;
}

PJRT_Error *toHost(Buffer_ToHostBuffer_Args *args) {
  StoragePtr from = storageOf(args->buffer);
  if (!from)
    return deletedError();
  if (!args->data) {
    args->size = from->size();
    return nullptr;
  }
  PJRT_Buffer &buffer = *args->buffer;
  MemoryOrder order = buffer.order; // unless the caller gives a layout
  if (args->host_layout)
    if (PJRT_Error *why =
            readOrder(args->host_layout, buffer.type, buffer.dims, order))
      return why;
  if (args->size < from->size())
    return error(kInvalidArgument,
                 "an array of " + std::to_string(from->size()) +
                     " bytes does not fit into " + std::to_string(args->size));
  auto done = std::make_shared<Promise>();
  args->event = new PJRT_Event{done};
  size_t element = elementType(buffer.type)->bytes();
  buffer.ready->whenSettled(
      [from, done, to = args->data, order, element, dims = buffer.dims,
       strides = byteStrides(buffer.dims, buffer.order, element)](
          const PJRT_Error *why) {
        if (!why)
          copyArray(to, order, from->data(), strides.data(), dims, element);
        done->settle(why);
      });
  return nullptr;
}

/// Returns false, as JAX would read the memory of a CPU's array without waiting
/// for it.
PJRT_Error *isOnCpu(Buffer_IsOnCpu_Args *args) {
  args->is_on_cpu = false;
  return nullptr;
}

PJRT_Error *readyEvent(Buffer_ReadyEvent_Args *args) {
  args->event = new PJRT_Event{args->buffer->ready};
  return nullptr;
}

PJRT_Error *unsafePointer(Buffer_UnsafePointer_Args *args) {
  StoragePtr storage = storageOf(args->buffer);
  if (!storage)
    return deletedError();
  args->pointer = reinterpret_cast<uintptr_t>(storage->data());
  return nullptr;
}

PJRT_Error *opaquePointer(Buffer_OpaqueDeviceMemoryDataPointer_Args *args) {
  StoragePtr storage = storageOf(args->buffer);
  if (!storage)
    return deletedError();
  args->pointer = storage->data();
  return nullptr;
}

template <int step, typename Args> PJRT_Error *refer(Args *args) {
  std::lock_guard<std::mutex> guard(args->buffer->mutex);
  args->buffer->externalReferences += step;
  return nullptr;
}

} // namespace

PJRT_Error *weft::pjrt::readOrder(const MemoryLayout *layout, BufferType type,
                                  const std::vector<int64_t> &dims,
                                  MemoryOrder &out) {
  auto order = orderOf(layout, dims, elementType(type)->bytes());
  if (!order)
    return error(kUnimplemented,
                 "an array in tiles or with gaps is not supported; give an "
                 "order of its " +
                     std::to_string(dims.size()) + " dimensions");
  out = std::move(*order);
  return nullptr;
}

PJRT_Buffer *weft::pjrt::makeBuffer(BufferType type, std::vector<int64_t> dims,
                                    PJRT_Memory *memory, StoragePtr storage,
                                    PromisePtr ready, MemoryOrder order) {
  auto *buffer = new PJRT_Buffer{};
  buffer->type = type;
  buffer->dims = std::move(dims);
  buffer->device = memory->device;
  buffer->memory = memory;
  buffer->storage = std::move(storage);
  buffer->ready = std::move(ready);
  buffer->order =
      order.empty() ? rowMajor(buffer->dims.size()) : std::move(order);
  return buffer;
}

PJRT_Error *weft::pjrt::allocate(BufferType type,
                                 const std::vector<int64_t> &dims,
                                 const MemoryLayout *layout,
                                 PJRT_Device *device, StoragePtr &out,
                                 MemoryOrder &order) {
  const ElementFacts *element = elementType(type);
  if (!element)
    return error(kUnimplemented,
                 "arrays of element type number " + std::to_string(type) +
                     " are not supported; known are " + elementTypeNames());
  size_t bytes = element->bytes();
  for (int64_t size : dims)
    bytes *= static_cast<size_t>(size);
  out = std::make_shared<Storage>(bytes, device->use);
  if (!out->data())
    return error(kResourceExhausted, "no memory for an array of " +
                                         std::to_string(bytes) + " bytes");
  return readOrder(layout, type, dims, order);
}

void MemoryUse::add(int64_t bytes) {
  auto raise = [](std::atomic<int64_t> &most, int64_t value) {
    int64_t seen = most;
    while (seen < value && !most.compare_exchange_weak(seen, value)) {
    }
  };
  raise(peak, now += bytes);
  raise(largest, bytes);
  ++count;
}

void weft::pjrt::setBufferFunctions(Function *table) {
  set(table, kClient_BufferFromHostBuffer, fromHost);
  set(table, kBuffer_Destroy, destroy);
  set(table, kBuffer_ElementType, typeOf);
  set(table, kBuffer_Dimensions, dimensions<Buffer_Dimensions_Args>);
  set(table, kBuffer_UnpaddedDimensions,
      dimensions<Buffer_UnpaddedDimensions_Args>);
  set(table, kBuffer_DynamicDimensionIndices, dynamicDimensions);
  set(table, kBuffer_GetMemoryLayout, memoryLayout);
  set(table, kBuffer_OnDeviceSizeInBytes, size);
  set(table, kBuffer_Device, deviceOf);
  set(table, kBuffer_Memory, memoryOf);
  set(table, kBuffer_Delete, deleteMemory);
  set(table, kBuffer_IsDeleted, isDeleted);
  set(table, kBuffer_CopyToDevice, copyToDevice);
  set(table, kBuffer_CopyToMemory, copyToMemory);
  set(table, kBuffer_ToHostBuffer, toHost);
  set(table, kBuffer_IsOnCpu, isOnCpu);
  set(table, kBuffer_ReadyEvent, readyEvent);
  set(table, kBuffer_UnsafePointer, unsafePointer);
  set(table, kBuffer_OpaqueDeviceMemoryDataPointer, opaquePointer);
  set(table, kBuffer_IncreaseExternalReferenceCount,
      refer<1, Buffer_IncreaseExternalReferenceCount_Args>);
  set(table, kBuffer_DecreaseExternalReferenceCount,
      refer<-1, Buffer_DecreaseExternalReferenceCount_Args>);
}
