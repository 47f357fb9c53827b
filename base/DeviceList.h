//===- DeviceList.h - lists like "cpu:8" and names like "cpu:3" -*- C++ -*-===//
//
//   auto list = weft::DeviceList::parse("cpu:8");       // kind Cpu, count 8
//   list->text();                                       // "cpu:8"
//   std::string message = weft::DeviceList::parse("gpu:8").message();
//     // 'gpu:8' asks for gpu devices, there are cpu and cuda devices only;
//     // write cpu:N or cuda:N with N from 1 to 65536
//   weft::DeviceName::parse("cpu:3");                   // kind Cpu, index 3
//
// A list is a kind and a count; a name is a kind and an index, as in
// keras.distribution. Numbers are decimal, without a sign. The runtime, the
// compiler, the tools and the plugin parse and print both only by these
// functions.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_DEVICELIST_H
#define WEFT_BASE_DEVICELIST_H

#include "weft/base/Result.h"

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

/// The kind of processor of a device.
enum class DeviceKind : uint8_t { Cpu, Cuda };
/// The names of the kinds, indexed by DeviceKind.
inline constexpr std::string_view kDeviceKinds[] = {"cpu", "cuda"};
/// The largest number of devices in a list.
inline constexpr int64_t kMostDevices = 65536;

std::optional<DeviceKind> parseDeviceKind(std::string_view text);

/// The number after the colon of `text`: 8 for "cpu:8". Nothing if there is no
/// colon, if anything but digits follows the colon, or if the number is above
/// INT64_MAX.
std::optional<int64_t> parseDeviceNumber(std::string_view text);

/// The text of a kind and a number, "cpu:8".
std::string kindAndNumber(DeviceKind kind, int64_t number);

/// Devices 0 to count - 1 of one kind.
struct DeviceList {
  DeviceKind kind = DeviceKind::Cpu;
  int64_t count = 1;

  /// Parses a list. Fails if `text` is no list, its kind is not among the first
  /// `kinds` or it has more than `most` devices.
  static Result<DeviceList> parse(std::string_view text,
                                  int64_t most = kMostDevices,
                                  size_t kinds = std::size(kDeviceKinds));
  std::string text() const { return kindAndNumber(kind, count); }
};

/// One device of a list.
struct DeviceName {
  DeviceKind kind = DeviceKind::Cpu;
  int64_t index = 0;

  /// Parses a name. Nothing if `text` is no name or its kind is unknown.
  static std::optional<DeviceName> parse(std::string_view text);
  std::string text() const { return kindAndNumber(kind, index); }
};

} // namespace weft

#endif // WEFT_BASE_DEVICELIST_H
