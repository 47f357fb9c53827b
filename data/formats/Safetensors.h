//===- Safetensors.h - .safetensors files -----------------------*- C++ -*-===//
//
//   for (const StoredArray &tensor : *openSafetensors("w.safetensors"))
//     use(tensor.name, *tensor.read());
//
//   SafetensorsWriter writer(out, {{"d1/kernel", ElementType::BFloat16, {4, 2}}});
//   writer.add(bytes, 16);           // in the header's order; in pieces, too
//
// A file has 8 bytes with the size of a header, the header (JSON: name, dtype,
// shape and position of each tensor), and the tensors, row-major and
// little-endian. The header has at most 100 MB, and the tensors cover the bytes
// after it without gaps or overlaps, as the format's own reader requires.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_SAFETENSORS_H
#define WEFT_DATA_FORMATS_SAFETENSORS_H

#include "weft/data/arrays/StoredArray.h"
#include "weft/data/files/Files.h"

namespace weft {

struct TensorInfo {
  std::string name;
  ElementType type = ElementType::Float32;
  Shape shape;
  uint64_t offset = 0; ///< position in the file
};

/// The tensors, sorted by name. The file stays open as long as any of them
/// exists.
Result<std::vector<StoredArray>> openSafetensors(const std::string &path,
                                                 const ReadLimits &limits = {});

/// Whether the first bytes of a file look like the format; false for fewer than
/// 9 bytes.
bool startsLikeSafetensors(std::string_view start);

class SafetensorsWriter {
public:
  /// Writes the header; the format must have each type.
  SafetensorsWriter(OutputFile &file [[clang::lifetimebound]],
                    const std::vector<TensorInfo> &tensors);
  /// Writes the next bytes of the tensors.
  void add(const void *data, size_t size) { file.write(data, size); }

private:
  OutputFile &file;
};

bool hasSafetensorsType(ElementType type);

} // namespace weft

#endif // WEFT_DATA_FORMATS_SAFETENSORS_H
