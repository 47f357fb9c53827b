//===- DeviceList.cpp - lists like "cpu:8" and names like "cpu:3" ---------===//

#include "weft/base/DeviceList.h"

#include <charconv>

namespace weft {

std::optional<DeviceKind> parseDeviceKind(std::string_view text) {
  for (size_t kind = 0; kind < std::size(kDeviceKinds); ++kind)
    if (text == kDeviceKinds[kind])
      return DeviceKind(kind);
  return std::nullopt;
}

std::optional<int64_t> parseDeviceNumber(std::string_view text) {
  size_t colon = text.find(':');
  if (colon == text.npos || text.substr(colon + 1).starts_with('-'))
    return std::nullopt;
  int64_t number = 0;
  const char *end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || rest != end)
    return std::nullopt;
  return number;
}

std::string kindAndNumber(DeviceKind kind, int64_t number) {
  return std::string(kDeviceKinds[size_t(kind)]) + ":" + std::to_string(number);
}

/// The names of the first `kinds` kinds, each followed by `ending`: "cpu:N or
/// cuda:N".
static std::string kindsText(size_t kinds, std::string_view last,
                             std::string_view ending) {
  std::string text;
  for (size_t kind = 0; kind < kinds; ++kind)
    text.append(kind == 0           ? ""
                : kind + 1 == kinds ? last
                                    : ", ")
        .append(kDeviceKinds[kind])
        .append(ending);
  return text;
}

Result<DeviceList> DeviceList::parse(std::string_view text, int64_t most,
                                     size_t kinds) {
  std::string_view kindText = text.substr(0, text.find(':'));
  std::optional<DeviceKind> kind = parseDeviceKind(kindText);
  std::optional<int64_t> count = parseDeviceNumber(text);
  if (kind && size_t(*kind) >= kinds)
    kind = std::nullopt;
  if (kind && count && *count >= 1 && *count <= most)
    return DeviceList{*kind, *count};
  std::string why = "'" + std::string(text) + "' ";
  if (!kind && count && !kindText.empty())
    why += "asks for " + std::string(kindText) + " devices, there are " +
           kindsText(kinds, " and ", "") + " devices only";
  else
    why += "is no list of devices";
  why += "; write " + kindsText(kinds, " or ", ":N") + " with N from 1 to " +
         std::to_string(most);
  return Error{why, StatusCode::InvalidArgument};
}

std::optional<DeviceName> DeviceName::parse(std::string_view text) {
  std::optional<DeviceKind> kind =
      parseDeviceKind(text.substr(0, text.find(':')));
  std::optional<int64_t> index = parseDeviceNumber(text);
  if (!kind || !index)
    return std::nullopt;
  return DeviceName{*kind, *index};
}

} // namespace weft
