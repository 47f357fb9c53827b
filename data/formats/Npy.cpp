#include "weft/data/formats/Npy.h"

#include <algorithm>
#include <cstring>

namespace weft {

namespace {

/// The longest header; NumPy's own limit is 10,000.
constexpr size_t headerLimit = 65536;

struct Code {
  char kind;
  int bytes;
  ElementType type;
};
constexpr Code codes[] = {
    {'f', 4, ElementType::Float32},
    {'f', 8, ElementType::Float64},
    {'f', 2, ElementType::Float16},
    {'V', 2, ElementType::BFloat16},
    {'b', 1, ElementType::Bool},
    {'i', 1, ElementType::Int8},
    {'i', 2, ElementType::Int16},
    {'i', 4, ElementType::Int32},
    {'i', 8, ElementType::Int64},
    {'u', 1, ElementType::UInt8},
    {'u', 2, ElementType::UInt16},
    {'u', 4, ElementType::UInt32},
    {'u', 8, ElementType::UInt64},
    {'c', 8, ElementType::Complex64},
    {'c', 16, ElementType::Complex128},
    // The types of ml_dtypes; others of one byte are V1, too, see Npy.h.
    {'f', 1, ElementType::Float8E5M2},
    {'V', 1, ElementType::Float8E4M3FN}};

/// The text after `'key':`, without leading blanks; empty when absent.
std::string_view valueOf(std::string_view dict, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    std::string quoted = quote + std::string(key) + quote;
    size_t at = dict.find(quoted);
    if (at == std::string_view::npos)
      continue;
    std::string_view rest = dict.substr(at + quoted.size());
    size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string_view::npos || rest[begin] != ':')
      continue;
    rest.remove_prefix(begin + 1);
    begin = rest.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string_view()
                                           : rest.substr(begin);
  }
  return {};
}

/// `'<f4'`.
Status parseDescr(std::string_view value, NpyHeader &header,
                  const std::string &where) {
  if (value.empty() || (value[0] != '\'' && value[0] != '"'))
    return Error{where + ": header: the dtype is a structure or missing; save "
                         "plain numeric arrays"};
  size_t end = value.find(value[0], 1);
  std::string descr(
      value.substr(1, end == std::string_view::npos ? end : end - 1));
  std::string_view code = descr;
  char order = '=';
  if (!code.empty() && std::strchr("<>|=", code[0])) {
    order = code[0];
    code.remove_prefix(1);
  }
  if (code == "?")
    code = "b1";
  for (const Code &known : codes)
    if (code == known.kind + std::to_string(known.bytes)) {
      header.type = known.type;
      header.swapped = order == '>' && known.bytes > 1;
      return {};
    }
  return Error{
      where + ": header: dtype '" + descr +
      "' is not numeric or not known (known: bool, int8..int64, "
      "uint8..uint64, float16, float32, float64, complex64, complex128); "
      "convert it with astype()"};
}

/// Parses `(3, 4)`, `(3,)` or `()`.
Status parseShape(std::string_view value, NpyHeader &header,
                  const std::string &where) {
  Error bad{where +
            ": header: the shape is no tuple of sizes; the file is damaged"};
  if (value.empty() || value[0] != '(')
    return bad;
  size_t i = 1;
  while (i < value.size() && value[i] != ')') {
    if (value[i] == ' ' || value[i] == ',' || value[i] == 'L') {
      ++i;
      continue;
    }
    int64_t size = 0;
    size_t begin = i;
    for (; i < value.size() && value[i] >= '0' && value[i] <= '9'; ++i)
      if (__builtin_mul_overflow(size, 10, &size) ||
          __builtin_add_overflow(size, value[i] - '0', &size))
        return bad;
    if (i == begin || header.shape.size() == 64)
      return bad;
    header.shape.push_back(size);
  }
  if (i == value.size())
    return bad;
  return {};
}

void swapBytes(Array &array) {
  size_t width = byteWidth(componentType(array.type));
  for (size_t i = 0; i + width <= array.bytes.size(); i += width)
    std::reverse(array.bytes.begin() + i, array.bytes.begin() + i + width);
}

/// Reads elements stored with the first index fastest into row-major order.
void fromFortran(Array &array) {
  size_t rank = array.shape.size(), width = byteWidth(array.type);
  if (rank < 2)
    return;
  std::vector<uint8_t> out(array.bytes.size());
  std::vector<int64_t> index(rank, 0), stride(rank);
  for (size_t i = 0, s = 1; i < rank; s *= array.shape[i++])
    stride[i] = s;
  int64_t source = 0;
  for (size_t target = 0; target < out.size(); target += width) {
    std::memcpy(&out[target], &array.bytes[source * width], width);
    for (size_t d = rank; d--;) {
      source += stride[d];
      if (++index[d] < array.shape[d])
        break;
      source -= stride[d] * array.shape[d];
      index[d] = 0;
    }
  }
  array.bytes = std::move(out);
}

} // namespace

