#include "weft/data/formats/Hdf5.h"

#include "weft/data/formats/Hdf5Library.h"

#include <cerrno>
#include <unistd.h>

namespace weft {

using namespace hdf5;

namespace {

bool writeName(hid_t object, const char *key, const std::string &value) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose),
      space(H5Screate(H5S_SCALAR), H5Sclose);
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  Handle attribute(
      H5Acreate2(object, key, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  const char *text = value.c_str();
  return attribute >= 0 &&
         H5Awrite(attribute, type, static_cast<const void *>(&text)) >= 0;
}

/// The type of a dataset in the file and of elements in memory.
class DatasetType {
public:
  explicit DatasetType(ElementType type)
      : own(createType(type), H5Tclose), stored(typeOf(type, true)),
        memory(typeOf(type, false)) {
    if (stored < 0)
      stored = memory = own;
  }
  hid_t inFile() const { return stored; }
  hid_t inMemory() const { return memory; }

private:
  Handle own;
  hid_t stored, memory;
};

/// Writes elements to a block of a dataset.
bool writeBlock(hid_t set, const DatasetType &type, const ArrayBlock &block,
                const Array &values) {
  if (block.starts.empty())
    return H5Dwrite(set, type.inMemory(), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                    values.bytes.data()) >= 0;
  std::vector<hsize_t> starts(block.starts.begin(), block.starts.end()),
      sizes(block.sizes.begin(), block.sizes.end());
  Handle space(H5Dget_space(set), H5Sclose),
      memory(H5Screate_simple(int(sizes.size()), sizes.data(), nullptr),
             H5Sclose);
  return H5Sselect_hyperslab(space, H5S_SELECT_SET, starts.data(), nullptr,
                             sizes.data(), nullptr) >= 0 &&
         H5Dwrite(set, type.inMemory(), memory, space, H5P_DEFAULT,
                  values.bytes.data()) >= 0;
}

/// Creates a dataset without elements and without the time of its creation, so
/// that equal arrays give equal bytes.
hid_t createDataset(hid_t file, hid_t links, const StoredArray &array,
                    const DatasetType &type) {
  std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  Handle space(sizes.empty()
                   ? H5Screate(H5S_SCALAR)
                   : H5Screate_simple(int(sizes.size()), sizes.data(), nullptr),
               H5Sclose);
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation, false);
  return H5Dcreate2(file, array.name.c_str(), type.inFile(), space, links,
                    creation, H5P_DEFAULT);
}

} // namespace

struct Hdf5Writer::Contents {
  std::string where;
  OpenFile to;
  Quiet quiet;
  hid_t file = -1;
  Status failure;

  Contents(std::string where, OpenFile to)
      : where(std::move(where)), to(std::move(to)) {}
  ~Contents() { close(); }
  bool close() {
    hid_t open = std::exchange(file, hid_t(-1));
    return open < 0 || H5Fclose(open) >= 0;
  }
  void fail(std::string why) {
    if (failure)
      failure = Error{where + ": " + std::move(why)};
  }
};

Hdf5Writer::Hdf5Writer(std::unique_ptr<Contents> contents)
    : contents(std::move(contents)) {}
Hdf5Writer::Hdf5Writer(Hdf5Writer &&other) noexcept = default;
Hdf5Writer::~Hdf5Writer() = default;

static hid_t linksWithGroups() {
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  return links;
}

Result<Hdf5Writer> Hdf5Writer::create(const std::string &where,
                                      const std::vector<Hdf5Group> &groups) {
  // At exit the library would retry closes that failed, and crash.
  H5dont_atexit();
  std::string path;
  Result<OpenFile> to = openNamedTemporary(where, path);
  if (!to)
    return to.error();
  auto contents = std::make_unique<Contents>(where, std::move(*to));
  contents->file =
      H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  unlink(path.c_str()); // both file handles stay valid
  if (contents->file < 0)
    return temporaryError(where);
  Handle links(linksWithGroups(), H5Pclose);
  for (const Hdf5Group &group : groups) {
    Handle id(H5Gcreate2(contents->file, group.path.c_str(), links, H5P_DEFAULT,
                         H5P_DEFAULT),
              H5Gclose);
    if (id < 0 || (!group.name.empty() && !writeName(id, "name", group.name)))
      return Error{where + ": group " + group.path +
                   " cannot be written; is it given twice?"};
  }
  return Hdf5Writer(std::move(contents));
}

Status Hdf5Writer::add(const StoredArray &array) {
  ElementType carrier = carrierOf(array.type);
  Handle links(linksWithGroups(), H5Pclose);
  DatasetType type(carrier);
  Handle set(createDataset(contents->file, links, array, type), H5Dclose);
  bool isWritten = set >= 0 && (carrier != ElementType::BFloat16 ||
                                writeName(set, "dtype", "bfloat16"));
  Status read =
      array.visitBlocks([&](const ArrayBlock &block, const Array &values) {
        isWritten =
            isWritten && writeBlock(set, type, block, convert(values, carrier));
        return Status();
      });
  if (!isWritten)
    contents->fail(array.name +
                   " cannot be written; is it given twice, or the folder "
                   "of temporary files (TMPDIR) full?");
  return read;
}

Result<OpenFile> Hdf5Writer::finish() {
  if (!contents->close())
    contents->failure = temporaryError(contents->where);
  if (!contents->failure)
    return contents->failure.error();
  return std::move(contents->to);
}

Status addAll(const std::vector<StoredArray> &arrays, Hdf5Writer *writer) {
  if (!writer)
    return readAll(arrays);
  for (const StoredArray &array : arrays)
    if (Status ok = writer->add(array); !ok)
      return ok;
  return {};
}

} // namespace weft
