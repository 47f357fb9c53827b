//===- runtime-loaded.h - a program image that is run -----------*- C++ -*-===//
//
//   Loaded program(image, "cpu:4");
//   program.write(0, std::vector<float>{1, 2, 3, 4});
//   REQUIRE(program.run() == "");
//   program.read<float>(0, 4);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_RUNTIME_LOADED_H
#define WEFT_TEST_UNIT_RUNTIME_LOADED_H

#include "weft/runtime/abi/gpus.h"
#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/abi/processes.h"

#include "catch2/catch.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace weft::test {

/// Returns the message of an error, and frees it; empty for success.
inline std::string take(weft_error *error, weft_status *status = nullptr) {
  if (status)
    *status = weft_error_status(error);
  std::string text = error ? weft_error_message(error) : "";
  weft_error_free(error);
  return text;
}

/// A program on its own runtime with buffers for all of its ports.
struct Loaded {
  Loaded(const std::vector<uint8_t> &image, const std::string &devices,
         int workers = 0, bool poison = true, weft_processes *all = nullptr) {
    CHECK(take(weft_program_load_memory(image.data(), image.size(),
                                        &program)) == "");
    CHECK(take(weft_runtime_create_among(all, devices.c_str(), workers,
                                         &runtime)) == "");
    REQUIRE(program);
    REQUIRE(runtime);
    weft_runtime_poison(runtime, poison);
    // Tests of GPUs are repeated with each way to exchange data.
    const char *mode = std::getenv("WEFT_TEST_COLLECTIVES");
    if (mode && devices.starts_with("cuda"))
      CHECK(take(weft_runtime_set_collectives(runtime, mode)) == "");
    const plan::Program *plan = plan::GetProgram(weft_program_plan(program));
    for (size_t i = 0; plan->inputs() && i < plan->inputs()->size(); ++i) {
      inputs.emplace_back();
      REQUIRE(take(weft_input_create(runtime, program, i, &inputs.back())) ==
              "");
    }
    outputs.resize(plan->outputs() ? plan->outputs()->size() : 0);
    for (size_t i = 0; i < inputs.size(); ++i)
      if (int32_t o = plan->inputs()->Get(i)->donated_to(); o >= 0)
        outputs[o] = inputs[i];
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i]) {
        REQUIRE(take(weft_output_create(runtime, program, i, &outputs[i])) ==
                "");
        owned.push_back(outputs[i]);
      }
    owned.insert(owned.end(), inputs.begin(), inputs.end());
  }
  ~Loaded() {
    for (weft_buffer *b : owned)
      weft_buffer_free(b);
    weft_runtime_free(runtime);
    weft_program_free(program);
  }
  template <typename T> void write(size_t input, const std::vector<T> &data) {
    REQUIRE(take(weft_buffer_write(inputs[input], data.data(),
                                   data.size() * sizeof(T))) == "");
  }
  template <typename T> std::vector<T> read(size_t output, size_t count) {
    std::vector<T> data(count);
    REQUIRE(take(weft_buffer_read(outputs[output], data.data(),
                                  count * sizeof(T))) == "");
    return data;
  }
  /// Write a box of an input's global array, and read one of an output's, in
  /// row-major order.
  template <typename T>
  std::string writeBlock(size_t input, const std::vector<int64_t> &starts,
                         const std::vector<int64_t> &sizes,
                         const std::vector<T> &data) {
    return take(weft_buffer_write_block(inputs[input], starts.data(),
                                        sizes.data(), data.data(),
                                        data.size() * sizeof(T)));
  }
  template <typename T>
  std::vector<T> readBlock(size_t output, const std::vector<int64_t> &starts,
                           const std::vector<int64_t> &sizes) {
    size_t count = 1;
    for (int64_t size : sizes)
      count *= size_t(size);
    std::vector<T> data(count);
    REQUIRE(take(weft_buffer_read_block(outputs[output], starts.data(),
                                        sizes.data(), data.data(),
                                        count * sizeof(T))) == "");
    return data;
  }
  std::string run() {
    return take(weft_execute(runtime, program, inputs.data(), outputs.data()));
  }
  /// Returns one device's memory of an output.
  template <typename T> std::vector<T> local(size_t output, int64_t position) {
    size_t bytes = 0;
    void *memory = weft_buffer_local(outputs[output], position, &bytes);
    std::vector<T> data(bytes / sizeof(T));
    weft_ticket *copied = nullptr; // the host may be unable to read the memory
    REQUIRE(take(weft_device_copy(runtime, -1, data.data(), position, memory,
                                  bytes, &copied)) == "");
    REQUIRE(take(weft_ticket_wait(copied)) == "");
    weft_ticket_free(copied);
    return data;
  }
  uint64_t counted(const std::string &kind, uint64_t *count = nullptr) {
    const weft_counter *counters = nullptr;
    size_t n = weft_runtime_counters(runtime, &counters);
    for (size_t i = 0; i < n; ++i)
      if (counters[i].kind == kind) {
        if (count)
          *count = counters[i].count;
        return counters[i].bytes;
      }
    return 0;
  }

  weft_program *program = nullptr;
  weft_runtime *runtime = nullptr;
  std::vector<weft_buffer *> inputs, outputs, owned;
};

template <typename T> std::vector<T> iota(size_t n, T first = 0) {
  std::vector<T> v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = T(first + T(i));
  return v;
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_RUNTIME_LOADED_H