Result<NpyHeader> parseNpyHeader(const uint8_t *bytes, size_t available,
                                 uint64_t size, const std::string &where) {
  if (available < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return Error{where + ": does not begin like a NumPy array; save it with "
                         "numpy.save or numpy.savez"};
  int version = bytes[6];
  if (version < 1 || version > 3)
    return Error{
        where + ": header: format " + std::to_string(version) +
        " is not known (known: 1, 2, 3); save it with a released NumPy"};
  size_t prefix = version == 1 ? 10 : 12;
  uint32_t length = bytes[8] | bytes[9] << 8;
  if (version > 1 && available >= 12)
    length |= uint32_t(bytes[10]) << 16 | uint32_t(bytes[11]) << 24;
  if (length > headerLimit || prefix + length > size ||
      prefix + length > available)
    return Error{where + ": header: has " + std::to_string(length) +
                 " bytes, the file " + std::to_string(size) +
                 " and the limit is " + std::to_string(headerLimit) +
                 "; the file is damaged"};
  std::string_view dict(reinterpret_cast<const char *>(bytes) + prefix, length);
  NpyHeader header;
  header.dataOffset = prefix + length;
  if (Status ok = parseDescr(valueOf(dict, "descr"), header, where); !ok)
    return ok.error();
  if (Status ok = parseShape(valueOf(dict, "shape"), header, where); !ok)
    return ok.error();
  std::string_view order = valueOf(dict, "fortran_order");
  header.fortranOrder = order.starts_with("True");
  if (!header.fortranOrder && !order.starts_with("False"))
    return Error{where + ": header: fortran_order is neither True nor False; "
                         "the file is damaged"};
  std::optional<int64_t> count = elementCount(header.shape);
  uint64_t stored = size - header.dataOffset, needed = 0;
  if (!count ||
      __builtin_mul_overflow(uint64_t(*count), byteWidth(header.type),
                             &needed) ||
      needed != stored)
    return Error{where + ": shape " + text(header.shape) + " of " +
                 std::string(name(header.type)) + " needs " +
                 (count ? std::to_string(needed) : "too many") +
                 " bytes, the file holds " + std::to_string(stored) +
                 "; it was cut off or is damaged"};
  return header;
}

Result<Array> parseNpy(std::vector<uint8_t> bytes, const std::string &where) {
  Result<NpyHeader> header =
      parseNpyHeader(bytes.data(), bytes.size(), bytes.size(), where);
  if (!header)
    return header.error();
  bytes.erase(bytes.begin(), bytes.begin() + header->dataOffset);
  Array array{header->type, header->shape, std::move(bytes)};
  if (header->swapped)
    swapBytes(array);
  if (header->fortranOrder)
    fromFortran(array);
  return array;
}

Result<Array> readNpy(const std::string &path, const ReadLimits &limits) {
  Result<std::vector<uint8_t>> bytes = readFile(path, limits);
  if (!bytes)
    return bytes.error();
  return parseNpy(std::move(*bytes), path);
}

std::string npyHeader(ElementType type, const Shape &shape) {
  std::string dict = "{'descr': '";
  for (const Code &code : codes)
    if (code.type == type)
      dict += std::string(code.bytes == 1 ? "|" : "<") + code.kind +
              std::to_string(code.bytes);
  dict += "', 'fortran_order': False, 'shape': " + text(shape) + ", }";
  // NumPy pads so that the elements begin at a multiple of 64.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(dict.size() & 255);
  header += char(dict.size() >> 8);
  return header + dict;
}

void takeBytesAs(ElementType type, Array &array) {
  if (array.type == ElementType::Float8E4M3FN && carrierOf(type) != type)
    array.type = type;
}

ElementType npyType(ElementType type) {
  return type == ElementType::BFloat16 ? ElementType::Float32 : carrierOf(type);
}

Array npyArray(const Array &array) {
  return convert(array, npyType(array.type));
}

Status writeNpy(const std::string &path, const Array &array) {
  Result<OutputFile> file = OutputFile::open(path);
  if (!file)
    return file.error();
  Array written = npyArray(array);
  file->write(npyHeader(written.type, written.shape));
  file->write(written.bytes.data(), written.bytes.size());
  return file->commit();
}

} // namespace weft
