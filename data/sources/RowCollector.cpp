#include "weft/data/sources/RowCollector.h"

#include "weft/base/WriteAll.h"

namespace weft {

Result<int> RowCollector::descriptor() {
  if (file)
    return int(*file);
  Result<OpenFile> made = openTemporary(name, UINT64_MAX);
  if (!made)
    return made.error();
  file.emplace(std::move(*made));
  return int(*file);
}

Status RowCollector::flush() {
  Result<int> to = descriptor();
  if (!to)
    return to.error();
  if (!writeAll(*to, bytes.data(), bytes.size()))
    return temporaryError(name);
  bytes.clear();
  return {};
}

Status RowCollector::add(const void *data, size_t size) {
  const auto *from = static_cast<const uint8_t *>(data);
  bytes.insert(bytes.end(), from, from + size);
  bool isFull =
      file ? bytes.size() >= (size_t(1) << 20) : bytes.size() > inMemory;
  return isFull ? flush() : Status{};
}

Result<Rows> RowCollector::finish(ElementType type, Shape shape, bool swapped) {
  if (!file && !swapped)
    return Rows(std::make_shared<MemoryRows>(
        Array{type, std::move(shape), std::move(bytes)}));
  if (Status ok = flush(); !ok)
    return ok.error();
  return Rows(std::make_shared<FileRows>(name, std::move(*file),
                                         FileRows::Place{0, swapped}, type,
                                         std::move(shape)));
}

} // namespace weft
