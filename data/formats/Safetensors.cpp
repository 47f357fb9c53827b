#include "weft/data/formats/Safetensors.h"

#include "weft/data/files/OpenFile.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

namespace weft {

using nlohmann::json;

namespace {

constexpr uint64_t kLongestHeader = 100'000'000;

struct Code {
  const char *name;
  ElementType type;
};
constexpr Code codes[] = {
    {"F32", ElementType::Float32},       {"F64", ElementType::Float64},
    {"F16", ElementType::Float16},       {"BF16", ElementType::BFloat16},
    {"BOOL", ElementType::Bool},         {"I8", ElementType::Int8},
    {"I16", ElementType::Int16},         {"I32", ElementType::Int32},
    {"I64", ElementType::Int64},         {"U8", ElementType::UInt8},
    {"U16", ElementType::UInt16},        {"U32", ElementType::UInt32},
    {"U64", ElementType::UInt64},        {"F8_E4M3", ElementType::Float8E4M3FN},
    {"F8_E5M2", ElementType::Float8E5M2}};

const Code *codeNamed(const std::string &name) {
  auto found =
      std::find_if(std::begin(codes), std::end(codes),
                   [&](const Code &code) { return code.name == name; });
  return found == std::end(codes) ? nullptr : found;
}

/// The format's code of a type; null if it has none.
const Code *codeOf(ElementType type) {
  auto found =
      std::find_if(std::begin(codes), std::end(codes),
                   [&](const Code &code) { return code.type == type; });
  return found == std::end(codes) ? nullptr : found;
}

bool isPlace(const json &value) {
  return value.is_array() && value.size() == 2 &&
         value[0].is_number_unsigned() && value[1].is_number_unsigned();
}

/// Reads one entry of the header; sets `end` to the tensor's end.
Result<TensorInfo> readEntry(const std::string &where, const std::string &name,
                             const json &entry, uint64_t &end) {
  Error damaged{where + ": tensor " + name +
                ": has no dtype, shape and data_offsets as the format wants "
                "them; the file is damaged"};
  if (!entry.is_object() || !entry.contains("dtype") ||
      !entry["dtype"].is_string() || !entry.contains("shape") ||
      !entry["shape"].is_array() || entry["shape"].size() > 64 ||
      !entry.contains("data_offsets") || !isPlace(entry["data_offsets"]))
    return damaged;
  const Code *code = codeNamed(entry["dtype"].get<std::string>());
  if (!code)
    return Error{where + ": tensor " + name + ": has dtype " +
                 entry["dtype"].dump() +
                 ", which is not known; convert it to F32"};
  TensorInfo tensor{name, code->type, {}, entry["data_offsets"][0]};
  for (const json &size : entry["shape"]) {
    if (!size.is_number_unsigned() || size.get<uint64_t>() > INT64_MAX)
      return damaged;
    tensor.shape.push_back(size.get<int64_t>());
  }
  end = entry["data_offsets"][1].get<uint64_t>();
  std::optional<int64_t> count = elementCount(tensor.shape);
  uint64_t bytes = 0;
  if (!count ||
      __builtin_mul_overflow(uint64_t(*count), byteWidth(code->type), &bytes) ||
      end < tensor.offset || bytes != end - tensor.offset)
    return Error{where + ": tensor " + name + ": shape " + text(tensor.shape) +
                 " of " + code->name + " does not fit the bytes between " +
                 std::to_string(tensor.offset) + " and " + std::to_string(end) +
                 "; the file is damaged"};
  return tensor;
}

} // namespace

bool startsLikeSafetensors(std::string_view start) {
  uint64_t size = 0;
  if (start.size() < 9)
    return false;
  std::memcpy(&size, start.data(), sizeof size);
  return size <= kLongestHeader && start[8] == '{';
}

/// Reads the header's tensors and checks them against the size of the file.
static Result<std::vector<TensorInfo>> readHeader(const std::string &path,
                                                  const ReadLimits &limits) {
  Result<uint64_t> size = regularFileSize(path);
  if (!size)
    return size.error();
  Result<std::string> start = readStart(path, 8);
  if (!start)
    return start.error();
  uint64_t length = 0;
  std::memcpy(&length, start->data(), std::min<size_t>(8, start->size()));
  if (*size < 8 || length > std::min(*size - 8, kLongestHeader) ||
      *size > limits.bytes)
    return Error{path + ": header: has " + std::to_string(length) +
                 " bytes, the file " + std::to_string(*size) +
                 " and the limits are " + std::to_string(kLongestHeader) +
                 " and " + std::to_string(limits.bytes) +
                 "; it was cut off or is damaged"};
  start = readStart(path, 8 + length);
  if (!start)
    return start.error();
  json header = json::parse(start->begin() + 8, start->end(), nullptr, false);
  if (!header.is_object())
    return Error{path + ": header: is no object of JSON; the file is damaged"};
  std::vector<TensorInfo> out;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    uint64_t end = 0;
    Result<TensorInfo> tensor = readEntry(path, name, entry, end);
    if (!tensor)
      return tensor.error();
    places.emplace_back(tensor->offset, end);
    tensor->offset += 8 + length;
    out.push_back(std::move(*tensor));
  }
  std::sort(places.begin(), places.end());
  uint64_t at = 0;
  for (auto [begin, end] : places)
    at = begin == at ? end : UINT64_MAX;
  if (at != *size - 8 - length)
    return Error{path + ": its tensors do not cover the " +
                 std::to_string(*size - 8 - length) +
                 " bytes behind the header without gaps; it was cut off or is "
                 "damaged"};
  return out;
}

Result<std::vector<StoredArray>> openSafetensors(const std::string &path,
                                                 const ReadLimits &limits) {
  Result<std::vector<TensorInfo>> tensors = readHeader(path, limits);
  if (!tensors)
    return tensors.error();
  Result<OpenFile> opened = openToRead(path);
  if (!opened)
    return opened.error();
  auto file = std::make_shared<const OpenFile>(std::move(*opened));
  std::vector<StoredArray> out;
  for (const TensorInfo &tensor : *tensors)
    out.push_back(
        {tensor.name, tensor.type, tensor.shape,
         [file, path, tensor](const ArrayBlock &block) -> Result<Array> {
           std::optional<Array> values =
               readBlockAt(*file, tensor.offset, tensor.type, block);
           if (values)
             return std::move(*values);
           return Error{path + ": tensor " + tensor.name +
                        ": cannot be read; the file was changed "
                        "while it was in use, or the disk fails"};
         }});
  return out;
}

SafetensorsWriter::SafetensorsWriter(OutputFile &file,
                                     const std::vector<TensorInfo> &tensors)
    : file(file) {
  nlohmann::ordered_json header = {{"__metadata__", {{"format", "keras"}}}};
  uint64_t at = 0;
  for (const TensorInfo &tensor : tensors) {
    uint64_t end =
        at + uint64_t(*elementCount(tensor.shape)) * byteWidth(tensor.type);
    header[tensor.name] = {{"dtype", codeOf(tensor.type)->name},
                           {"shape", tensor.shape},
                           {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.append(7 - (text.size() + 7) % 8,
              ' '); // tensors begin at multiples of 8
  uint64_t size = text.size();
  file.write(&size, sizeof size);
  file.write(text);
}

bool hasSafetensorsType(ElementType type) { return codeOf(type) != nullptr; }

} // namespace weft
