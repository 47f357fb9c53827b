//===- Transfers.cpp - arrays that come and go piece by piece -------------===//
//
// A transfer manager makes arrays of one device at once and receives their
// bytes later:
//
//   CreateBuffersForAsyncHostToDevice   two arrays, not ready
//   TransferData 0, bytes 0 to 99       copied before the call returns
//   TransferData 0, the rest, last      array 0 is ready
//   SetBufferError 1                    array 1 is broken, and all results of it
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/ElementTypes.h"
#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

#include <cstring>

using namespace weft::pjrt;

namespace {
struct PendingArray {
  BufferType type;
  std::vector<int64_t> dims;
  StoragePtr storage;
  PromisePtr ready;
  MemoryOrder order;
};
} // namespace

struct PJRT_AsyncHostToDeviceTransferManager {
  PJRT_Memory *memory;
  std::vector<PendingArray> arrays;
  /// Fails pending arrays, so that no work waits for a destroyed manager.
  ~PJRT_AsyncHostToDeviceTransferManager() {
    PJRT_Error never{kFailedPrecondition,
                     "Weft: the array's transfer was given up"};
    for (PendingArray &array : arrays)
      if (!array.ready->isSettled())
        array.ready->settle(&never);
  }
};

namespace {

using Manager = PJRT_AsyncHostToDeviceTransferManager;

PJRT_Error *begin(Client_CreateBuffersForAsyncHostToDevice_Args *args) {
  auto manager = std::make_unique<Manager>();
  manager->memory = args->memory;
  for (size_t i = 0; i < args->num_shape_specs; ++i) {
    const ShapeSpec &spec = args->shape_specs[i];
    PendingArray array{spec.type,
                       {spec.dims, spec.dims + spec.num_dims},
                       nullptr,
                       std::make_shared<Promise>(),
                       {}};
    const MemoryLayout *layout =
        i < args->num_device_layouts ? args->device_layouts[i] : nullptr;
    if (PJRT_Error *why =
            allocate(array.type, array.dims, layout, args->memory->device,
                     array.storage, array.order))
      return why;
    manager->arrays.push_back(std::move(array));
  }
  args->transfer_manager = manager.release();
  return nullptr;
}

/// The array of a number; null, and an error, if there is none.
template <typename Args> PendingArray *arrayOf(Args *args, PJRT_Error *&why) {
  std::vector<PendingArray> &arrays = args->transfer_manager->arrays;
  if (args->buffer_index >= 0 &&
      static_cast<size_t>(args->buffer_index) < arrays.size())
    return &arrays[args->buffer_index];
  why = error(kInvalidArgument, "there is no array " +
                                    std::to_string(args->buffer_index) +
                                    " of " + std::to_string(arrays.size()));
  return nullptr;
}

PJRT_Error *give(PendingArray &array, const void *data, int64_t offset,
                 int64_t size, bool isLast, PJRT_Event *&done) {
  if (PJRT_Error *why = outside(offset, size, array.storage->size()))
    return why;
  if (array.ready->isSettled())
    return error(kFailedPrecondition, "the array has all its bytes already");
  if (size)
    std::memcpy(static_cast<char *>(array.storage->data()) + offset, data,
                size);
  if (isLast)
    array.ready->settle(nullptr);
  done = new PJRT_Event{Promise::kept()};
  return nullptr;
}

PJRT_Error *transfer(AsyncHostToDeviceTransferManager_TransferData_Args *args) {
  PJRT_Error *why = nullptr;
  PendingArray *array = arrayOf(args, why);
  return array ? give(*array, args->data, args->offset, args->transfer_size,
                      args->is_last_transfer, args->done_with_h2d_transfer)
               : why;
}

PJRT_Error *
transferLiteral(AsyncHostToDeviceTransferManager_TransferLiteral_Args *args) {
  PJRT_Error *why = nullptr;
  PendingArray *array = arrayOf(args, why);
  if (!array)
    return why;
  if (args->shape_element_type != array->type ||
      args->shape_num_dims != array->dims.size() ||
      !std::equal(array->dims.begin(), array->dims.end(), args->shape_dims))
    return error(kInvalidArgument, "the value has not the array's shape");
  MemoryOrder order;
  if (PJRT_Error *why =
          readOrder(args->shape_layout, array->type, array->dims, order))
    return why;
  size_t element = elementType(array->type)->bytes();
  std::vector<char> value(array->storage->size());
  copyArray(value.data(), array->order, args->data,
            byteStrides(array->dims, order, element).data(), array->dims,
            element);
  return give(*array, value.data(), 0, static_cast<int64_t>(value.size()),
              /*isLast=*/true, args->done_with_h2d_transfer);
}

PJRT_Error *
retrieve(AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args) {
  PJRT_Error *why = nullptr;
  PendingArray *array = arrayOf(args, why);
  if (!array)
    return why;
  args->buffer_out =
      makeBuffer(array->type, array->dims, args->transfer_manager->memory,
                 array->storage, array->ready, array->order);
  return nullptr;
}

PJRT_Error *
breakArray(AsyncHostToDeviceTransferManager_SetBufferError_Args *args) {
  PJRT_Error *why = nullptr;
  PendingArray *array = arrayOf(args, why);
  if (!array)
    return why;
  PJRT_Error said{args->error_code,
                  std::string(args->error_message, args->error_message_size)};
  if (!array->ready->isSettled())
    array->ready->settle(&said);
  return nullptr;
}

PJRT_Error *bufferSize(AsyncHostToDeviceTransferManager_BufferSize_Args *args) {
  PJRT_Error *why = nullptr;
  PendingArray *array = arrayOf(args, why);
  if (array)
    args->buffer_size = array->storage->size();
  return why;
}

PJRT_Error *countOf(AsyncHostToDeviceTransferManager_BufferCount_Args *args) {
  args->buffer_count = args->transfer_manager->arrays.size();
  return nullptr;
}

PJRT_Error *deviceOf(AsyncHostToDeviceTransferManager_Device_Args *args) {
  args->device_out = args->transfer_manager->memory->device;
  return nullptr;
}

PJRT_Error *end(AsyncHostToDeviceTransferManager_Destroy_Args *args) {
  delete args->transfer_manager;
  return nullptr;
}

/// Does nothing: such calls have no effect if devices share the host's memory.
template <typename Args> PJRT_Error *nothing(Args *) { return nullptr; }

PJRT_Error *uninitialized(Client_CreateUninitializedBuffer_Args *args) {
  std::vector<int64_t> dims(args->shape_dims,
                            args->shape_dims + args->shape_num_dims);
  PJRT_Memory *memory = args->memory ? args->memory : args->device->memories[0];
  StoragePtr storage;
  MemoryOrder order;
  if (PJRT_Error *why =
          allocate(args->shape_element_type, dims, args->shape_layout,
                   memory->device, storage, order))
    return why;
  args->buffer =
      makeBuffer(args->shape_element_type, std::move(dims), memory,
                 std::move(storage), Promise::kept(), std::move(order));
  return nullptr;
}

/// Makes a buffer whose uses all fail with the given error.
PJRT_Error *broken(Client_CreateErrorBuffer_Args *args) {
  std::vector<int64_t> dims(args->shape_dims,
                            args->shape_dims + args->shape_num_dims);
  StoragePtr storage;
  MemoryOrder order;
  if (PJRT_Error *why =
          allocate(args->shape_element_type, dims, args->shape_layout,
                   args->memory->device, storage, order))
    return why;
  PJRT_Error said{args->error_code,
                  std::string(args->error_message, args->error_message_size)};
  auto ready = std::make_shared<Promise>();
  ready->settle(&said);
  args->buffer =
      makeBuffer(args->shape_element_type, std::move(dims), args->memory,
                 std::move(storage), ready, std::move(order));
  return nullptr;
}

/// A copy of an array's bytes, once it is ready, to the caller's address.
struct RawCopy {
  StoragePtr from;
  PromisePtr source, done;
  int64_t offset, size;

