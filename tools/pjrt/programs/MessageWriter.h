//===- MessageWriter.h - messages of protocol buffers -----------*- C++ -*-===//
//
//   MessageWriter shape;              // ShapeProto of f32[16,784]
//   shape.number(2, 11);
//   shape.numbers(3, {16, 784});
//   shape.bytes                       // 10 0B 1A 03 10 90 06
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_MESSAGEWRITER_H
#define WEFT_TOOLS_PJRT_PROGRAMS_MESSAGEWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::pjrt {

struct MessageWriter {
  std::string bytes;

  void number(unsigned field, int64_t value) {
    varint(field << 3);
    varint(static_cast<uint64_t>(value));
  }
  void text(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    bytes += value;
  }
  void message(unsigned field, const MessageWriter &value) {
    text(field, value.bytes);
  }
  /// Writes a packed field.
  void numbers(unsigned field, const std::vector<int64_t> &values) {
    MessageWriter packed;
    for (int64_t value : values)
      packed.varint(static_cast<uint64_t>(value));
    text(field, packed.bytes);
  }

private:
  void varint(uint64_t value) {
    for (; value >= 128; value >>= 7)
      bytes.push_back(static_cast<char>(value | 128));
    bytes.push_back(static_cast<char>(value));
  }
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_MESSAGEWRITER_H
