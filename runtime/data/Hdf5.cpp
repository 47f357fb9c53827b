#include "weft/runtime/data/Hdf5.h"

#include "weft/runtime/data/Isolation.h"
#include "weft/runtime/program/WriteAll.h"

#include <cstring>
#define H5_USE_110_API // one spelling for the releases 1.10 to 1.14
#include <hdf5.h>

namespace weft {

namespace {

/// An identifier that closes itself.
class Handle {
public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id(id), close(close) {}
  Handle(const Handle &) = delete;
  ~Handle() {
    if (id >= 0)
      close(id);
  }
  operator hid_t() const { return id; }

private:
  hid_t id;
  herr_t (*close)(hid_t);
};

/// HDF5 prints its errors; ours are returned.
class Quiet {
public:
  Quiet() {
    H5Eget_auto2(H5E_DEFAULT, &function, &data);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function, data); }

private:
  H5E_auto2_t function = nullptr;
  void *data = nullptr;
};

/// A type in the file (little-endian) and in memory.
hid_t hdf5Type(ElementType type, bool inFile) {
  switch (type) {
  case ElementType::Float32:
    return inFile ? H5T_IEEE_F32LE : H5T_NATIVE_FLOAT;
  case ElementType::Float64:
    return inFile ? H5T_IEEE_F64LE : H5T_NATIVE_DOUBLE;
  case ElementType::Int8:
    return inFile ? H5T_STD_I8LE : H5T_NATIVE_INT8;
  case ElementType::Int16:
    return inFile ? H5T_STD_I16LE : H5T_NATIVE_INT16;
  case ElementType::Int32:
    return inFile ? H5T_STD_I32LE : H5T_NATIVE_INT32;
  case ElementType::Int64:
    return inFile ? H5T_STD_I64LE : H5T_NATIVE_INT64;
  case ElementType::Bool:
  case ElementType::UInt8:
    return inFile ? H5T_STD_U8LE : H5T_NATIVE_UINT8;
  case ElementType::UInt16:
    return inFile ? H5T_STD_U16LE : H5T_NATIVE_UINT16;
  case ElementType::UInt32:
    return inFile ? H5T_STD_U32LE : H5T_NATIVE_UINT32;
  case ElementType::UInt64:
    return inFile ? H5T_STD_U64LE : H5T_NATIVE_UINT64;
  default:
    return -1; // no type of the library's own
  }
}

/// What Keras writes for bfloat16: two opaque bytes.
std::optional<ElementType> elementType(hid_t type) {
  size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
  case H5T_FLOAT:
    if (size == 8)
      return ElementType::Float64;
    return size == 4   ? std::optional(ElementType::Float32)
           : size == 2 ? std::optional(ElementType::Float16)
                       : std::nullopt;
  case H5T_OPAQUE:
    return size == 2 ? std::optional(ElementType::BFloat16) : std::nullopt;
  case H5T_COMPOUND: // h5py's complex numbers
    if (H5Tget_nmembers(type) != 2 || H5Tget_member_class(type, 0) != H5T_FLOAT)
      return std::nullopt;
    return size == 8    ? std::optional(ElementType::Complex64)
           : size == 16 ? std::optional(ElementType::Complex128)
                        : std::nullopt;
  case H5T_ENUM: // NumPy's bool
    return size == 1 ? std::optional(ElementType::Bool) : std::nullopt;
  case H5T_INTEGER: {
    bool isSigned = H5Tget_sign(type) != H5T_SGN_NONE;
    for (int i = int(ElementType::Int8); i <= int(ElementType::UInt64); ++i)
      if (byteWidth(ElementType(i)) == size &&
          isSigned == (i <= int(ElementType::Int64)))
        return ElementType(i);
    return std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Walks the groups of one file.
struct Walk {
  std::string where;
  uint64_t budget; ///< bytes that may still be allocated
  std::vector<NamedArray> out;
  std::string wrong; ///< the first complaint

  bool fail(const std::string &path, const std::string &what) {
    if (wrong.empty())
      wrong = where + ": " + path + ": " + what;
    return false;
  }
  bool group(hid_t parent, const std::string &path, int depth);
  bool dataset(hid_t parent, const std::string &name, const std::string &path);
  bool readRows(hid_t set, hid_t type, Array &array, const std::string &path);
};

herr_t visitLink(hid_t parent, const char *name, const H5L_info_t *info,
                 void *data) {
  auto &[walk, path, depth] =
      *static_cast<std::tuple<Walk *, std::string, int> *>(data);
  std::string child = path.empty() ? name : path + "/" + name;
  if (info->type != H5L_TYPE_HARD) {
    walk->fail(
        child,
        "is a soft or external link, which weights have no need of; refused");
    return -1;
  }
  H5O_info_t object;
  if (H5Oget_info_by_name(parent, name, &object, H5P_DEFAULT) < 0) {
    walk->fail(child, "cannot be read; the file is damaged");
    return -1;
  }
  if (object.type == H5O_TYPE_GROUP)
    return walk->group(parent, child, depth + 1) ? 0 : -1;
  if (object.type == H5O_TYPE_DATASET)
    return walk->dataset(parent, name, child) ? 0 : -1;
  return 0;
}

bool Walk::group(hid_t parent, const std::string &path, int depth) {
  if (depth > 64) // a hard link may make a cycle
    return fail(path,
                "is nested more than 64 groups deep; the file is damaged");
  size_t slash = path.rfind('/');
  std::string name =
      path.empty() ? "/"
                   : path.substr(slash == std::string::npos ? 0 : slash + 1);
  Handle id(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), H5Gclose);
  if (id < 0)
    return fail(path, "cannot be opened; the file is damaged");
  std::tuple<Walk *, std::string, int> data{this, path, depth};
  if (H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visitLink, &data) <
      0)
    return fail(path, "cannot be listed; the file is damaged");
  return true;
}

bool Walk::readRows(hid_t set, hid_t type, Array &array,
                    const std::string &path) {
  hid_t memory = hdf5Type(array.type, false);
  if (array.type == ElementType::Bool || memory < 0)
    memory = type; // opaque, enumeration and half: bytes as they are
  if (array.bytes.empty())
    return true;
  if (H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.bytes.data()) <
      0)
    return fail(path, "cannot be read; the file is damaged");
  return true;
}

