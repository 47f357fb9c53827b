//===- pjrt-host-transfers-test.cpp - runs that send and receive ------------===//

#include "weft/test/unit/pjrt-table.h"

#include "catch2/catch.hpp"

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

using namespace weft::pjrt;

namespace {

alignas(64) float kValues[4] = {1, 2, 3, 4};
int64_t kFour[1] = {4};

/// A program that sends twice its argument on channel 5, receives on channel 6,
/// and returns the sum of the received value and the argument.
const char *kProgram = R"(
module @transfers {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %t = stablehlo.create_token : !stablehlo.token
    %y = stablehlo.add %x, %x : tensor<4xf32>
    %s = "stablehlo.send"(%y, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %r:2 = "stablehlo.recv"(%s) <{channel_handle = #stablehlo.channel_handle<handle = 6, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %z = stablehlo.add %r#0, %x : tensor<4xf32>
    return %z : tensor<4xf32>
  }
})";

struct Program {
  explicit Program(Client &client, const char *text = kProgram) {
    std::string code(text);
    ProgramText program{};
    program.code = code.data();
    program.code_size = code.size();
    program.format = "mlir";
    program.format_size = 4;
    Client_Compile_Args args{};
    args.client = client.client;
    args.program = &program;
    args.compile_options = "";
    call(kClient_Compile, args);
    executable = args.executable;
    Client_BufferFromHostBuffer_Args given{};
    given.client = client.client;
    given.data = kValues;
    given.type = kF32;
    given.dims = kFour;
    given.num_dims = 1;
    given.memory = client.memory;
    call(kClient_BufferFromHostBuffer, given);
    destroyEvent(given.done_with_host_buffer);
    argument = given.buffer;
  }
  ~Program() {
    destroy(argument);
    LoadedExecutable_Destroy_Args args{};
    args.executable = executable;
    callFor(kLoadedExecutable_Destroy, args);
  }

  /// Returns the result, or null and the reason.
  PJRT_Buffer *run(ExecuteOptions &options, std::string *why = nullptr) {
    options.struct_size = sizeof options;
    PJRT_Buffer *arguments[] = {argument}, *results[] = {nullptr};
    PJRT_Buffer *const *argumentLists[] = {arguments};
    PJRT_Buffer **const resultLists[] = {results};
    LoadedExecutable_Execute_Args args{};
    args.executable = executable;
    args.options = &options;
    args.argument_lists = argumentLists;
    args.num_devices = 1;
    args.num_args = 1;
    args.output_lists = resultLists;
    std::string failed = messageOf(callFor(kLoadedExecutable_Execute, args));
    if (why)
      *why = failed;
    else
      REQUIRE(failed.empty());
    return results[0];
  }
  PJRT_LoadedExecutable *executable;
  PJRT_Buffer *argument;
};

/// The callbacks of one run.
struct Callbacks {
  std::vector<float> sent;
  const char *refusal = nullptr;
  std::function<void(PJRT_CopyToDeviceStream *)> answer;

