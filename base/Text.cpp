//===- Text.cpp - numbers and lists as people read them -------------------===//

#include "weft/base/Text.h"

namespace weft {

std::string joined(std::span<const int64_t> numbers,
                   std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text.append(i ? separator : "").append(std::to_string(numbers[i]));
  return text;
}

std::string grouped(int64_t number) {
  std::string text = std::to_string(number);
  size_t first = number < 0;
  for (size_t at = text.size(); at > first + 3;)
    text.insert(at -= 3, ",");
  return text;
}

} // namespace weft