bool Walk::dataset(hid_t parent, const std::string &name,
                   const std::string &path) {
  Handle set(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (set < 0)
    return fail(path, "cannot be opened; the file is damaged");
  Handle type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose);
  Handle plist(H5Dget_create_plist(set), H5Pclose);
  if (H5Pget_external_count(plist) > 0 || H5Pget_layout(plist) == H5D_VIRTUAL)
    return fail(path, "takes its data from another file; refused");
  std::optional<ElementType> element = elementType(type);
  if (!element)
    return true; // strings and structures are no weights
  hsize_t sizes[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_dims(space, sizes, nullptr);
  if (rank < 0 || H5Sget_simple_extent_type(space) == H5S_NULL)
    return fail(path, "has no shape; the file is damaged");
  Shape shape(sizes, sizes + rank);
  std::optional<int64_t> count = elementCount(shape);
  uint64_t bytes = 0;
  if (!count ||
      __builtin_mul_overflow(uint64_t(*count), byteWidth(*element), &bytes) ||
      bytes > budget)
    return fail(path, "of shape " + text(shape) +
                          " needs more than the remaining limit of " +
                          std::to_string(budget) +
                          " bytes; the file is damaged or malicious");
  // Storage that was never written reads as zeros: no honest writer of weights
  // leaves it so, and it would let a small file claim a large array.
  uint64_t stored = H5Dget_storage_size(set);
  if (bytes > (uint64_t(1) << 20) && bytes / 1040 > stored)
    return fail(path, "of shape " + text(shape) + " claims " +
                          std::to_string(bytes) + " bytes and stores " +
                          std::to_string(stored) +
                          "; the file is damaged or malicious");
  budget -= bytes;
  Array array = Array::zeros(*element, shape);
  if (!readRows(set, type, array, path))
    return false;
  out.push_back({path, std::move(array)});
  return true;
}

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

bool writeDataset(hid_t file, hid_t links, const NamedArray &named) {
  const Array array = convert(named.array, carrierOf(named.array.type));
  std::vector<hsize_t> sizes(array.shape.begin(), array.shape.end());
  Handle space(sizes.empty()
                   ? H5Screate(H5S_SCALAR)
                   : H5Screate_simple(int(sizes.size()), sizes.data(), nullptr),
               H5Sclose);
  // Without a tag: h5py reads it into what it takes for bytes, and no other.
  bool opaque = array.type == ElementType::BFloat16;
  bool isComplex = partType(array.type) != array.type;
  Handle half(opaque      ? H5Tcreate(H5T_OPAQUE, 2)
              : isComplex ? H5Tcreate(H5T_COMPOUND, byteWidth(array.type))
                          : H5Tcopy(H5T_IEEE_F32LE),
              H5Tclose);
  if (isComplex) { // as h5py has them
    H5Tinsert(half, "r", 0, hdf5Type(partType(array.type), true));
    H5Tinsert(half, "i", byteWidth(array.type) / 2,
              hdf5Type(partType(array.type), true));
  }
  if (array.type == ElementType::Float16) {
    H5Tset_fields(half, 15, 10, 5, 0, 10);
    H5Tset_size(half, 2);
    H5Tset_ebias(half, 15);
  }
  hid_t stored = hdf5Type(array.type, true),
        memory = hdf5Type(array.type, false);
  if (stored < 0)
    stored = memory = half;
  Handle set(H5Dcreate2(file, named.name.c_str(), stored, space, links,
                        H5P_DEFAULT, H5P_DEFAULT),
             H5Dclose);
  if (set < 0)
    return false;
  if (!array.bytes.empty() && H5Dwrite(set, memory, H5S_ALL, H5S_ALL,
                                       H5P_DEFAULT, array.bytes.data()) < 0)
    return false;
  return !opaque || writeName(set, "dtype", "bfloat16");
}

/// With the library, which may crash on a damaged file.
Result<std::vector<NamedArray>> readHere(std::vector<uint8_t> &bytes,
                                         const std::string &where,
                                         const ReadLimits &limits) {
  Quiet quiet;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 16, 0);
  if (H5Pset_file_image(access, bytes.data(), bytes.size()) < 0)
    return Error{where + ": is empty or too large for the HDF5 library; save "
                         "the model again with Keras 3"};
  Handle file(H5Fopen("weights", H5F_ACC_RDONLY, access), H5Fclose);
  if (file < 0)
    return Error{where + ": is no HDF5 file that can be read (" +
                 std::to_string(bytes.size()) +
                 " bytes); save the model again with Keras 3"};
  Walk walk{where, limits.bytes, {}, {}};
  if (!walk.group(file, "", 0))
    return Error{walk.wrong};
  return std::move(walk.out);
}

