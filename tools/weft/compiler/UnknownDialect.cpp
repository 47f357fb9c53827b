//===- UnknownDialect.cpp - messages of dialects that are not read --------===//

#include "weft/tools/weft/compiler/UnknownDialect.h"

#include "weft/data/files/Files.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

/// The beginning of a text that is a name.
static StringRef nameAt(StringRef text) {
  return text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The dialect of the last `dialect.op` before a place of a file; empty if there
/// is none. The parser's place is after the op's name.
static std::string dialectBefore(FileLineColLoc place) {
  auto bytes = readFile(place.getFilename().str());
  if (!bytes)
    return "";
  StringRef rest(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  for (unsigned line = 1; line < place.getLine(); ++line)
    rest = rest.split('\n').second;
  StringRef before = rest.split('\n').first.take_front(place.getColumn());
  before = before.take_front(before.rfind('.'));
  size_t name = before.size();
  while (name && nameAt(before.substr(name - 1, 1)).size())
    --name;
  return before.drop_front(name).str();
}

/// The dialect of a diagnostic; empty if it is not known.
static std::string dialectOf(StringRef message, Location location) {
  for (char before : {'\'', '#', '!'}) // 'mhlo.add' op, #mhlo, !mhlo
    if (size_t at = message.find(before); at != message.npos)
      return nameAt(message.drop_front(at + 1).ltrim('"')).str();
  auto place = dyn_cast<FileLineColLoc>(location);
  return place ? dialectBefore(place) : "";
}

std::string weft::tool::textOf(const Diagnostic &diagnostic) {
  std::string message = diagnostic.str();
  if (!StringRef(message).contains("unregistered dialect"))
    return message;
  std::string dialect = dialectOf(message, diagnostic.getLocation());
  return (dialect.empty() ? "this" : "\"" + dialect + "\"") +
         " is a dialect that weft does not read; it reads StableHLO, CHLO, "
         "Shardy and its own: convert the program to StableHLO where it was "
         "made";
}