  static PJRT_Error *onSend(Chunk *chunk, CallbackError *toError, size_t total,
                            bool done, void *user) {
    auto &self = *static_cast<Callbacks *>(user);
    if (self.refusal) {
      chunk->deleter(chunk->data, chunk->deleter_arg);
      return (*toError)(kInternal, self.refusal, std::strlen(self.refusal));
    }
    if (chunk->size == total && done) {
      auto *values = static_cast<float *>(chunk->data);
      size_t count = chunk->size / sizeof(float);
      self.sent.assign(values, values + count);
    }
    chunk->deleter(chunk->data, chunk->deleter_arg);
    return nullptr;
  }
  static void onReceive(PJRT_CopyToDeviceStream *stream, void *user) {
    static_cast<Callbacks *>(user)->answer(stream);
  }
  ExecuteOptions options() {
    ExecuteOptions made{};
    made.send_callbacks = sends;
    made.recv_callbacks = receives;
    made.num_send_ops = made.num_recv_ops = 1;
    return made;
  }
  SendCallbackInfo send{5, this, onSend};
  RecvCallbackInfo receive{6, this, onReceive};
  SendCallbackInfo *sends[1] = {&send};
  RecvCallbackInfo *receives[1] = {&receive};
};

int freed = 0;

/// Returns the reason why the stream does not take the bytes; empty if it does.
std::string add(PJRT_CopyToDeviceStream *stream, const void *data,
                size_t bytes) {
  Chunk chunk{const_cast<void *>(data), bytes, [](void *, void *) { ++freed; },
              nullptr};
  CopyToDeviceStream_AddChunk_Args args{};
  args.stream = stream;
  args.chunk = &chunk;
  call(kCopyToDeviceStream_AddChunk, args);
  Event_Await_Args wait{};
  wait.event = args.transfer_complete;
  std::string why = messageOf(callFor(kEvent_Await, wait));
  destroyEvent(args.transfer_complete);
  return why;
}

void destroyStream(PJRT_CopyToDeviceStream *stream) {
  CopyToDeviceStream_Destroy_Args args{};
  args.stream = stream;
  call(kCopyToDeviceStream_Destroy, args);
}

/// Returns the numbers of a result, once it is ready.
std::vector<float> numbersOf(PJRT_Buffer *buffer) {
  std::vector<char> bytes(sizeof kValues);
  REQUIRE(read(buffer, 0, bytes).empty());
  std::vector<float> values(4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::string failureOf(PJRT_Buffer *buffer) {
  std::vector<char> bytes(sizeof kValues);
  return read(buffer, 0, bytes);
}

const float kGiven[4] = {10, 20, 30, 40};

} // namespace

TEST_CASE("a run sends to its caller and receives piece by piece") {
  Client client;
  Program program(client);
  Callbacks callbacks;
  std::thread other;
  freed = 0;
  callbacks.answer = [&](PJRT_CopyToDeviceStream *stream) {
    other = std::thread([stream] { // the run waits for it
      CopyToDeviceStream_TotalBytes_Args total{};
      total.stream = stream;
      call(kCopyToDeviceStream_TotalBytes, total);
      CHECK(total.total_bytes == 16);
      CopyToDeviceStream_GranuleSize_Args granule{};
      granule.stream = stream;
      call(kCopyToDeviceStream_GranuleSize, granule);
      CHECK(granule.granule_size_in_bytes == 1);
      CHECK(add(stream, kGiven, 6).empty());
      CopyToDeviceStream_CurrentBytes_Args current{};
      current.stream = stream;
      call(kCopyToDeviceStream_CurrentBytes, current);
      CHECK(current.current_bytes == 6);
      CHECK(
          add(stream, reinterpret_cast<const char *>(kGiven) + 6, 10).empty());
      CHECK_THAT(add(stream, kGiven, 4),
                 Catch::Contains(
                     "a chunk of 4 bytes was added to a stream that lacks 0"));
      destroyStream(stream);
    });
  };
  ExecuteOptions options = callbacks.options();
  for (int round = 0; round < 2; ++round) {
    PJRT_Buffer *result = program.run(options);
    CHECK(numbersOf(result) == std::vector<float>{11, 22, 33, 44});
    other.join();
    CHECK(callbacks.sent == std::vector<float>{2, 4, 6, 8});
    destroy(result);
  }
  CHECK(freed == 6);
}

TEST_CASE("a transfer that fails fails its run") {
  Client client;
  Program program(client);
  Callbacks callbacks;
  ExecuteOptions options = callbacks.options();
  SECTION("the sender's callback refuses") {
    callbacks.refusal = "not today";
    PJRT_Buffer *result = program.run(options);
    CHECK_THAT(failureOf(result),
               Catch::Contains("a transfer of the host failed: not today"));
    destroy(result);
  }
  SECTION("the stream is given up") {
    callbacks.answer = [](PJRT_CopyToDeviceStream *stream) {
      CHECK(add(stream, kGiven, 4).empty());
      destroyStream(stream);
    };
    PJRT_Buffer *result = program.run(options);
    CHECK_THAT(failureOf(result),
               Catch::Contains("its stream was given up after 4 of 16 bytes"));
    destroy(result);
  }
  SECTION("more comes than is wanted") {
    callbacks.answer = [](PJRT_CopyToDeviceStream *stream) {
      CHECK_THAT(
          add(stream, kGiven, 17),
          Catch::Contains(
              "a chunk of 17 bytes was added to a stream that lacks 16"));
      CHECK_THAT(add(stream, kGiven, 4),
                 Catch::Contains("a chunk of 17 bytes"));
      destroyStream(stream);
    };
    PJRT_Buffer *result = program.run(options);
    CHECK_THAT(failureOf(result), Catch::Contains("a chunk of 17 bytes"));
    destroy(result);
  }
  SECTION("a callback is missing") {
    std::string why;
    callbacks.receive.channel_id = 7;
    program.run(options, &why);
    CHECK_THAT(why, Catch::Contains("the program receives on channel 6, for "
                                    "which the run is given no callback"));
    callbacks.send.channel_id = 7;
    program.run(options, &why);
    CHECK_THAT(why, Catch::Contains("the program sends on channel 5, for which "
                                    "the run is given no callback"));
  }
}

namespace {
bool poison(Client &client, int launch) {
  Client_AddressableDevices_Args found{};
  found.client = client.client;
  call(kClient_AddressableDevices, found);
  Device_PoisonExecution_Args args{};
  args.device = found.devices[0];
  args.launch_id = launch;
  args.error_code = kInternal;
  args.error_message = "no longer wanted";
  args.error_message_size = std::strlen(args.error_message);
  call(kDevice_PoisonExecution, args);
  return args.poisoned;
}
} // namespace

TEST_CASE("a run that has not ended can be poisoned, once") {
  Client client;
  Program program(client);
  Callbacks callbacks;
  std::atomic<PJRT_CopyToDeviceStream *> open{nullptr};
  callbacks.answer = [&](PJRT_CopyToDeviceStream *stream) { open = stream; };
  ExecuteOptions options = callbacks.options();
  options.launch_id = 7;
  PJRT_Buffer *running =
      program.run(options); // it waits until its stream is full
  options.launch_id = 8;
  PJRT_Buffer *waiting = program.run(options);
  while (!open)
    std::this_thread::yield();
  CHECK(!poison(client, 9));
  CHECK(poison(client, 7));
  CHECK(!poison(client, 7));
  CHECK(poison(client, 8));
  CHECK(isReady(running));
  CHECK_THAT(failureOf(running), Catch::Contains("no longer wanted"));
  CHECK_THAT(failureOf(waiting), Catch::Contains("no longer wanted"));
  callbacks.sent.clear();
  PJRT_CopyToDeviceStream *stream = open.exchange(nullptr);
  CHECK(add(stream, kGiven, 16)
            .empty()); // the run that has begun ends, the other never begins
  destroyStream(stream);
  callbacks.answer = [](PJRT_CopyToDeviceStream *next) {
    CHECK(add(next, kGiven, 16).empty());
    destroyStream(next);
  };
  options.launch_id = 7;
  PJRT_Buffer *last = program.run(options);
  CHECK(numbersOf(last) == std::vector<float>{11, 22, 33, 44});
  CHECK(!poison(client, 7));
  CHECK(open == nullptr);
  for (PJRT_Buffer *buffer : {running, waiting, last})
    destroy(buffer);
}
