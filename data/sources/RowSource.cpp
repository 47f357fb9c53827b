#include "weft/data/sources/RowSource.h"

#include "weft/data/files/Files.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <unistd.h>

namespace weft {

int64_t RowSource::rowCount() const {
  return std::accumulate(sizes.begin() + 1, sizes.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t RowSource::validationRows(double fraction) const {
  return rows() - int64_t(std::floor(double(rows()) * (1 - fraction)));
}

Status MemoryRows::read(std::span<const int64_t> indices, uint8_t *out) const {
  size_t row = rowBytes();
  for (int64_t index : indices) {
    std::memcpy(out, bytes.data() + index * row, row);
    out += row;
  }
  return {};
}

Status FileRows::readBytes(uint64_t from, uint64_t bytes, uint8_t *out) const {
  for (uint64_t done = 0; done < bytes;) {
    ssize_t got = pread(file, out + done, bytes - done, off_t(from + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Error{name + ": " + std::to_string(done) + " of " +
                   std::to_string(bytes) + " bytes at " + std::to_string(from) +
                   " could be read" +
                   (got < 0 ? std::string(": ") + std::strerror(errno) : "") +
                   "; the file was changed while it was in use, or the disk "
                   "fails"};
    done += uint64_t(got);
  }
  return {};
}

Status FileRows::read(std::span<const int64_t> indices, uint8_t *out) const {
  size_t row = rowBytes();
  uint8_t *to = out;
  for (size_t i = 0; i < indices.size();) {
    size_t next = i + 1; // adjacent rows are read at once
    while (next < indices.size() && indices[next] == indices[next - 1] + 1)
      ++next;
    uint64_t from = uint64_t(indices[i]) * row, bytes = (next - i) * row;
    if (Status ok = readBytes(place.offset + from, bytes, to); !ok)
      return ok;
    if (place.crc)
      if (Status ok = place.crc->add(from, to, bytes); !ok)
        return ok;
    to += (next - i) * row;
    i = next;
  }
  size_t width = byteWidth(componentType(type()));
  for (uint8_t *at = out; place.swapped && at < to; at += width)
    std::reverse(at, at + width);
  return {};
}

namespace {
class SlicedRows final : public RowSource {
public:
  SlicedRows(Rows all, int64_t begin, Shape shape)
      : RowSource(all->type(), std::move(shape)), all(std::move(all)),
        begin(begin) {}
  Status read(std::span<const int64_t> indices, uint8_t *out) const override {
    std::vector<int64_t> moved(indices.begin(), indices.end());
    for (int64_t &index : moved)
      index += begin;
    return all->read(moved, out);
  }
  const uint8_t *inMemory() const override {
    const uint8_t *bytes = all->inMemory();
    return bytes ? bytes + begin * rowBytes() : nullptr;
  }
  std::optional<uint64_t> identity() const override {
    std::optional<uint64_t> hash = all->identity();
    return hash ? std::optional(*hash * 31 + uint64_t(begin)) : hash;
  }
  std::string remark() const override { return all->remark(); }

private:
  Rows all;
  int64_t begin;
};
} // namespace

Rows sliceOf(Rows rows, int64_t begin, int64_t end) {
  Shape shape = rows->shape();
  if (begin == 0 && end == shape[0])
    return rows;
  shape[0] = end - begin;
  return std::make_shared<SlicedRows>(std::move(rows), begin, std::move(shape));
}

} // namespace weft
