#include "weft/data/formats/Hdf5.h"

#include "weft/data/formats/Hdf5Datasets.h"

namespace weft {

namespace {
/// The file from which datasets are read.
struct Source {
  OpenFile file;
  std::string where;
  Hdf5Place place() const {
    return {file, where, "save the model again with Keras 3"};
  }
};

/// Reads one dataset. Elements that the file has in one piece, as in memory,
/// are read from it, others from an unpacked copy, which is made when the first
/// block is read.
class DatasetReader {
public:
  DatasetReader(std::shared_ptr<const Source> source, Hdf5Dataset set)
      : source(std::move(source)), set(std::move(set)) {}

  Result<Array> read(const ArrayBlock &block) {
    if (!set.offset && !unpacked)
      if (Status ok = unpack(); !ok)
        return ok.error();
    std::optional<Array> values =
        readBlockAt(set.offset ? source->file : *unpacked,
                    set.offset.value_or(0), set.type, block);
    if (!values)
      return Error{name() +
                   ": has fewer bytes than its shape; the file was changed "
                   "while it was in use, or the disk fails"};
    if (block.first + uint64_t(block.count) == all())
      unpacked.reset(); // the last block
    return std::move(*values);
  }

private:
  std::string name() const { return source->where + ": " + set.name; }
  uint64_t all() const { return uint64_t(*elementCount(set.shape)); }
  Status unpack() {
    Result<OpenFile> file = openTemporary(name(), all() * byteWidth(set.type));
    if (!file)
      return file.error();
    if (Status ok = unpackHdf5(source->place(), set.name, *file); !ok)
      return ok;
    unpacked.emplace(std::move(*file));
    return {};
  }

  std::shared_ptr<const Source> source;
  Hdf5Dataset set;
  std::optional<OpenFile> unpacked;
};
} // namespace

Result<std::vector<StoredArray>>
openHdf5(OpenFile file, const std::string &where, const ReadLimits &limits) {
  auto source = std::make_shared<Source>(Source{std::move(file), where});
  Result<std::vector<Hdf5Dataset>> sets =
      listHdf5(source->place(), limits.bytes);
  if (!sets)
    return sets.error();
  std::vector<StoredArray> out;
  for (const Hdf5Dataset &set : *sets) {
    auto reader = std::make_shared<DatasetReader>(source, set);
    out.push_back(
        {set.name, set.type, set.shape,
         [reader](const ArrayBlock &block) { return reader->read(block); }});
  }
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
