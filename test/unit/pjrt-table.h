//===- pjrt-table.h - calls of the plugin's table, as JAX makes them ------===//

#ifndef WEFT_TEST_UNIT_PJRT_TABLE_H
#define WEFT_TEST_UNIT_PJRT_TABLE_H

#include "weft/tools/pjrt/Arguments.h"

#include "catch2/catch.hpp"

#include <dlfcn.h>
#include <string>
#include <vector>

namespace weft::pjrt {

/// Numbers of PJRT_Buffer_Type.
constexpr BufferType kF32 = BufferType(11), kS64 = BufferType(5);

/// Returns the plugin's table, as JAX finds it.
inline const Api &api() {
  static const Api *table = [] {
    void *library = dlopen(WEFT_PJRT_FILE, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library);
    return reinterpret_cast<const Api *(*)()>(dlsym(library, "GetPjrtApi"))();
  }();
  return *table;
}

template <typename Args> PJRT_Error *callFor(Slot slot, Args &args) {
  args.struct_size = sizeof(Args);
  using Called = PJRT_Error *(*)(Args *); // the type it is defined with
  return reinterpret_cast<Called>(api().functions[slot])(&args);
}

/// Returns the message of an error and destroys the error; empty for null.
inline std::string messageOf(PJRT_Error *error) {
  if (!error)
    return "";
  Error_Message_Args said{};
  said.error = error;
  callFor(kError_Message, said);
  std::string text(said.message, said.message_size);
  Error_Destroy_Args destroyed{};
  destroyed.error = error;
  callFor(kError_Destroy, destroyed);
  return text;
}

template <typename Args> void call(Slot slot, Args &args) {
  REQUIRE(messageOf(callFor(slot, args)) == "");
}

struct Client {
  Client() {
    Client_Create_Args created{};
    call(kClient_Create, created);
    client = created.client;
    Client_AddressableMemories_Args found{};
    found.client = client;
    call(kClient_AddressableMemories, found);
    memory = found.memories[0];
  }
  ~Client() {
    Client_Destroy_Args args{};
    args.client = client;
    callFor(kClient_Destroy, args);
  }
  PJRT_Client *client;
  PJRT_Memory *memory;
};

inline bool isReady(PJRT_Buffer *buffer) {
  Buffer_ReadyEvent_Args event{};
  event.buffer = buffer;
  call(kBuffer_ReadyEvent, event);
  Event_IsReady_Args ready{};
  ready.event = event.event;
  call(kEvent_IsReady, ready);
  return ready.is_ready;
}

/// Reads bytes of an array, and returns the error's message; empty for success.
inline std::string read(PJRT_Buffer *buffer, int64_t offset,
                        std::vector<char> &bytes) {
  Buffer_CopyRawToHost_Args args{};
  args.buffer = buffer;
  args.dst = bytes.data();
  args.offset = offset;
  args.transfer_size = static_cast<int64_t>(bytes.size());
  std::string why = messageOf(callFor(kBuffer_CopyRawToHost, args));
  if (!why.empty())
    return why;
  Event_Await_Args wait{};
  wait.event = args.event;
  return messageOf(callFor(kEvent_Await, wait));
}

inline void destroy(PJRT_Buffer *buffer) {
  Buffer_Destroy_Args args{};
  args.buffer = buffer;
  call(kBuffer_Destroy, args);
}

inline void destroyEvent(PJRT_Event *event) {
  Event_Destroy_Args args{};
  args.event = event;
  callFor(kEvent_Destroy, args);
}

} // namespace weft::pjrt

#endif // WEFT_TEST_UNIT_PJRT_TABLE_H