/// Little pieces of a message between processes, read in the order written.
bool putNumber(int file, uint64_t number) {
  return writeAll(file, &number, sizeof number);
}
bool putBytes(int file, const void *data, size_t size) {
  return putNumber(file, size) && writeAll(file, data, size);
}

struct Message {
  const std::vector<uint8_t> &bytes;
  size_t at = 0;
  bool good = true;

  const uint8_t *take(uint64_t size) {
    good &= size <= bytes.size() - at;
    const uint8_t *piece = bytes.data() + at;
    at += good ? size : 0;
    return good ? piece : nullptr;
  }
  uint64_t number() {
    uint64_t value = 0;
    if (const uint8_t *piece = take(sizeof value))
      std::memcpy(&value, piece, sizeof value);
    return value;
  }
  std::vector<uint8_t> data() {
    uint64_t size = number();
    const uint8_t *piece = take(size);
    return piece ? std::vector<uint8_t>(piece, piece + size)
                 : std::vector<uint8_t>();
  }
  std::string text() {
    std::vector<uint8_t> piece = data();
    return {piece.begin(), piece.end()};
  }
};

bool send(int file, const Result<std::vector<NamedArray>> &arrays) {
  const std::string &wrong = arrays.message();
  bool good = putBytes(file, wrong.data(), wrong.size()) &&
              putNumber(file, arrays ? arrays->size() : 0);
  for (size_t i = 0; good && arrays && i < arrays->size(); ++i) {
    const auto &[name, array] = (*arrays)[i];
    good = putBytes(file, name.data(), name.size()) &&
           putNumber(file, uint64_t(array.type)) &&
           putBytes(file, array.shape.data(),
                    array.shape.size() * sizeof(int64_t)) &&
           putBytes(file, array.bytes.data(), array.bytes.size());
  }
  return good;
}

