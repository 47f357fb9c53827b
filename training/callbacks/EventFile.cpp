#include "weft/training/callbacks/EventFile.h"

#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <filesystem>

namespace weft {

uint32_t crc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> out{};
    for (uint32_t i = 0; i < out.size(); ++i) {
      out[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        out[i] = (out[i] >> 1) ^ (out[i] & 1 ? 0x82f63b78u : 0);
    }
    return out;
  }();
  uint32_t crc = ~0u;
  for (char c : bytes)
    crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  return ~crc;
}

namespace {

template <typename T> std::string littleEndian(T value) {
  static_assert(std::endian::native == std::endian::little);
  std::string out(sizeof value, 0);
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

std::string checksum(std::string_view bytes) {
  uint32_t crc = crc32c(bytes);
  return littleEndian(uint32_t(((crc >> 15) | (crc << 17)) + 0xa282ead8u));
}

/// A message of protocol buffers, field by field.
class ProtoMessage {
public:
  ProtoMessage &varint(int field, uint64_t value) {
    number(uint64_t(field) << 3);
    number(value);
    return *this;
  }
  ProtoMessage &real(int field, double value) {
    number(uint64_t(field) << 3 | 1);
    text += littleEndian(value);
    return *this;
  }
  ProtoMessage &bytes(int field, std::string_view value) {
    number(uint64_t(field) << 3 | 2);
    number(value.size());
    text += value;
    return *this;
  }
  const std::string &str() const { return text; }

private:
  void number(uint64_t value) {
    for (; value > 127; value >>= 7)
      text += char((value & 127) | 128);
    text += char(value);
  }
  std::string text;
};

double now() {
  return std::chrono::duration<double>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

enum Type { kFloat = 1, kDouble = 2 };       // tensorflow.DataType
enum DataClass { kScalar = 1, kTensor = 2 }; // tensorflow.DataClass

std::string tensor(Type type, const std::vector<int64_t> &shape,
                   const std::string &content) {
  ProtoMessage dims;
  for (int64_t size : shape)
    dims.bytes(2, ProtoMessage().varint(1, uint64_t(size)).str());
  return ProtoMessage()
      .varint(1, type)
      .bytes(2, dims.str())
      .bytes(4, content)
      .str();
}

std::string summaryEvent(const std::string &tag, int64_t step,
                         const char *plugin, DataClass kind,
                         const std::string &tensor) {
  std::string metadata = ProtoMessage()
                             .bytes(1, ProtoMessage().bytes(1, plugin).str())
                             .varint(4, kind)
                             .str();
  std::string value =
      ProtoMessage().bytes(1, tag).bytes(8, tensor).bytes(9, metadata).str();
  return ProtoMessage()
      .real(1, now())
      .varint(2, uint64_t(step))
      .bytes(5, ProtoMessage().bytes(1, value).str())
      .str();
}

/// The left edge, right edge and count of each bucket, one after the other.
std::string bucketsOf(const Histogram &of) {
  double width = (of.high - of.low) / Histogram::kBuckets;
  std::string out;
  for (int i = 0; i < Histogram::kBuckets; ++i)
    out +=
        littleEndian(of.low + i * width) +
        littleEndian(i + 1 == Histogram::kBuckets ? of.high
                                                  : of.low + (i + 1) * width) +
        littleEndian(of.counts[size_t(i)]);
  return out;
}

} // namespace

Result<EventFile> EventFile::create(const std::string &folder) {
  std::error_code ignored; // opening the file reports the error
  std::filesystem::create_directories(folder, ignored);
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  EventFile out;
  int error = EEXIST;
  for (int number = 0; error == EEXIST && number < 1000; ++number) {
    out.path = folder + "/events.out.tfevents." +
               std::to_string(int64_t(now())) + "." + host + "." +
               std::to_string(getpid()) + "." + std::to_string(number) + ".v2";
    error = out.file.open(out.path);
  }
  if (error)
    return Error{out.path + ": cannot be written: " + std::strerror(error) +
                 "; check the path"};
  out.add(ProtoMessage().real(1, now()).bytes(3, "brain.Event:2").str());
  Status written = out.flush();
  if (!written)
    return written.error();
  return out;
}

void EventFile::add(const std::string &event) {
  std::string length = littleEndian(uint64_t(event.size()));
  pending += length + checksum(length) + event + checksum(event);
}

void EventFile::scalar(const std::string &tag, int64_t step, float value) {
  add(summaryEvent(tag, step, "scalars", kScalar,
                   tensor(kFloat, {}, littleEndian(value))));
}

void EventFile::histogram(const std::string &tag, int64_t step,
                          const Histogram &of) {
  add(summaryEvent(tag, step, "histograms", kTensor,
                   tensor(kDouble, {Histogram::kBuckets, 3}, bucketsOf(of))));
}

Status EventFile::flush() {
  if (int error = file.append(pending))
    return Error{path + ": cannot be written: " + std::strerror(error) +
                 "; free some space, or name a folder on another disk"};
  pending.clear();
  return {};
}

} // namespace weft
