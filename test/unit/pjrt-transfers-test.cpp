//===- pjrt-transfers-test.cpp - functions that JAX seldom calls ------------===//

#include "weft/test/unit/pjrt-table.h"

#include "catch2/catch.hpp"

#include <algorithm>

using namespace weft::pjrt;

namespace {

struct Transfer {
  explicit Transfer(Client &client) {
    Client_CreateBuffersForAsyncHostToDevice_Args args{};
    args.client = client.client;
    args.shape_specs = specs;
    args.num_shape_specs = 2;
    args.memory = client.memory;
    call(kClient_CreateBuffersForAsyncHostToDevice, args);
    manager = args.transfer_manager;
  }
  void end() {
    AsyncHostToDeviceTransferManager_Destroy_Args args{};
    args.transfer_manager = manager;
    call(kAsyncHostToDeviceTransferManager_Destroy, args);
  }
  PJRT_Buffer *array(int index) {
    AsyncHostToDeviceTransferManager_RetrieveBuffer_Args args{};
    args.transfer_manager = manager;
    args.buffer_index = index;
    call(kAsyncHostToDeviceTransferManager_RetrieveBuffer, args);
    return args.buffer_out;
  }
  std::string give(int index, const void *data, int64_t offset, int64_t size,
                   bool isLast) {
    AsyncHostToDeviceTransferManager_TransferData_Args args{};
    args.transfer_manager = manager;
    args.buffer_index = index;
    args.data = data;
    args.offset = offset;
    args.transfer_size = size;
    args.is_last_transfer = isLast;
    std::string why = messageOf(
        callFor(kAsyncHostToDeviceTransferManager_TransferData, args));
    if (why.empty())
      destroyEvent(args.done_with_h2d_transfer);
    return why;
  }
  int64_t dims[1] = {4};
  ShapeSpec specs[2] = {{sizeof(ShapeSpec), nullptr, dims, 1, kF32},
                        {sizeof(ShapeSpec), nullptr, dims, 1, kS64}};
  PJRT_AsyncHostToDeviceTransferManager *manager;
};

int64_t bytesInUse(PJRT_Buffer *buffer) {
  Buffer_Device_Args device{};
  device.buffer = buffer;
  call(kBuffer_Device, device);
  Device_MemoryStats_Args stats{};
  stats.device = device.device;
  call(kDevice_MemoryStats, stats);
  CHECK_FALSE(stats.pool_bytes_is_set);
  CHECK(stats.bytes_limit > stats.peak_bytes_in_use);
  return stats.bytes_in_use;
}

} // namespace

TEST_CASE("an array is ready with the last of its pieces") {
  Client client;
  Transfer transfer(client);
  PJRT_Buffer *array = transfer.array(0);
  CHECK(bytesInUse(array) == 4 * 4 + 4 * 8);
  float values[4] = {1, 2, 3, 4};
  CHECK(transfer.give(0, values + 2, 8, 8, false).empty());
  CHECK_FALSE(isReady(array));
  CHECK_THAT(
      transfer.give(0, values, 12, 8, false),
      Catch::Contains("8 bytes from byte 12 are not within an array of 16"));
  CHECK_THAT(transfer.give(2, values, 0, 8, false),
             Catch::Contains("there is no array 2 of 2"));
  CHECK(transfer.give(0, values, 0, 8, true).empty());
  CHECK(isReady(array));
  CHECK_THAT(transfer.give(0, values, 0, 8, true),
             Catch::Contains("the array has all its bytes already"));
  std::vector<char> bytes(8);
  CHECK(read(array, 4, bytes).empty());
  CHECK(std::equal(bytes.begin(), bytes.end(),
                   reinterpret_cast<const char *>(values + 1)));

  PJRT_Buffer *never = transfer.array(1);
  transfer.end();
  CHECK_THAT(read(never, 0, bytes),
             Catch::Contains("the array's transfer was given up"));
  destroy(never);
  destroy(array);
}

TEST_CASE("a transfer says an array's size, takes it whole, or breaks it") {
  Client client;
  Transfer transfer(client);
  AsyncHostToDeviceTransferManager_BufferSize_Args size{};
  size.transfer_manager = transfer.manager;
  size.buffer_index = 1;
  call(kAsyncHostToDeviceTransferManager_BufferSize, size);
  CHECK(size.buffer_size == 32);

  int64_t values[4] = {5, 6, 7, 8};
  AsyncHostToDeviceTransferManager_TransferLiteral_Args whole{};
  whole.transfer_manager = transfer.manager;
  whole.buffer_index = 1;
  whole.data = values;
  whole.shape_dims = transfer.dims;
  whole.shape_num_dims = 1;
  whole.shape_element_type = kF32;
  CHECK_THAT(messageOf(callFor(
                 kAsyncHostToDeviceTransferManager_TransferLiteral, whole)),
             Catch::Contains("the value has not the array's shape"));
  whole.shape_element_type = kS64;
  call(kAsyncHostToDeviceTransferManager_TransferLiteral, whole);
  PJRT_Buffer *array = transfer.array(1);
  CHECK(isReady(array));

  AsyncHostToDeviceTransferManager_SetBufferError_Args broken{};
  broken.transfer_manager = transfer.manager;
  broken.buffer_index = 0;
  broken.error_code = kInternal;
  broken.error_message = "no such file";
  broken.error_message_size = 12;
  call(kAsyncHostToDeviceTransferManager_SetBufferError, broken);
  std::vector<char> bytes(4);
  PJRT_Buffer *other = transfer.array(0);
  CHECK(read(other, 0, bytes) == "no such file");
  transfer.end();
  destroy(other);
  destroy(array);
}

TEST_CASE("the maker of an event sets it or its error, once") {
  Event_Create_Args created{};
  call(kEvent_Create, created);
  Event_Set_Args set{};
  set.event = created.event;
  set.error_code = kInternal;
  set.error_message = "stopped";
  set.error_message_size = 7;
  call(kEvent_Set, set);
  CHECK_THAT(messageOf(callFor(kEvent_Set, set)),
             Catch::Contains("the event has been set before"));
  Event_Await_Args wait{};
  wait.event = created.event;
  CHECK(messageOf(callFor(kEvent_Await, wait)) == "stopped");
}

/// The two topologies are not destroyed: at its end the process waits for their
/// compilers.
TEST_CASE("a topology is its name") {
  TopologyDescription_Create_Args created{};
  created.topology_name = "gpu:2";
  created.topology_name_size = 5;
  CHECK_THAT(
      messageOf(callFor(kTopologyDescription_Create, created)),
      Catch::Contains("topology name: 'gpu:2' asks for gpu devices, there are "
                      "cpu devices only; write cpu:N with N from 1 to 4096"));
  created.topology_name = "cpu:3";
  call(kTopologyDescription_Create, created);
  TopologyDescription_Serialize_Args text{};
  text.topology = created.topology;
  call(kTopologyDescription_Serialize, text);
  TopologyDescription_Deserialize_Args read{};
  read.serialized_topology = text.serialized_bytes;
  read.serialized_topology_size = text.serialized_bytes_size;
  call(kTopologyDescription_Deserialize, read);
  text.serialized_topology_deleter(text.serialized_topology);
  TopologyDescription_GetDeviceDescriptions_Args found{};
  found.topology = read.topology;
  call(kTopologyDescription_GetDeviceDescriptions, found);
  CHECK(found.num_descriptions == 3);
}
