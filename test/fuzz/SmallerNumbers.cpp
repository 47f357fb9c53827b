//===- SmallerNumbers.cpp - texts with smaller dimensions -----------------===//
//
// A number is a dimension of a tensor type, or stands alone in a list. Equal
// numbers often belong together (a dimension, the limit of its slice). So all
// numbers of one value are made smaller at once, alone or with those of another
// value; then one at a time.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/Reduction.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace weft {

namespace {
struct Number {
  size_t at, length;
  int64_t value;
  bool isDimension;
};
} // namespace

static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}

/// Returns the numbers outside lines that start with #, which hold meshes and
/// layouts.
static std::vector<Number> numbersOf(const std::string &text) {
  std::vector<Number> numbers;
  bool inTensor = false, skip = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n')
      skip = i + 1 < text.size() && text[i + 1] == '#';
    if (i == 0)
      skip = text[0] == '#';
    if (text.compare(i, 7, "tensor<") == 0)
      inTensor = true;
    if (text[i] == '>')
      inTensor = false;
    if (skip || !isDigit(text[i]))
      continue;
    size_t end = i;
    while (end < text.size() && isDigit(text[end]))
      ++end;
    char before = i ? text[i - 1] : ' ',
         after = end < text.size() ? text[end] : ' ';
    bool dimension =
        inTensor && after == 'x' && (before == '<' || before == 'x');
    bool isExponent = before == '-' && i > 1 && text[i - 2] == 'e';
    bool entry = !inTensor && !isExponent &&
                 std::string(" [-").find(before) != std::string::npos &&
                 std::string(" ,])>").find(after) != std::string::npos;
    if (dimension || entry)
      numbers.push_back(
          {i, end - i, std::stoll(text.substr(i, end - i)), dimension});
    i = end - 1;
  }
  return numbers;
}

template <typename Map>
static std::string replaced(const std::string &text,
                            const std::vector<Number> &numbers, Map map) {
  std::string result;
  size_t from = 0;
  for (const Number &number : numbers) {
    result += text.substr(from, number.at - from) + std::to_string(map(number));
    from = number.at + number.length;
  }
  return result + text.substr(from);
}

std::vector<std::string> smallerNumbers(const std::string &text) {
  std::vector<Number> numbers = numbersOf(text);
  std::set<int64_t> sizes;
  for (const Number &number : numbers)
    if (number.isDimension && number.value > 1)
      sizes.insert(number.value);
  std::vector<std::string> all;
  for (int64_t size : sizes)
    for (int64_t smaller : {int64_t(1), size / 2, size - 1})
      for (bool entriesToo : {true, false})
        if (smaller >= 1 && smaller < size)
          all.push_back(replaced(text, numbers, [&](const Number &n) {
            return n.value == size && (n.isDimension || entriesToo) ? smaller
                                                                    : n.value;
          }));
  for (int64_t a : sizes)
    for (int64_t b : sizes)
      if (a < b)
        all.push_back(replaced(text, numbers, [&](const Number &n) {
          return n.value == a || n.value == b ? n.value - 1 : n.value;
        }));
  for (const Number &one : numbers)
    for (int64_t smaller : {one.value / 2, one.value - 1})
      if (smaller >= 0 && smaller < one.value &&
          one.value > (one.isDimension ? 1 : 0))
        all.push_back(replaced(text, numbers, [&](const Number &n) {
          return n.at == one.at ? smaller : n.value;
        }));
  return all;
}

} // namespace weft
