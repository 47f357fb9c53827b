#include "weft/runtime/data/Hdf5.h"

#include "weft/runtime/data/Hdf5Library.h"

#include <cerrno>
#include <sys/mman.h>
#include <sys/stat.h>
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

bool writeDataset(hid_t file, hid_t links, const std::string &name,
                  const Array &given) {
  const Array array = convert(given, carrierOf(given.type));
  std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  Handle space(sizes.empty()
                   ? H5Screate(H5S_SCALAR)
                   : H5Screate_simple(int(sizes.size()), sizes.data(), nullptr),
               H5Sclose);
  // Opaque types have no tag: only then h5py reads the elements as bytes.
  bool opaque = array.type == ElementType::BFloat16;
  bool isComplex = partType(array.type) != array.type;
  Handle half(opaque      ? H5Tcreate(H5T_OPAQUE, 2)
              : isComplex ? H5Tcreate(H5T_COMPOUND, byteWidth(array.type))
                          : H5Tcopy(H5T_IEEE_F32LE),
              H5Tclose);
  if (isComplex) { // as in h5py
    H5Tinsert(half, "r", 0, typeOf(partType(array.type), true));
    H5Tinsert(half, "i", byteWidth(array.type) / 2,
              typeOf(partType(array.type), true));
  }
  if (array.type == ElementType::Float16) {
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_ebias(half, 15);
  }
  hid_t stored = typeOf(array.type, true), memory = typeOf(array.type, false);
  if (stored < 0)
    stored = memory = half;
  Handle set(H5Dcreate2(file, name.c_str(), stored, space, links, H5P_DEFAULT,
                        H5P_DEFAULT),
             H5Dclose);
  if (set < 0)
    return false;
  if (!array.bytes.empty() && H5Dwrite(set, memory, H5S_ALL, H5S_ALL,
                                       H5P_DEFAULT, array.bytes.data()) < 0)
    return false;
  return !opaque || writeName(set, "dtype", "bfloat16");
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
  // The library's exit handler is disabled: it would close failed identifiers
  // again, and crash.
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

void Hdf5Writer::add(const std::string &name, const Array &array) {
  Handle links(linksWithGroups(), H5Pclose);
  if (!writeDataset(contents->file, links, name, array))
    contents->fail(name +
                   " cannot be written; is it given twice, or the folder "
                   "of temporary files (TMPDIR) full?");
}

Status Hdf5Writer::finish(const Take &take) {
  if (!contents->close())
    contents->failure = temporaryError(contents->where);
  if (!contents->failure)
    return contents->failure;
  struct stat info;
  if (fstat(contents->to, &info) != 0)
    return temporaryError(contents->where);
  size_t size = size_t(info.st_size);
  void *bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, contents->to, 0);
  if (bytes == MAP_FAILED)
    return temporaryError(contents->where);
  take(bytes, size);
  munmap(bytes, size);
  return {};
}

Status addAll(const std::vector<StoredArray> &arrays, Hdf5Writer *writer) {
  for (const StoredArray &array : arrays) {
    Result<Array> value = array.read();
    if (!value)
      return value.error();
    if (writer)
      writer->add(array.name, *value);
  }
  return {};
}

} // namespace weft
