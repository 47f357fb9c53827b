#include "weft/data/sources/ArrayFile.h"

#include "weft/data/formats/Hdf5Datasets.h"
#include "weft/data/formats/ZipDirectory.h"
#include "weft/data/sources/CsvTable.h"
#include "weft/data/sources/ImageFolder.h"
#include "weft/data/sources/RowCollector.h"

#include <algorithm>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

static Error isScalar(const std::string &name) {
  return {name + ": is a scalar; it needs a first dimension of samples"};
}

static Result<Rows> inMemory(Result<Array> array, const std::string &name) {
  if (!array)
    return array.error();
  if (array->shape.empty())
    return isScalar(name);
  return Rows(std::make_shared<MemoryRows>(std::move(*array)));
}

/// Refuses scalars, and Fortran order, in which rows are not contiguous.
static Status checkOrder(const NpyHeader &header, const std::string &name) {
  if (header.shape.empty())
    return isScalar(name);
  if (!header.fortranOrder || header.shape.size() < 2)
    return {};
  return Error{name +
               ": has its first index fastest (Fortran's order), so that "
               "no sample can be read alone; save "
               "numpy.ascontiguousarray of it, or keep it in memory with " +
               Option{"data_memory"}};
}

/// Rows of an .npy file of `bytes` bytes from `offset` on, with a CRC if it is
/// known.
static Result<Rows> rowsInFile(const std::string &name, const std::string &path,
                               uint64_t offset, uint64_t bytes,
                               std::optional<uint32_t> crc = std::nullopt) {
  Result<OpenFile> file = openToRead(path);
  if (!file)
    return file.error();
  std::vector<uint8_t> start(std::min(bytes, longestNpyHeader));
  ssize_t got = pread(*file, start.data(), start.size(), off_t(offset));
  Result<NpyHeader> header = parseNpyHeader(
      start.data(), size_t(std::max<ssize_t>(got, 0)), bytes, name);
  if (!header)
    return header.error();
  if (Status ok = checkOrder(*header, name); !ok)
    return ok.error();
  FileRows::Place place{offset + header->dataOffset, header->swapped};
  if (crc)
    place.crc = std::make_shared<OrderedCrc>(
        name, std::span(start).first(header->dataOffset),
        bytes - header->dataOffset, *crc);
  return Rows(std::make_shared<FileRows>(name, std::move(*file), place,
                                         header->type, header->shape));
}

/// Takes the chunks of an .npy file, its header first.
namespace {
class NpyChunks {
public:
  NpyChunks(std::string name, uint64_t size, const SourceOptions &options)
      : name(std::move(name)), size(size), rows(this->name, options.inMemory) {}
  Status take(const uint8_t *chunk, size_t bytes) {
    if (header)
      return rows.add(chunk, bytes);
    start.insert(start.end(), chunk, chunk + bytes);
    if (start.size() < std::min(size, longestNpyHeader))
      return {};
    Result<NpyHeader> read =
        parseNpyHeader(start.data(), start.size(), size, name);
    if (!read)
      return read.error();
    if (Status ok = checkOrder(*read, name); !ok)
      return ok;
    header = *read;
    return rows.add(start.data() + read->dataOffset,
                    start.size() - read->dataOffset);
  }
  Result<Rows> finish() {
    if (!header)
      return Error{name + ": is empty; save it with numpy.savez"};
    return rows.finish(header->type, header->shape, header->swapped);
  }

private:
  std::string name;
  uint64_t size;
  RowCollector rows;
  std::vector<uint8_t> start;
  std::optional<NpyHeader> header;
};

class NpzArrays final : public ArrayFile {
public:
  NpzArrays(ZipReader zip, NpzFile file, const SourceOptions &options)
      : ArrayFile(zip.path()), zip(std::move(zip)), file(std::move(file)),
        options(options) {}
  std::vector<std::string> keys() const override { return file.keys(); }
  Result<Rows> rows(const std::string &key, const Shape &) override {
    const ZipReader::Member *member = zip.member(key + ".npy");
    std::string name = path() + ":" + key;
    if (!member || member->size <= options.inMemory)
      return inMemory(file.read(key), name); // the error lists the arrays
    if (!member->isStored) {
      NpyChunks chunks(name, member->size, options);
      Status ok = zip.readInChunks(member->name,
                                   [&](const uint8_t *chunk, size_t bytes) {
                                     return chunks.take(chunk, bytes);
                                   });
      return ok ? chunks.finish() : Result<Rows>(ok.error());
    }
    Result<uint64_t> place = zipDataPlace(path(), member->header, member->size);
    return place ? rowsInFile(name, path(), *place, member->size, member->crc)
                 : Result<Rows>(place.error());
  }

private:
  ZipReader zip;
  NpzFile file;
  SourceOptions options;
};

class Hdf5Arrays final : public ArrayFile {
public:
  Hdf5Arrays(std::string path, std::vector<Hdf5Dataset> sets,
             const SourceOptions &options)
      : ArrayFile(std::move(path)), sets(std::move(sets)), options(options) {}
  std::vector<std::string> keys() const override {
    std::vector<std::string> out;
    for (const Hdf5Dataset &set : sets)
      out.push_back(set.name);
    return out;
  }
  Result<Rows> rows(const std::string &key, const Shape &) override {
    auto set =
        std::find_if(sets.begin(), sets.end(),
                     [&](const Hdf5Dataset &one) { return one.name == key; });
    if (set == sets.end())
      return missing(key);
    std::string name = path() + ":" + key;
    if (set->shape.empty())
      return isScalar(name);
    std::optional<OpenFile> file;
    uint64_t offset = set->offset.value_or(0);
    RowCollector unpacked(name, 0);
    if (set->offset) {
      Result<OpenFile> opened = openToRead(path());
      if (!opened)
        return opened.error();
      file.emplace(std::move(*opened));
    } else {
      Result<int> to = unpacked.descriptor();
      if (!to)
        return to.error();
      if (Status ok = unpackHdf5(path(), key, *to); !ok)
        return ok.error();
      file.emplace(dup(*to));
    }
    return kept(std::make_shared<FileRows>(name, std::move(*file),
                                           FileRows::Place{offset, false},
                                           set->type, set->shape));
  }

private:
  Error missing(const std::string &key) const {
    std::string known;
    for (const Hdf5Dataset &set : sets)
      known += (known.empty() ? "" : ", ") + set.name;
    return {path() + ": has no array '" + key + "'; it has " +
            (known.empty() ? "no array at all" : known)};
  }
  /// The rows, copied to memory if they are small.
  Result<Rows> kept(Rows rows) const {
    uint64_t bytes = uint64_t(rows->rows()) * rows->rowBytes();
    if (bytes > options.inMemory)
      return rows;
    Array array = Array::zeros(rows->type(), rows->shape());
    std::vector<int64_t> all(static_cast<size_t>(rows->rows()));
    std::iota(all.begin(), all.end(), 0);
    if (Status ok = rows->read(all, array.bytes.data()); !ok)
      return ok.error();
    return Rows(std::make_shared<MemoryRows>(std::move(array)));
  }
  std::vector<Hdf5Dataset> sets;
  SourceOptions options;
};
} // namespace