/// What the child sent; false where it did not get to the end.
bool receive(const std::vector<uint8_t> &bytes, std::vector<NamedArray> &out,
             std::string &wrong) {
  Message message{bytes};
  wrong = message.text();
  uint64_t count = message.number();
  while (message.good && out.size() < count) {
    NamedArray named{message.text(), {}};
    named.array.type = ElementType(message.number());
    std::vector<uint8_t> sizes = message.data();
    named.array.shape.resize(sizes.size() / sizeof(int64_t));
    if (!sizes.empty())
      std::memcpy(named.array.shape.data(), sizes.data(), sizes.size() / 8 * 8);
    named.array.bytes = message.data();
    out.push_back(std::move(named));
  }
  return message.good && !bytes.empty();
}

} // namespace

Result<std::vector<NamedArray>> readHdf5(std::vector<uint8_t> &bytes,
                                         const std::string &where,
                                         const ReadLimits &limits) {
  // The library's release 1.10 reads beyond its buffers on some damaged files.
  Result<std::vector<uint8_t>> sent = runIsolated(
      [&](int file) { return send(file, readHere(bytes, where, limits)); });
  std::vector<NamedArray> out;
  std::string wrong = sent ? "" : sent.message();
  bool complete = sent && receive(*sent, out, wrong);
  if (complete && wrong.empty())
    return out;
  if (complete)
    return Error{wrong};
  return Error{where + ": the HDF5 library cannot read it" +
               (wrong.empty() ? "" : ": " + wrong) +
               "; the file is damaged, save the model again with Keras 3"};
}

Result<std::vector<uint8_t>> writeHdf5(const std::vector<Hdf5Group> &groups,
                                       const std::vector<NamedArray> &arrays) {
  Quiet quiet;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, 1 << 20, 0);
  Handle file(H5Fcreate("weights", H5F_ACC_TRUNC, H5P_DEFAULT, access),
              H5Fclose);
  Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose);
  H5Pset_create_intermediate_group(links, 1);
  if (file < 0)
    return Error{
        "the HDF5 library cannot make a file in memory; free some memory"};
  for (const Hdf5Group &group : groups) {
    Handle id(
        H5Gcreate2(file, group.path.c_str(), links, H5P_DEFAULT, H5P_DEFAULT),
        H5Gclose);
    if (id < 0 || (!group.name.empty() && !writeName(id, "name", group.name)))
      return Error{"weights: group " + group.path +
                   " cannot be written; is it given twice?"};
  }
  for (const NamedArray &named : arrays)
    if (!writeDataset(file, links, named))
      return Error{"weights: " + named.name +
                   " cannot be written; is it given twice?"};
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::vector<uint8_t> bytes(size > 0 ? size : 0);
  if (size <= 0 || H5Fget_file_image(file, bytes.data(), bytes.size()) != size)
    return Error{"the HDF5 library gives no image of the file it made; free "
                 "some memory"};
  return bytes;
}

} // namespace weft
