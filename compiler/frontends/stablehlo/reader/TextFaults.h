//===- TextFaults.h - text that would crash MLIR's parser -------*- C++ -*-===//
//
//   array<index: 1>      the parser takes index for a float
//   %a#4000000000        the parser makes room for as many results, 64 GB
//   ((((((...))))))      the parser is recursive, and its stack is limited
//
// Every reader of text looks for these before it calls the parser of MLIR 22.
// Comments and strings are skipped.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_TEXTFAULTS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_TEXTFAULTS_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weft::stablehlo {

struct TextFault {
  size_t offset;       ///< the offset of the first wrong character
  std::string message; ///< the fault and a fix
};

/// The first fault of a text of any dialect.
std::optional<TextFault> findTextFault(llvm::StringRef text);

/// The line and the column of a character, both from 1.
std::pair<unsigned, unsigned> placeOf(llvm::StringRef text, size_t offset);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_READER_TEXTFAULTS_H