  void start(void *to) const {
    source->whenSettled([copy = *this, to](const PJRT_Error *why) {
      if (!why && copy.size)
        std::memcpy(to, static_cast<char *>(copy.from->data()) + copy.offset,
                    static_cast<size_t>(copy.size));
      copy.done->settle(why);
    });
  }
};

template <typename Args> PJRT_Error *prepareRaw(Args *args, RawCopy &copy) {
  copy = {storageOf(args->buffer), args->buffer->ready,
          std::make_shared<Promise>(), args->offset, args->transfer_size};
  if (!copy.from)
    return deletedError();
  if (PJRT_Error *why =
          outside(args->offset, args->transfer_size, copy.from->size()))
    return why;
  args->event = new PJRT_Event{copy.done};
  return nullptr;
}

PJRT_Error *rawToHost(Buffer_CopyRawToHost_Args *args) {
  RawCopy copy;
  PJRT_Error *why = prepareRaw(args, copy);
  if (!why)
    copy.start(args->dst);
  return why;
}

/// Starts the copy to the given address, or passes on the caller's error.
void giveRaw(DestinationReady *said) {
  std::unique_ptr<RawCopy> copy(static_cast<RawCopy *>(said->callback_data));
  if (said->error_code) {
    PJRT_Error failure{said->error_code, std::string(said->error_message,
                                                     said->error_message_size)};
    copy->done->settle(&failure);
    return;
  }
  copy->start(said->dst);
}

PJRT_Error *rawToFuture(Buffer_CopyRawToHostFuture_Args *args) {
  auto copy = std::make_unique<RawCopy>();
  if (PJRT_Error *why = prepareRaw(args, *copy))
    return why;
  args->callback_data = copy.release();
  args->future_ready_callback = giveRaw;
  return nullptr;
}

} // namespace

