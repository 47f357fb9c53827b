//===- Safetensors.h - .safetensors files -----------------------*- C++ -*-===//
//
//   for (const StoredArray &tensor : *openSafetensors("w.safetensors"))
//     use(tensor.name, *tensor.read());
//
//   SafetensorsWriter writer(out, {{"d1/kernel", ElementType::BFloat16, {4, 2}}});
//   writer.add(bytes, 16);           // or in pieces; in the order that was announced
//
// 8 bytes that hold the size of a header, the header (JSON: name, dtype, shape and
// place of each tensor), and the tensors, row-major and little-endian. Of a file
// from anywhere the header has at most 100 MB, and the tensors cover the bytes behind
// it without gaps or overlaps, as the format's own reader demands.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_SAFETENSORS_H
#define WEFT_RUNTIME_DATA_SAFETENSORS_H

#include "weft/runtime/data/Files.h"
#include "weft/runtime/data/StoredArray.h"

namespace weft {

struct TensorInfo {
  std::string name;
  ElementType type = ElementType::Float32;
  Shape shape;
  uint64_t offset = 0; ///< from the beginning of the file
};

/// The tensors, in the order of the header. The file stays open as long as any of
/// them is there.
Result<std::vector<StoredArray>> openSafetensors(const std::string &path,
                                                 const ReadLimits &limits = {});

/// Do the first bytes of a file look like it? `start` has 9 or more.
bool startsLikeSafetensors(std::string_view start);

class SafetensorsWriter {
public:
  /// Writes the header; each type is one that the format has.
  SafetensorsWriter(OutputFile &file, const std::vector<TensorInfo> &tensors);
  /// The next bytes of the tensors.
  void add(const void *data, size_t size) { file.write(data, size); }

private:
  OutputFile &file;
};

bool hasSafetensorsType(ElementType type);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_SAFETENSORS_H