bool ArrayFile::contains(std::string_view key) const {
  std::vector<std::string> known = keys();
  return std::find(known.begin(), known.end(), key) != known.end();
}

static bool isFolder(const std::string &path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

static constexpr std::string_view kHdf5 = "\x89HDF";

Result<SourceKind> sourceKind(const std::string &path,
                              const SourceOptions &options) {
  if (isFolder(path))
    return SourceKind::Images;
  Result<std::string> magic = readStart(path, 4);
  if (!magic)
    return magic.error();
  bool namesColumns = path.ends_with(".csv") || !options.inputs.empty() ||
                      !options.targets.empty();
  bool holdsArrays = *magic == kHdf5 || magic->starts_with("PK") ||
                     magic->starts_with("\x93NUM"); // a .npy file
  return namesColumns && !holdsArrays ? SourceKind::Table : SourceKind::Arrays;
}

Status checkSourceOptions(const std::vector<std::string> &paths,
                          const SourceOptions &options) {
  const ImageOptions &images = options.images;
  std::optional<Option> ofImages, ofTables;
  if (images.interpolation)
    ofImages = Option{"interpolation"};
  else if (images.cropToAspectRatio)
    ofImages = Option{"crop_to_aspect_ratio"};
  else if (!images.classNames.empty())
    ofImages = Option{"class_names"};
  else if (images.seed)
    ofImages = Option{"image_seed"};
  if (!options.inputs.empty())
    ofTables = Option{"inputs"};
  else if (!options.targets.empty())
    ofTables = Option{"targets"};
  std::string others;
  for (const std::string &path : paths) {
    Result<SourceKind> kind = sourceKind(path, options);
    if (!kind)
      return {}; // reported where the file is read
    if (*kind == SourceKind::Images)
      ofImages.reset();
    if (*kind == SourceKind::Table)
      ofTables.reset();
    others += (others.empty() ? "" : ", ") + path;
  }
  if (ofImages || ofTables)
    return Error{(ofImages ? *ofImages : *ofTables) + " has no effect on " +
                 others + ": it is for " +
                 (ofImages ? "a folder of images" : "a table (.csv)") +
                 "; leave it out"};
  return {};
}

Result<std::unique_ptr<ArrayFile>>
ArrayFile::open(const std::string &path, const SourceOptions &options) {
  using Made = std::unique_ptr<ArrayFile>;
  Result<SourceKind> kind = sourceKind(path, options);
  if (!kind)
    return kind.error();
  if (*kind == SourceKind::Images)
    return openImageFolder(path, options);
  if (*kind == SourceKind::Table)
    return openCsvTable(path, options);
  Result<std::string> magic = readStart(path, 4);
  if (!magic)
    return magic.error();
  if (*magic == kHdf5) {
    auto sets = listHdf5(path);
    if (!sets)
      return sets.error();
    return Made(std::make_unique<Hdf5Arrays>(path, std::move(*sets), options));
  }
  Result<ZipReader> zip = ZipReader::open(path, options.limits);
  if (!zip)
    return zip.error();
  Result<NpzFile> file = NpzFile::open(path, options.limits);
  if (!file)
    return file.error();
  return Made(
      std::make_unique<NpzArrays>(std::move(*zip), std::move(*file), options));
}

Result<Rows> openRows(const std::string &text, const SourceOptions &options) {
  Result<ArraySource> source = parseArraySource(text);
  if (!source)
    return source.error();
  Result<Rows> rows = Error{};
  if (source->key.empty()) {
    Result<uint64_t> size = regularFileSize(source->path);
    if (!size)
      return size.error();
    rows = *size <= options.inMemory
               ? inMemory(readNpy(source->path, options.limits), source->path)
               : rowsInFile(source->path, source->path, 0, *size);
  } else {
    Result<std::unique_ptr<ArrayFile>> file =
        ArrayFile::open(source->path, options);
    if (!file)
      return file.error();
    rows = (*file)->rows(source->key, {});
  }
  if (!rows || (!source->begin && !source->end))
    return rows;
  Result<std::pair<int64_t, int64_t>> bounds =
      sliceBounds(*source, (*rows)->shape());
  if (!bounds)
    return bounds.error();
  return sliceOf(std::move(*rows), bounds->first, bounds->second);
}

} // namespace weft
