#include "weft/data/formats/Npz.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace weft {

Result<NpzFile> NpzFile::open(const std::string &path,
                              const ReadLimits &limits) {
  Result<ZipReader> zip = ZipReader::open(path, limits);
  if (!zip)
    return zip.error();
  NpzFile file(std::move(*zip));
  for (const ZipReader::Member &member : file.zip.members())
    if (member.name.ends_with(".npy"))
      file.names.push_back(member.name.substr(0, member.name.size() - 4));
  return file;
}

bool NpzFile::contains(std::string_view key) const {
  return std::find(names.begin(), names.end(), key) != names.end();
}

Result<Array> NpzFile::read(std::string_view key) const {
  if (!contains(key)) {
    std::string known;
    for (size_t i = 0; i < names.size() && i < 20; ++i)
      known += (i ? ", " : "") + names[i];
    return Error{path() + ": has no array '" + std::string(key) + "'; it has " +
                 (names.empty() ? "no array at all" : known) +
                 (names.size() > 20 ? ", ..." : "")};
  }
  std::string member = std::string(key) + ".npy";
  Result<std::vector<uint8_t>> bytes = zip.read(member);
  if (!bytes)
    return bytes.error();
  return parseNpy(std::move(*bytes), path() + ": " + std::string(key));
}

Result<std::vector<NamedArray>> readNpz(const std::string &path,
                                        const ReadLimits &limits) {
  Result<NpzFile> file = NpzFile::open(path, limits);
  if (!file)
    return file.error();
  std::vector<NamedArray> out;
  for (const std::string &key : file->keys()) {
    Result<Array> array = file->read(key);
    if (!array)
      return array.error();
    out.push_back({key, std::move(*array)});
  }
  return out;
}

static void addNpy(ZipWriter &writer, const NamedArray &named) {
  Array array = npyArray(named.array);
  std::string header = npyHeader(array.type, array.shape);
  writer.add(named.name + ".npy", {{header.data(), header.size()},
                                   {array.bytes.data(), array.bytes.size()}});
}

Status addNpy(ZipWriter &writer, const StoredArray &array) {
  ElementType type = npyType(array.type);
  std::string header = npyHeader(type, array.shape);
  uint64_t count = uint64_t(*elementCount(array.shape));
  writer.begin(array.name + ".npy", header.size() + count * byteWidth(type));
  writer.write(header.data(), header.size());
  Status read = array.visitBlocks([&](const ArrayBlock &, const Array &values) {
    Array written = npyArray(values);
    writer.write(written.bytes.data(), written.bytes.size());
    return Status();
  });
  writer.end();
  return read;
}

Status writeNpz(OutputFile &file, const std::vector<NamedArray> &arrays) {
  ZipWriter writer(file);
  for (const NamedArray &named : arrays)
    addNpy(writer, named);
  writer.finish();
  return file.commit();
}

Status writeNpz(const std::string &path,
                const std::vector<NamedArray> &arrays) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  return writeNpz(*file, arrays);
}

Status writeNpz(const std::string &path, const std::vector<StoredArray> &arrays,
                bool writesFile) {
  if (!writesFile)
    return readAll(arrays);
  Result<OutputFile> file = openForArrays(path, arrays);
  if (!file)
    return file.error();
  ZipWriter writer(*file);
  for (const StoredArray &array : arrays)
    if (Status ok = addNpy(writer, array); !ok)
      return ok;
  writer.finish();
  return file->commit();
}

namespace {
/// An integer, or nothing for empty text; false when it is neither.
bool parseBound(std::string_view text, std::optional<int64_t> &out) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  if (text.empty())
    return true;
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size())
    return false;
  out = value;
  return true;
}

/// The error of a text that names no array.
Error nameless(const std::string &text) {
  std::error_code ignored;
  if (std::filesystem::is_directory(text, ignored))
    return Error{
        text + ": is a folder, not an array; a folder of images is given by " +
        Option{"data"}};
  return Error{text + ": names no array; write FILE.npz:KEY, FILE.npy or "
                      "FILE.h5:KEY"};
}
} // namespace

Result<ArraySource> parseArraySource(const std::string &text) {
  ArraySource source;
  std::string_view rest = text;
  size_t open = rest.rfind('[');
  if (rest.ends_with(']') && open != std::string_view::npos) {
    std::string_view slice = rest.substr(open + 1, rest.size() - open - 2);
    size_t colon = slice.find(':');
    if (colon == std::string_view::npos ||
        !parseBound(slice.substr(0, colon), source.begin) ||
        !parseBound(slice.substr(colon + 1), source.end))
      return Error{
          text + ": slice [" + std::string(slice) +
          "] is not of the form [begin:end]; write for example [0:1280]"};
    rest = rest.substr(0, open);
  }
  // Whether a key follows the colon after the ending; paths may contain colons.
  bool isKeyed = false;
  for (std::string_view ending : {".npz:", ".h5:", ".hdf5:"}) {
    size_t at = rest.find(ending);
    if (at == std::string_view::npos)
      continue;
    source.key = rest.substr(at + ending.size());
    rest = rest.substr(0, at + ending.size() - 1);
    isKeyed = true;
    if (source.key.empty() || at == 0)
      return nameless(text);
    break;
  }
  if (!isKeyed && (!rest.ends_with(".npy") || rest.size() <= 4))
    return nameless(text);
  source.path = rest;
  return source;
}

Result<std::pair<int64_t, int64_t>> sliceBounds(const ArraySource &source,
                                                const Shape &shape) {
  std::string where =
      source.path + (source.key.empty() ? "" : ":" + source.key);
  if (shape.empty())
    return Error{where +
                 ": is a scalar and cannot be sliced; leave out [begin:end]"};
  int64_t size = shape[0];
  auto bound = [&](std::optional<int64_t> value, int64_t otherwise) {
    int64_t at = value.value_or(otherwise);
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  int64_t begin = bound(source.begin, 0), end = bound(source.end, size);
  if (begin >= end)
    return Error{where + ": slice [" +
                 std::to_string(source.begin.value_or(0)) + ":" +
                 std::to_string(source.end.value_or(size)) + "] of " +
                 std::to_string(size) + " rows is empty; give begin < end"};
  return std::pair(begin, end);
}

Result<Array> loadArray(const ArraySource &source, const ReadLimits &limits) {
  Result<Array> array = Error{};
  if (source.key.empty()) {
    array = readNpy(source.path, limits);
  } else {
    Result<NpzFile> file = NpzFile::open(source.path, limits);
    if (!file)
      return file.error();
    array = file->read(source.key);
  }
  if (!array || (!source.begin && !source.end))
    return array;
  Result<std::pair<int64_t, int64_t>> bounds =
      sliceBounds(source, array->shape);
  if (!bounds)
    return bounds.error();
  return rows(*array, bounds->first, bounds->second);
}

Result<Array> loadArray(const std::string &text, const ReadLimits &limits) {
  Result<ArraySource> source = parseArraySource(text);
  if (!source)
    return source.error();
  return loadArray(*source, limits);
}

} // namespace weft
