#include "weft/runtime/data/Hdf5.h"

#include "weft/runtime/data/Hdf5Library.h"
#include "weft/runtime/data/Isolation.h"
#include "weft/runtime/program/WriteAll.h"

#include <cstring>

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
  std::vector<NamedArray> out;
  std::string wrong =
      walkDatasets(file, where, limits.bytes, [&](const Dataset &set) {
        Array array = Array::zeros(set.element, set.shape);
        if (!array.bytes.empty() &&
            H5Dread(set.id, readType(set.element, set.type), H5S_ALL, H5S_ALL,
                    H5P_DEFAULT, array.bytes.data()) < 0)
          return "cannot be read; the file is damaged";
        out.push_back({set.path, std::move(array)});
        return "";
      });
  if (!wrong.empty())
    return Error{wrong};
  return out;
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
