//===- Sizes.cpp - sizes that can be counted ------------------------------===//

#include "weft/layout/Sizes.h"

#include <algorithm>
#include <vector>

using namespace weft;

int64_t weft::tensorBytes(std::span<const int64_t> shape,
                          int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes = saturatingMultiply(bytes, size);
  return std::ranges::count(shape, 0) ? 0 : bytes;
}

/// The number of bytes with all digits.
static std::string exactBytes(std::span<const int64_t> shape,
                              int64_t elementBytes) {
  std::vector<int> digits = {1}; // decimal digits, starting with the last
  auto multiply = [&](int64_t factor) {
    unsigned __int128 carry = 0;
    for (size_t i = 0; i < digits.size() || carry; ++i) {
      if (i == digits.size())
        digits.push_back(0);
      carry += static_cast<unsigned __int128>(factor) * digits[i];
      digits[i] = static_cast<int>(carry % 10);
      carry /= 10;
    }
  };
  multiply(elementBytes);
  for (int64_t size : shape)
    multiply(size);
  std::string text;
  for (int digit : digits)
    text.insert(text.begin(), static_cast<char>('0' + digit));
  return text;
}

std::string weft::oversize(std::span<const int64_t> shape,
                           int64_t elementBytes) {
  auto refusal = [&](std::span<const int64_t> sizes) -> std::string {
    if (tensorBytes(sizes, elementBytes) <= kMostBytes)
      return {};
    return exactBytes(sizes, elementBytes) +
           " bytes, but a tensor has at most " + std::to_string(kMostBytes) +
           "; make a dimension smaller";
  };
  for (int64_t size : shape)
    if (std::string reason = refusal(std::span(&size, 1));
        !reason.empty() && std::ranges::count(shape, 0))
      return reason;
  return refusal(shape);
}
