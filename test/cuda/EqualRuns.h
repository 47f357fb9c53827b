//===- EqualRuns.h - a program on CPUs and on GPUs --------------*- C++ -*-===//
//
//   checkEqual({image, "all_reduce", DType::f32, {bytes of input 0, ...}, 8});
//
// Checks for the same bits in every output of every device, and the same
// counters.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_EQUALRUNS_H
#define WEFT_TEST_CUDA_EQUALRUNS_H

#include "weft/base/SmallFloats.h"
#include "weft/test/unit/runtime-plan.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <random>

namespace weft::test {

template <typename T> T valueOf(const uint8_t *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

inline std::optional<weft::SmallFloat> formatOf(DType dtype) {
  switch (dtype) {
#define WEFT_SMALL_FLOAT(NAME, name, Name, format, ...)                        \
  case DType::name:                                                            \
    return weft::format;
#include "weft/base/ElementTypes.def"
  default:
    return std::nullopt;
  }
}

/// The bytes of one number of a type, which may be NaN.
inline size_t bytesOfNumber(DType dtype) {
  return size_t(bytesOf(dtype)) /
         (dtype == DType::c64 || dtype == DType::c128 ? 2 : 1);
}

inline bool isNaN(DType dtype, const uint8_t *number) {
  if (std::optional<weft::SmallFloat> format = formatOf(dtype))
    return std::isnan(weft::smallToFloat(*number, *format));
  switch (dtype) {
  case DType::f16:
    return (valueOf<uint16_t>(number) & 0x7fff) > 0x7c00;
  case DType::bf16:
    return (valueOf<uint16_t>(number) & 0x7fff) > 0x7f80;
  case DType::f32:
  case DType::c64:
    return std::isnan(valueOf<float>(number));
  case DType::f64:
  case DType::c128:
    return std::isnan(valueOf<double>(number));
  default:
    return false;
  }
}

/// The bytes with every NaN replaced by 0xFF bytes, as the NaN of a sum depends
/// on the processor.
inline std::vector<uint8_t> withoutNaNs(DType dtype,
                                        std::vector<uint8_t> bytes) {
  size_t step = bytesOfNumber(dtype);
  for (size_t i = 0; i + step <= bytes.size(); i += step)
    if (isNaN(dtype, &bytes[i]))
      std::memset(&bytes[i], 0xFF, step);
  return bytes;
}

/// Random bits; in a type of less than eight bits the rest of a byte is 0.
inline std::vector<uint8_t> randomBytes(DType dtype, size_t elements,
                                        unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> out(elements * size_t(bytesOf(dtype)));
  int mask =
      dtype == DType::i1                          ? 1
      : dtype == DType::i2 || dtype == DType::ui2 ? 3
      : dtype == DType::i4 || dtype == DType::ui4 || dtype == DType::f4E2M1FN
          ? 15
          : 255;
  for (uint8_t &byte : out)
    byte = uint8_t(random() & unsigned(mask));
  // Exponents are similar, so that sums are rounded: most sums of wide floats
  // with random bits equal the larger term.
  size_t step = bytesOfNumber(dtype);
  bool isWide = dtype == DType::f32 || dtype == DType::c64 ||
                dtype == DType::f64 || dtype == DType::c128 ||
                dtype == DType::f16 || dtype == DType::bf16;
  for (size_t i = 0; isWide && i + step <= out.size(); i += step)
    if (random() % 8)
      out[i + step - 1] = uint8_t((out[i + step - 1] & 0x81) | 0x3c);
  return out;
}

struct Case {
  std::vector<uint8_t> image;
  std::string kind;
  DType dtype;
  std::vector<std::vector<uint8_t>> inputs;
  int64_t devices, outputs = 1;
  int runs = 2;
};

/// Keeps the contexts of all GPUs until the program ends: each comparison opens
/// and closes devices, and a real driver takes a fifth of a second to make a
/// context anew.
struct HeldContexts {
  HeldContexts() { weft_error_free(weft_runtime_create("cuda", 1, &runtime)); }
  ~HeldContexts() { weft_runtime_free(runtime); }
  weft_runtime *runtime = nullptr;
};

inline void checkEqual(const Case &one) {
  static const HeldContexts held;
  INFO(one.kind << " of " << EnumNameDType(one.dtype) << " on " << one.devices);
  std::string count = std::to_string(one.devices);
  Loaded cpu(one.image, "cpu:" + count, 1), gpu(one.image, "cuda:" + count);
  for (Loaded *side : {&cpu, &gpu})
    for (size_t i = 0; i < one.inputs.size(); ++i)
      side->write(i, one.inputs[i]);
  for (int round = 0; round < one.runs; ++round) {
    REQUIRE(cpu.run() == "");
    REQUIRE(gpu.run() == "");
  }
  for (size_t o = 0; o < size_t(one.outputs); ++o)
    for (int64_t d = 0; d < one.devices; ++d)
      CHECK(withoutNaNs(one.dtype, gpu.local<uint8_t>(o, d)) ==
            withoutNaNs(one.dtype, cpu.local<uint8_t>(o, d)));
  uint64_t occurrences[2] = {};
  CHECK(gpu.counted(one.kind, &occurrences[0]) ==
        cpu.counted(one.kind, &occurrences[1]));
  CHECK(occurrences[0] == occurrences[1]);
  CHECK(occurrences[0] > 0);
}

} // namespace weft::test

#endif // WEFT_TEST_CUDA_EQUALRUNS_H
