#include "weft/data/arrays/StoredArray.h"

#include <algorithm>
#include <memory>

namespace weft {

/// The size of a block.
static constexpr int64_t kBlockBytes = int64_t(16) << 20;

Status StoredArray::visitBlocks(const Take &take) const {
  for (const ArrayBlock &block :
       blocksOf(shape, kBlockBytes / int64_t(byteWidth(type)))) {
    Result<Array> values = readBlock(block);
    if (!values)
      return values.error();
    if (Status ok = take(block, *values); !ok)
      return ok;
  }
  return {};
}

Result<Array> StoredArray::readByBlocks() const {
  Array all = Array::zeros(type, shape);
  Status read = visitBlocks([&](const ArrayBlock &block, const Array &values) {
    std::copy(values.bytes.begin(), values.bytes.end(),
              all.bytes.begin() + ptrdiff_t(block.first * byteWidth(type)));
    return Status();
  });
  return read ? Result<Array>(std::move(all)) : read.error();
}

Status readAll(const std::vector<StoredArray> &arrays) {
  auto drop = [](const ArrayBlock &, const Array &) { return Status(); };
  for (const StoredArray &array : arrays)
    if (Status ok = array.visitBlocks(drop); !ok)
      return ok;
  return {};
}

std::optional<Array> readBlockAt(const OpenFile &file, uint64_t offset,
                                 ElementType type, const ArrayBlock &block) {
  Array values = Array::zeros(type, block.sizes);
  if (!readAt(file, offset + block.first * byteWidth(type), values.bytes.data(),
              values.bytes.size()))
    return std::nullopt;
  return values;
}

Result<OutputFile> openForArrays(const std::string &path,
                                 const std::vector<StoredArray> &arrays) {
  Result<OutputFile> file = OutputFile::open(path);
  if (file)
    return file;
  Error failure = file.error();
  Status read = readAll(arrays); // only the file's error is reported
  return failure;
}

StoredArray storedInMemory(NamedArray named) {
  auto array = std::make_shared<const Array>(std::move(named.array));
  return {std::move(named.name), array->type, array->shape,
          [array](const ArrayBlock &block) {
            Array values = Array::zeros(array->type, block.sizes);
            size_t width = byteWidth(array->type);
            std::copy_n(array->bytes.begin() + ptrdiff_t(block.first * width),
                        values.bytes.size(), values.bytes.begin());
            return Result<Array>(std::move(values));
          }};
}

} // namespace weft
