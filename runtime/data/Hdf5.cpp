#include "weft/runtime/data/Hdf5.h"

#include "weft/runtime/data/Hdf5Datasets.h"

namespace weft {

StoredArray storedInMemory(NamedArray named) {
  auto array = std::make_shared<const Array>(std::move(named.array));
  return {std::move(named.name), array->type, array->shape,
          [array] { return Result<Array>(*array); }};
}

namespace {
/// The file from which datasets are read.
struct Source {
  OpenFile file;
  std::string where;
  Hdf5Place place() const {
    return {file, where, "save the model again with Keras 3"};
  }
};
} // namespace

static Result<Array> read(const Source &source, const Hdf5Dataset &set) {
  Array array = Array::zeros(set.type, set.shape);
  std::string name = source.where + ": " + set.name;
  bool complete = true;
  if (set.offset) {
    complete = readAt(source.file, *set.offset, array.bytes.data(),
                      array.bytes.size());
  } else {
    Result<OpenFile> unpacked = openTemporary(name, array.bytes.size());
    if (!unpacked)
      return unpacked.error();
    if (Status ok = unpackHdf5(source.place(), set.name, *unpacked); !ok)
      return ok.error();
    complete = readAt(*unpacked, 0, array.bytes.data(), array.bytes.size());
  }
  if (!complete)
    return Error{name +
                 ": has fewer bytes than its shape; the file was changed "
                 "while it was in use, or the disk fails"};
  return array;
}

Result<std::vector<StoredArray>>
openHdf5(OpenFile file, const std::string &where, const ReadLimits &limits) {
  auto source = std::make_shared<Source>(Source{std::move(file), where});
  Result<std::vector<Hdf5Dataset>> sets =
      listHdf5(source->place(), limits.bytes);
  if (!sets)
    return sets.error();
  std::vector<StoredArray> out;
  for (const Hdf5Dataset &set : *sets)
    out.push_back({set.name, set.type, set.shape,
                   [source, set] { return read(*source, set); }});
  return out;
}

Result<std::vector<StoredArray>> openHdf5(const std::string &path,
                                          const ReadLimits &limits) {
  Result<OpenFile> file = openToRead(path);
  if (!file)
    return file.error();
  return openHdf5(std::move(*file), path, limits);
}

} // namespace weft
