//===- Html.cpp - text in pages -------------------------------------------===//

#include "weft/compiler/report/Html.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using llvm::StringRef;

static constexpr llvm::StringLiteral kUnknown = "\xef\xbf\xbd"; // U+FFFD

/// The bytes of the first character, 0 if it is invalid.
static size_t characterSize(StringRef text) {
  auto *begin = reinterpret_cast<const llvm::UTF8 *>(text.data());
  unsigned size = llvm::getNumBytesForUTF8(*begin);
  if (size > text.size() || !llvm::isLegalUTF8Sequence(begin, begin + size))
    return 0;
  return size;
}

static StringRef entity(StringRef character) {
  switch (character.front()) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#39;";
  case '\n':
  case '\t':
    return " ";
  default: {
    auto byte = static_cast<unsigned char>(character.front());
    return byte < 0x20 || byte == 0x7f ? StringRef(kUnknown) : character;
  }
  }
}

std::string html::escaped(StringRef text) {
  std::string out;
  while (!text.empty()) {
    size_t size = characterSize(text);
    out += size ? entity(text.take_front(size)) : StringRef(kUnknown);
    text = text.drop_front(std::max<size_t>(size, 1));
  }
  return out;
}

std::string html::code(StringRef text) {
  return "<code>" + escaped(text) + "</code>";
}

std::string html::shortened(StringRef text, size_t most) {
  size_t at = 0, characters = 0;
  for (; at < text.size() && characters < most; ++characters)
    at += std::max<size_t>(characterSize(text.drop_front(at)), 1);
  return at >= text.size() ? text.str() : text.take_front(at).str() + "…";
}

std::string html::sizeText(int64_t bytes) {
  if (bytes < 1024)
    return counted(bytes, "byte");
  double value = static_cast<double>(bytes);
  StringRef unit;
  for (StringRef next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024)
      break;
    value /= 1024;
    unit = next;
  }
  return px(value) + " " + unit.str();
}

std::string html::bytesText(int64_t bytes) { return counted(bytes, "byte"); }

std::string html::px(double value) {
  double rounded = std::round(value * 10) / 10;
  if (rounded == std::floor(rounded))
    return std::to_string(static_cast<int64_t>(rounded));
  return llvm::formatv("{0:F1}", rounded).str();
}

std::string html::counted(int64_t count, StringRef noun) {
  return grouped(count) + " " + noun.str() + (count == 1 ? "" : "s");
}

std::string html::codeList(llvm::ArrayRef<std::string> items, size_t most) {
  size_t shown = items.size() > most + 1 ? most : items.size();
  std::string text;
  for (const std::string &item : items.take_front(shown))
    text += (text.empty() ? "" : ", ") + code(item);
  if (shown < items.size())
    text += " and " + grouped(items.size() - shown) + " more";
  return text;
}

std::string html::withoutNumbers(StringRef text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!llvm::isDigit(text[i])) {
      out += text[i];
      continue;
    }
    while (i + 1 < text.size() && llvm::isDigit(text[i + 1]))
      ++i;
    if (!out.empty() && out.back() == '_')
      out.pop_back();
    else
      out += '#';
  }
  return out;
}