PJRT_Error *weft::pjrt::outside(int64_t offset, int64_t size, size_t bytes) {
  if (offset >= 0 && size >= 0 &&
      static_cast<size_t>(offset) + static_cast<size_t>(size) <= bytes)
    return nullptr;
  return error(kInvalidArgument, std::to_string(size) + " bytes from byte " +
                                     std::to_string(offset) +
                                     " are not within an array of " +
                                     std::to_string(bytes));
}

void weft::pjrt::setTransferFunctions(Function *table) {
  set(table, kClient_CreateBuffersForAsyncHostToDevice, begin);
  set(table, kAsyncHostToDeviceTransferManager_TransferData, transfer);
  set(table, kAsyncHostToDeviceTransferManager_TransferLiteral,
      transferLiteral);
  set(table, kAsyncHostToDeviceTransferManager_RetrieveBuffer, retrieve);
  set(table, kAsyncHostToDeviceTransferManager_SetBufferError, breakArray);
  set(table, kAsyncHostToDeviceTransferManager_BufferSize, bufferSize);
  set(table, kAsyncHostToDeviceTransferManager_BufferCount, countOf);
  set(table, kAsyncHostToDeviceTransferManager_Device, deviceOf);
  set(table, kAsyncHostToDeviceTransferManager_Destroy, end);
  set(table, kAsyncHostToDeviceTransferManager_AddMetadata,
      nothing<AsyncHostToDeviceTransferManager_AddMetadata_Args>);
  set(table, kClient_DmaMap, nothing<Client_DmaMap_Args>);
  set(table, kClient_DmaUnmap, nothing<Client_DmaUnmap_Args>);
  set(table, kClient_CreateUninitializedBuffer, uninitialized);
  set(table, kClient_CreateErrorBuffer, broken);
  set(table, kBuffer_CopyRawToHost, rawToHost);
  set(table, kBuffer_CopyRawToHostFuture, rawToFuture);
}
