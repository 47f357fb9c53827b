//===- pjrt-aliases-test.cpp - arrays that share memory or a value --------===//

#include "weft/test/unit/pjrt-table.h"

#include "catch2/catch.hpp"

#include <algorithm>
#include <cstring>

using namespace weft::pjrt;

namespace {

alignas(64) float kValues[4] = {1, 2, 3, 4};
int64_t kFour[1] = {4};

PJRT_Buffer *numbers(Client &client) {
  Client_BufferFromHostBuffer_Args args{};
  args.client = client.client;
  args.data = kValues;
  args.type = kF32;
  args.dims = kFour;
  args.num_dims = 1;
  args.memory = client.memory;
  call(kClient_BufferFromHostBuffer, args);
  destroyEvent(args.done_with_host_buffer);
  return args.buffer;
}

struct Alias {
  explicit Alias(Client &client) {
    Client_CreateAliasBuffer_Args args{};
    args.client = client.client;
    args.memory = client.memory;
    args.shape_dims = kFour;
    args.shape_num_dims = 1;
    args.shape_element_type = kF32;
    call(kClient_CreateAliasBuffer, args);
    buffer = args.alias_buffer;
    callback = args.fulfill_alias_buffer_cb;
  }
  std::string fulfill(PJRT_Buffer *value, int code = 0, const char *why = "") {
    Client_FulfillAliasBuffer_Args args{};
    args.buffer = value;
    args.status_code = code;
    args.error_message = why;
    args.error_message_size = std::strlen(why);
    args.fulfill_alias_buffer_cb = callback;
    return messageOf(callFor(kClient_FulfillAliasBuffer, args));
  }
  PJRT_Buffer *buffer;
  PJRT_FulfillAliasBufferCallback *callback;
};

} // namespace

TEST_CASE("a view is another library's memory, which is told when it is no "
          "longer used") {
  Client client;
  int released = 0;
  Client_CreateViewOfDeviceBuffer_Args args{};
  args.client = client.client;
  args.device_buffer_ptr = kValues;
  args.dims = kFour;
  args.num_dims = 1;
  args.type = kF32;
  args.memory = client.memory;
  args.on_delete_callback = [](void *, void *user) {
    ++*static_cast<int *>(user);
  };
  args.on_delete_callback_arg = &released;
  call(kClient_CreateViewOfDeviceBuffer, args);
  std::vector<char> bytes(8);
  CHECK(isReady(args.buffer));
  CHECK(read(args.buffer, 8, bytes).empty());
  CHECK(std::equal(bytes.begin(), bytes.end(),
                   reinterpret_cast<const char *>(kValues + 2)));
  Buffer_UnsafePointer_Args pointer{};
  pointer.buffer = args.buffer;
  call(kBuffer_UnsafePointer, pointer);
  CHECK(pointer.pointer == reinterpret_cast<uintptr_t>(kValues)); // not a copy
  CHECK(released == 0);
  destroy(args.buffer);
  CHECK(released == 1);

  auto refusal = [&] {
    return messageOf(callFor(kClient_CreateViewOfDeviceBuffer, args));
  };
  args.device_buffer_ptr = kValues + 1;
  CHECK_THAT(
      refusal(),
      Catch::Contains(
          "a view of memory that is aligned to 4 bytes needs 64; copy it"));
  args.device_buffer_ptr = kValues;
  args.stream = 1;
  CHECK_THAT(refusal(), Catch::Contains("a view that waits for a stream is not "
                                        "supported; CPU devices have none"));
  args.stream = 0;
  MemoryLayout strided{};
  int64_t strides[1] = {-4};
  strided.type = kStrided;
  strided.strides.byte_strides = strides;
  strided.strides.num_byte_strides = 1;
  args.layout = &strided;
  CHECK_THAT(refusal(),
             Catch::Contains("an array in tiles or with gaps is not supported; "
                             "give an order of its 1 dimensions"));
  args.type = kToken;
  CHECK_THAT(
      refusal(),
      Catch::Contains("a view of elements of type number 23 is not supported"));
  CHECK(released == 1);
}

