//===- Html.h - text in pages -----------------------------------*- C++ -*-===//
//
//   escaped("a<b>\"")   a&lt;b&gt;&quot;
//   code("d1/kernel")   <code>d1/kernel</code>
//   sizeText(521060)    508.8 KiB
//
// Every string that a user may have written passes through escaped().
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_REPORT_HTML_H
#define WEFT_COMPILER_REPORT_HTML_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::html {

/// Escapes for text and for attributes in double quotes. Newlines and tabs
/// become blanks; other control characters and bytes that are no UTF-8, U+FFFD.
std::string escaped(llvm::StringRef text);
std::string code(llvm::StringRef text);
/// At most `most` characters of the text, with an ellipsis if there are more.
std::string shortened(llvm::StringRef text, size_t most);
/// A size in binary units: 508.8 KiB; 14 bytes.
std::string sizeText(int64_t bytes);
/// A size in bytes: "521,060 bytes".
std::string bytesText(int64_t bytes);
/// A coordinate of a drawing, with at most one decimal.
std::string px(double value);
/// A count with its noun: "1 collective", "2 collectives".
std::string counted(int64_t count, llvm::StringRef noun);
/// The first `most` items in <code>, and the number of others; a single other
/// one is listed, too.
std::string codeList(llvm::ArrayRef<std::string> items, size_t most);
/// The text without the numbers of layers: dense_3/kernel becomes dense/kernel;
/// other numbers become "#".
std::string withoutNumbers(llvm::StringRef text);

} // namespace weft::html

#endif // WEFT_COMPILER_REPORT_HTML_H
