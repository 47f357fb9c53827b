//===- LayoutText.cpp - layouts and meshes as text ------------------------===//
//
// Layouts have two spellings: [{"data"}, {"model":(2)2}] in IR, printed here
// and parsed by the attribute, and [data,model:(2)2] on command lines, printed
// and parsed here.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace weft;

static constexpr std::pair<ReduceKind, llvm::StringLiteral> reduceKinds[] = {
    {ReduceKind::Sum, "sum"}, {ReduceKind::Max, "max"},
    {ReduceKind::Min, "min"}, {ReduceKind::Prod, "prod"},
    {ReduceKind::And, "and"}, {ReduceKind::Or, "or"}};

llvm::StringRef weft::stringifyReduceKind(ReduceKind kind) {
  return reduceKinds[static_cast<unsigned>(kind)].second;
}

std::optional<ReduceKind> weft::parseReduceKind(llvm::StringRef text) {
  for (const auto &[kind, name] : reduceKinds)
    if (name == text)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printSubAxis(llvm::raw_ostream &os, const Mesh &mesh,
                         const SubAxis &sub, bool quoted) {
  const MeshAxis &axis = mesh.axes[sub.axis];
  if (quoted) {
    os << '"';
    llvm::printEscapedString(axis.name, os);
    os << '"';
  } else {
    os << axis.name;
  }
  if (sub.skip != 1 || sub.size != axis.size)
    os << ":(" << sub.skip << ')' << sub.size;
}

static void printSubAxes(llvm::raw_ostream &os, const Mesh &mesh,
                         llvm::ArrayRef<SubAxis> axes, bool quoted) {
  llvm::interleave(
      axes, os,
      [&](const SubAxis &sub) { printSubAxis(os, mesh, sub, quoted); },
      quoted ? ", " : ",");
}

std::string weft::toString(const Mesh &mesh, const Layout &layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(layout.dims, os, [&](const SubAxes &axes) {
    os << '{';
    printSubAxes(os, mesh, axes, /*quoted=*/true);
    os << '}';
  });
  os << ']';
  if (layout.isPartial()) {
    os << ", partial = " << stringifyReduceKind(layout.reduce) << '{';
    printSubAxes(os, mesh, layout.partial, /*quoted=*/true);
    os << '}';
  }
  return text;
}

std::string weft::toCommandText(const Mesh &mesh, const Layout &layout) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleave(
      layout.dims, os,
      [&](const SubAxes &axes) {
        if (axes.empty())
          os << '-';
        else if (axes.size() > 1)
          os << '(';
        printSubAxes(os, mesh, axes, /*quoted=*/false);
        if (axes.size() > 1)
          os << ')';
      },
      ",");
  os << ']';
  if (layout.isPartial()) {
    os << '+' << stringifyReduceKind(layout.reduce) << '(';
    printSubAxes(os, mesh, layout.partial, /*quoted=*/false);
    os << ')';
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Recursive descent over one line; the first refusal stays in `error`.
class CommandParser {
public:
  CommandParser(llvm::StringRef text, const Mesh &mesh)
      : text(text), mesh(mesh) {}

  bool parseLayout(Layout &out);
  bool parseMesh(Mesh &out);
  std::string error;

private:
  bool parseDim(SubAxes &out);
  bool parseList(SubAxes &out);
  bool parseSubAxis(SubAxis &out);
  bool parseDigit(SubAxis &out);
  bool parsePartial(Layout &out);
  bool parseMeshAxis(MeshAxis &out);
  bool parseInteger(int64_t &out);
  llvm::StringRef word();
  bool atEnd();
  bool take(char c);
  bool expect(char c, llvm::StringRef after);
  bool refuse(const llvm::Twine &why);

  llvm::StringRef text;
  const Mesh &mesh;
  size_t at = 0;
};
} // namespace

bool CommandParser::refuse(const llvm::Twine &why) {
  if (error.empty())
    error = ("column " + llvm::Twine(at + 1) + ": " + why).str();
  return false;
}

bool CommandParser::atEnd() {
  at = std::min(text.find_first_not_of(" \t", at), text.size());
  return at == text.size();
}

bool CommandParser::take(char c) {
  if (atEnd() || text[at] != c)
    return false;
  ++at;
  return true;
}

bool CommandParser::expect(char c, llvm::StringRef after) {
  if (take(c))
    return true;
  std::string found =
      atEnd() ? "the end" : "'" + text.substr(at, 1).str() + "'";
  return refuse("expected '" + llvm::Twine(c) + "' after " + after +
                ", found " + found);
}

llvm::StringRef CommandParser::word() {
  atEnd();
  size_t end = std::min(text.find_first_of(" \t,()[]:+=", at), text.size());
  llvm::StringRef result = text.slice(at, end);
  at = end;
  return result;
}

bool CommandParser::parseInteger(int64_t &out) {
  atEnd();
  size_t start = at;
  llvm::StringRef digits = word();
  if (digits.getAsInteger(10, out) || out < 1 ||
      out > std::numeric_limits<int32_t>::max()) {
    at = start;
    return refuse("expected a number from 1 to 2147483647, found '" + digits +
                  "'");
  }
  return true;
}

bool CommandParser::parseDigit(SubAxis &out) {
  return expect('(', "':'") && parseInteger(out.skip) &&
         expect(')', "the skipped factor") && parseInteger(out.size);
}

bool CommandParser::parseSubAxis(SubAxis &out) {
  atEnd();
  size_t start = at;
  llvm::StringRef name = word();
  std::optional<unsigned> axis = mesh.find(name);
  if (!axis) {
    at = start;
    if (name.empty())
      return refuse("expected an axis or '-'");
    std::string known;
    for (const MeshAxis &other : mesh.axes)
      known += (known.empty() ? "" : ", ") + other.name;
    return refuse("mesh has no axis '" + name + "', it has " + known);
  }
  out = fullAxis(mesh, *axis);
  return !take(':') || parseDigit(out);
}

/// Parses the axes after '(' up to ')'.
bool CommandParser::parseList(SubAxes &out) {
  do {
    if (!parseSubAxis(out.emplace_back()))
      return false;
  } while (take(','));
  return expect(')', "an axis");
}

bool CommandParser::parseDim(SubAxes &out) {
  if (take('('))
    return parseList(out);
  atEnd();
  size_t start = at;
  if (word() == "-")
    return true;
  at = start;
  return parseSubAxis(out.emplace_back());
}

bool CommandParser::parsePartial(Layout &out) {
  llvm::StringRef name = word();
  std::optional<ReduceKind> kind = parseReduceKind(name);
  if (!kind)
    return refuse("no reduction '" + name +
                  "', one of sum, max, min, prod, and, or is meant");
  out.reduce = *kind;
  return expect('(', "the reduction") && parseList(out.partial);
}

bool CommandParser::parseLayout(Layout &out) {
  if (!take('['))
    return refuse("expected '[' before the first dimension, as in [" +
                  (mesh.axes.empty() ? "-" : mesh.axes[0].name) + ",-]");
  if (!take(']')) {
    do {
      if (!parseDim(out.dims.emplace_back()))
        return false;
    } while (take(','));
    if (!expect(']', "a dimension"))
      return false;
  }
  if (take('+') && !parsePartial(out))
    return false;
  if (!atEnd())
    return refuse("unexpected '" + text.substr(at) + "' after the layout");
  std::string reason = invalidReason(mesh, out, out.dims.size());
  return reason.empty() || refuse(reason);
}

bool CommandParser::parseMeshAxis(MeshAxis &out) {
  out.name = word().str();
  if (out.name.empty())
    return refuse("expected the name of an axis, as in x=4,y=2");
  return expect('=', "the axis") && parseInteger(out.size);
}

bool CommandParser::parseMesh(Mesh &out) {
  do {
    if (!parseMeshAxis(out.axes.emplace_back()))
      return false;
  } while (take(','));
  if (!atEnd())
    return refuse("unexpected '" + text.substr(at) + "' after the mesh");
  std::string reason = out.invalidReason();
  return reason.empty() || refuse(reason);
}

std::string weft::parseCommandText(llvm::StringRef text, const Mesh &mesh,
                                   Layout &out) {
  CommandParser parser(text, mesh);
  Layout parsed;
  if (parser.parseLayout(parsed))
    out = normalise(mesh, std::move(parsed));
  return parser.error;
}

std::string weft::parseMesh(llvm::StringRef text, Mesh &out) {
  Mesh parsed, none;
  CommandParser parser(text, none);
  if (parser.parseMesh(parsed))
    out = std::move(parsed);
  return parser.error;
}
