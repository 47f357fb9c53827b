//===- Text.h - numbers and lists as people read them -----------*- C++ -*-===//
//
//   joined({{2, 3}}, "x")  "2x3"
//   grouped(1234567)       "1,234,567"
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/// Joins the numbers with a separator.
std::string joined(std::span<const int64_t> numbers,
                   std::string_view separator);
/// Writes the number with a comma before every third digit from the right.
std::string grouped(int64_t number);

} // namespace weft

#endif // WEFT_BASE_TEXT_H
