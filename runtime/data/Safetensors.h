//===- Safetensors.h - .safetensors files -----------------------*- C++ -*-===//
//
//   Result<SafetensorsFile> file = SafetensorsFile::open("w.safetensors");
//   for (const auto &tensor : file->tensors())
//     use(tensor.name, *file->read(tensor));      // one at a time
//
//   SafetensorsWriter writer(out, {{"d1/kernel", ElementType::BFloat16, {4, 2}}});
//   writer.add(bytes, 16);                        // in the order that was announced
//
// A file has 8 bytes with the size of a header, the header (JSON: name, dtype,
// shape and position of each tensor), and the tensors, row-major and
// little-endian. The header has at most 100 MB, and the tensors cover the bytes
// behind it without gaps or overlaps, as the format's own reader requires.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_SAFETENSORS_H
#define WEFT_RUNTIME_DATA_SAFETENSORS_H

#include "weft/runtime/data/Npz.h"

namespace weft {

struct TensorInfo {
  std::string name;
  ElementType type = ElementType::Float32;
  Shape shape;
  uint64_t offset = 0; ///< from the beginning of the file
};

class SafetensorsFile {
public:
  static Result<SafetensorsFile> open(const std::string &path,
                                      const ReadLimits &limits = {});
  const std::vector<TensorInfo> &tensors() const { return list; }
  Result<Array> read(const TensorInfo &tensor) const;

private:
  std::string file;
  std::vector<TensorInfo> list;
};

/// Whether the first bytes of a file look like the format. `start` has 9 or
/// more.
bool startsLikeSafetensors(std::string_view start);

class SafetensorsWriter {
public:
  /// Writes the header; the format must have each type.
  SafetensorsWriter(OutputFile &file, const std::vector<TensorInfo> &tensors);
  /// Writes the bytes of the next tensor.
  void add(const void *data, size_t size) { file.write(data, size); }

private:
  OutputFile &file;
};

bool hasSafetensorsType(ElementType type);
/// Sorts the widest types first, so that the position of each tensor is a
/// multiple of its width.
void sortByWidth(std::vector<TensorInfo> &tensors);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SAFETENSORS_H