TEST_CASE("an alias has the value of the array that fulfils it") {
  Client client;
  PJRT_Buffer *value = numbers(client);
  Alias alias(client);
  CHECK_FALSE(isReady(alias.buffer));
  CHECK(alias.fulfill(value).empty());
  CHECK(isReady(alias.buffer));
  destroy(value);
  std::vector<char> bytes(16);
  CHECK(read(alias.buffer, 0, bytes).empty());
  CHECK(std::equal(bytes.begin(), bytes.end(),
                   reinterpret_cast<const char *>(kValues)));
  destroy(alias.buffer);

  Alias broken(client);
  CHECK(broken.fulfill(nullptr, kInternal, "no host").empty());
  CHECK(read(broken.buffer, 0, bytes) == "no host");
  destroy(broken.buffer);

  Alias wrong(client);
  Alias other(client);
  Buffer_Delete_Args gone{};
  gone.buffer = other.buffer;
  call(kBuffer_Delete, gone);
  CHECK_THAT(wrong.fulfill(other.buffer),
             Catch::Contains("the array has been deleted or donated"));
  CHECK_THAT(read(wrong.buffer, 0, bytes),
             Catch::Contains("the array has been deleted or donated"));
  destroy(wrong.buffer);
  destroy(other.buffer);
}

TEST_CASE("a donation with a dependency is ready when that is") {
  Client client;
  for (int code : {0, int(kInternal)}) {
    PJRT_Buffer *value = numbers(client);
    Buffer_DonateWithControlDependency_Args args{};
    args.buffer = value;
    call(kBuffer_DonateWithControlDependency, args);
    Buffer_IsDeleted_Args deleted{};
    deleted.buffer = value;
    call(kBuffer_IsDeleted, deleted);
    CHECK(deleted.is_deleted);
    CHECK_FALSE(isReady(args.out_buffer));
    DependencyReady said{sizeof said, args.callback_data, code, "lost", 4};
    args.dependency_ready_callback(&said);
    CHECK(isReady(args.out_buffer));
    std::vector<char> bytes(16);
    CHECK(read(args.out_buffer, 0, bytes) == (code ? "lost" : ""));
    CHECK_THAT(messageOf(callFor(kBuffer_DonateWithControlDependency, args)),
               Catch::Contains("the array has been deleted or donated"));
    destroy(args.out_buffer);
    Buffer_IncreaseExternalReferenceCount_Args held{};
    held.buffer = args.buffer = numbers(client);
    call(kBuffer_IncreaseExternalReferenceCount, held);
    CHECK_THAT(
        messageOf(callFor(kBuffer_DonateWithControlDependency, args)),
        Catch::Contains("an array that others refer to cannot be donated"));
    destroy(held.buffer);
    destroy(value);
  }
}

TEST_CASE("bytes are copied to an address that is given later") {
  Client client;
  PJRT_Buffer *value = numbers(client);
  Buffer_CopyRawToHostFuture_Args args{};
  args.buffer = value;
  args.offset = 12;
  args.transfer_size = 8;
  CHECK_THAT(
      messageOf(callFor(kBuffer_CopyRawToHostFuture, args)),
      Catch::Contains("8 bytes from byte 12 are not within an array of 16"));
  args.offset = 4;
  call(kBuffer_CopyRawToHostFuture, args);
  float found[2] = {};
  DestinationReady said{sizeof said, args.callback_data, 0, nullptr, 0, found};
  args.future_ready_callback(&said);
  Event_Await_Args wait{};
  wait.event = args.event;
  CHECK(messageOf(callFor(kEvent_Await, wait)).empty());
  CHECK(found[0] == 2);
  CHECK(found[1] == 3);
  destroyEvent(args.event);
  destroy(value);
}

TEST_CASE("every function of the table is filled") {
  for (unsigned slot = 0; slot < kSlotCount; ++slot) {
    INFO("slot " << slot);
    CHECK(api().functions[slot] != nullptr);
  }
}
