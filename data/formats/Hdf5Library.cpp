#include "weft/data/formats/Hdf5Library.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace weft::hdf5 {

hid_t typeOf(ElementType type, bool inFile) {
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
    return -1; // the library has no such type
  }
}

hid_t createType(ElementType type, const char *real, const char *imaginary) {
  // The type has no tag, as h5py reads raw bytes only without one.
  if (type == ElementType::BFloat16)
    return H5Tcreate(H5T_OPAQUE, 2);
  if (componentType(type) != type) {
    hid_t made = H5Tcreate(H5T_COMPOUND, byteWidth(type)),
          component = typeOf(componentType(type), true);
    H5Tinsert(made, real, 0, component);
    H5Tinsert(made, imaginary, byteWidth(type) / 2, component);
    return made;
  }
  hid_t made = H5Tcopy(H5T_IEEE_F32LE);
  if (type == ElementType::Float16) {
    H5Tset_fields(made, 15, 10, 5, 0, 10);
    H5Tset_size(made, 2);
    H5Tset_ebias(made, 15);
  }
  return made;
}

/// Whether a float of two bytes is IEEE's half, and not bfloat16.
static bool isHalf(hid_t type) {
  size_t sign, exponent, exponentBits, mantissa, mantissaBits;
  return H5Tget_fields(type, &sign, &exponent, &exponentBits, &mantissa,
                       &mantissaBits) >= 0 &&
         exponentBits == 5;
}

/// Whether a structure is two floats of one type.
static bool isComplex(hid_t type) {
  if (H5Tget_nmembers(type) != 2)
    return false;
  Handle first(H5Tget_member_type(type, 0), H5Tclose),
      second(H5Tget_member_type(type, 1), H5Tclose);
  return H5Tget_class(first) == H5T_FLOAT && H5Tequal(first, second) > 0;
}

std::optional<ElementType> elementType(hid_t type) {
  size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
  case H5T_FLOAT:
    if (size == 8)
      return ElementType::Float64;
    if (size == 4)
      return ElementType::Float32;
    return size == 2 && isHalf(type) ? std::optional(ElementType::Float16)
                                     : std::nullopt;
  case H5T_OPAQUE:
    return size == 2 ? std::optional(ElementType::BFloat16) : std::nullopt;
  case H5T_COMPOUND: // h5py's complex numbers
    if (!isComplex(type))
      return std::nullopt;
    return size == 8    ? std::optional(ElementType::Complex64)
           : size == 16 ? std::optional(ElementType::Complex128)
                        : std::nullopt;
  case H5T_ENUM: // NumPy's bool
    return size == 1 && H5Tget_nmembers(type) == 2
               ? std::optional(ElementType::Bool)
               : std::nullopt;
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

Handle readType(ElementType element, hid_t stored) {
  // The bytes of opaque and enumeration types are elements as they are.
  if (element == ElementType::Bool || element == ElementType::BFloat16)
    return Handle(H5Tcopy(stored), H5Tclose);
  if (hid_t memory = typeOf(element, false); memory >= 0)
    return Handle(H5Tcopy(memory), H5Tclose);
  if (element == ElementType::Float16)
    return Handle(createType(element), H5Tclose);
  // Members of structures are converted by their names.
  char *real = H5Tget_member_name(stored, 0),
       *imaginary = H5Tget_member_name(stored, 1);
  hid_t made = createType(element, real, imaginary);
  H5free_memory(real);
  H5free_memory(imaginary);
  return Handle(made, H5Tclose);
}

namespace {

/// Walks the groups of one file.
struct Walk {
  std::string where;
  uint64_t budget; ///< bytes that may still be allocated
  const Visit &visit;
  Status result = {}; ///< the first error

  bool fail(const std::string &path, const Message &what) {
    if (result)
      result = Error{where + ": " + path + ": " + what};
    return false;
  }
  bool group(hid_t parent, const std::string &path, int depth);
  bool dataset(hid_t parent, const std::string &name, const std::string &path);
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
  if (depth > 64) // hard links may form a cycle
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
  // Storage that was never written reads as zeros: writers of weights never
  // leave it so, and it would let a small file claim a large array.
  uint64_t stored = H5Dget_storage_size(set);
  if (bytes > (uint64_t(1) << 20) && bytes / 1040 > stored)
    return fail(path, "of shape " + text(shape) + " claims " +
                          std::to_string(bytes) + " bytes and stores " +
                          std::to_string(stored) +
                          "; the file is damaged or malicious");
  budget -= bytes;
  Status visited = visit({path, set, type, *element, shape});
  return visited || fail(path, visited.error().message);
}

} // namespace

// Returns the image itself when the library requests memory to copy the image
// to.
static void *giveImage(size_t, H5FD_file_image_op_t, void *image) {
  return image;
}
static void *leaveImage(void *to, const void *, size_t, H5FD_file_image_op_t,
                        void *) {
  return to;
}
static herr_t keepImage(void *, H5FD_file_image_op_t, void *) { return 0; }
static void *sameData(void *image) { return image; }
static herr_t keepData(void *) { return 0; }

hid_t openDescriptor(int file) {
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size == 0)
    return -1;
  size_t size = size_t(info.st_size);
  void *image = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (image == MAP_FAILED)
    return -1;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5FD_file_image_callbacks_t callbacks{
      giveImage, leaveImage, nullptr, keepImage, sameData, keepData, image};
  H5Pset_fapl_core(access, 1 << 16, 0);
  if (H5Pset_file_image_callbacks(access, &callbacks) < 0 ||
      H5Pset_file_image(access, image, size) < 0)
    return -1;
  return H5Fopen("weights", H5F_ACC_RDONLY, access);
}

Status walkDatasets(hid_t file, const std::string &where, uint64_t budget,
                    const Visit &visit) {
  Walk walk{where, budget, visit};
  walk.group(file, "", 0);
  return walk.result;
}

} // namespace weft::hdf5
