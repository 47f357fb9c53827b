//===- LayoutText.cpp - layouts and meshes as text ------------------------===//
//
// Layouts have two spellings: [{"data"}, {"model":(2)2}] in IR, printed here
// and parsed by the attribute, and [data,model:(2)2] on command lines, printed
// and parsed here.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/Layout.h"

#include <algorithm>
#include <charconv>
#include <limits>

using namespace weft;

static constexpr std::pair<ReduceKind, std::string_view> reduceKinds[] = {
    {ReduceKind::Sum, "sum"}, {ReduceKind::Max, "max"},
    {ReduceKind::Min, "min"}, {ReduceKind::Prod, "prod"},
    {ReduceKind::And, "and"}, {ReduceKind::Or, "or"}};

std::string_view weft::stringifyReduceKind(ReduceKind kind) {
  return reduceKinds[static_cast<unsigned>(kind)].second;
}

std::optional<ReduceKind> weft::parseReduceKind(std::string_view text) {
  for (const auto &[kind, name] : reduceKinds)
    if (name == text)
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// A string literal of MLIR: a character that cannot be shown is \XX.
static std::string quotedText(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (unsigned char c : text)
    if (c == '\\')
      out += "\\\\";
    else if (c >= ' ' && c <= '~' && c != '"')
      out += static_cast<char>(c);
    else
      out.append({'\\', hex[c >> 4], hex[c & 15]});
  return out + '"';
}

static std::string textOf(const Mesh &mesh, const SubAxis &sub, bool quoted) {
  const MeshAxis &axis = mesh.axes[sub.axis];
  std::string text = quoted ? quotedText(axis.name) : axis.name;
  if (sub.skip != 1 || sub.size != axis.size)
    text += ":(" + std::to_string(sub.skip) + ')' + std::to_string(sub.size);
  return text;
}

static std::string textOf(const Mesh &mesh, const SubAxes &axes, bool quoted) {
  std::string text;
  for (const SubAxis &sub : axes)
    text.append(text.empty() ? ""
                : quoted     ? ", "
                             : ",")
        .append(textOf(mesh, sub, quoted));
  return text;
}

std::string weft::toString(std::span<const MeshAxis> mesh,
                           const MeshPart &part) {
  std::string text = "{";
  for (auto [axis, coordinate] : part)
    text.append(text.size() > 1 ? ", " : "")
        .append(quotedText(mesh[axis].name))
        .append(" = " + std::to_string(coordinate));
  return text + "}";
}

std::string weft::describe(std::span<const MeshAxis> mesh,
                           const MeshPart &part) {
  std::string text;
  for (auto [axis, coordinate] : part)
    text.append(text.empty() ? "" : ", ")
        .append("\"" + mesh[axis].name + "\"=" + std::to_string(coordinate));
  return text.empty() ? "the whole mesh" : text;
}

std::string weft::toString(const Mesh &mesh, const Layout &layout) {
  std::string text = "[";
  for (const SubAxes &axes : layout.dims)
    text.append(text.size() > 1 ? ", {" : "{")
        .append(textOf(mesh, axes, /*quoted=*/true))
        .append("}");
  text += ']';
  if (layout.isPartial())
    text.append(", partial = ")
        .append(stringifyReduceKind(layout.reduce))
        .append("{" + textOf(mesh, layout.partial, /*quoted=*/true) + "}");
  if (!layout.part.empty())
    text.append(", at = ").append(toString(mesh.axes, layout.part));
  return text;
}

std::string weft::toCommandText(const Mesh &mesh, const Layout &layout) {
  std::string text = "[";
  for (const SubAxes &axes : layout.dims) {
    std::string dim = textOf(mesh, axes, /*quoted=*/false);
    text.append(text.size() > 1 ? "," : "")
        .append(axes.empty()      ? "-"
                : axes.size() > 1 ? "(" + dim + ")"
                                  : dim);
  }
  text += ']';
  if (layout.isPartial())
    text.append("+")
        .append(stringifyReduceKind(layout.reduce))
        .append("(" + textOf(mesh, layout.partial, /*quoted=*/false) + ")");
  for (auto [axis, coordinate] : layout.part)
    text.append("@" + mesh.axes[axis].name + "=" + std::to_string(coordinate));
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace {
/// Recursive descent over one line; the first refusal stays in `error`.
class CommandParser {
public:
  CommandParser(std::string_view text,
                const Mesh &mesh [[clang::lifetimebound]])
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
  bool parseCoordinate(MeshPart &out);
  bool parseMeshAxis(MeshAxis &out);
  bool parseInteger(int64_t &out);
  std::string_view word();
  bool atEnd();
  bool take(char c);
  bool expect(char c, std::string_view after);
  bool refuse(const std::string &why);

  std::string_view text;
  const Mesh &mesh;
  size_t at = 0;
};
} // namespace

static std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool CommandParser::refuse(const std::string &why) {
  if (error.empty())
    error = "column " + std::to_string(at + 1) + ": " + why;
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

bool CommandParser::expect(char c, std::string_view after) {
  if (take(c))
    return true;
  return refuse("expected '" + std::string(1, c) + "' after " +
                std::string(after) + ", found " +
                (atEnd() ? "the end" : inQuotes(text.substr(at, 1))));
}

std::string_view CommandParser::word() {
  atEnd();
  size_t end = std::min(text.find_first_of(" \t,()[]:+=@", at), text.size());
  std::string_view result = text.substr(at, end - at);
  at = end;
  return result;
}

bool CommandParser::parseInteger(int64_t &out) {
  atEnd();
  size_t start = at;
  std::string_view digits = word();
  const char *end = digits.data() + digits.size();
  auto [rest, fault] = std::from_chars(digits.data(), end, out);
  if (fault != std::errc() || rest != end || out < 1 ||
      out > std::numeric_limits<int32_t>::max()) {
    at = start;
    return refuse("expected a number from 1 to 2147483647, found " +
                  inQuotes(digits));
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
  std::string_view name = word();
  std::optional<unsigned> axis = mesh.find(name);
  if (!axis) {
    at = start;
    if (name.empty())
      return refuse("expected an axis or '-'");
    std::string known;
    for (const MeshAxis &other : mesh.axes)
      known += (known.empty() ? "" : ", ") + other.name;
    return refuse("mesh has no axis " + inQuotes(name) + ", it has " + known);
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
  std::string_view name = word();
  std::optional<ReduceKind> kind = parseReduceKind(name);
  if (!kind)
    return refuse("no reduction " + inQuotes(name) +
                  ", one of sum, max, min, prod, and, or is meant");
  out.reduce = *kind;
  return expect('(', "the reduction") && parseList(out.partial);
}

/// Parses branch=1 after '@'.
bool CommandParser::parseCoordinate(MeshPart &out) {
  SubAxis axis;
  if (!parseSubAxis(axis) || !expect('=', "an axis"))
    return false;
  size_t start = at;
  std::string_view digits = word();
  AxisCoordinate &made = out.emplace_back(axis.axis, -1);
  auto [rest, fault] = std::from_chars(
      digits.data(), digits.data() + digits.size(), made.coordinate);
  if (fault == std::errc() && rest == digits.data() + digits.size())
    return true;
  at = start;
  return refuse("expected a coordinate, found " + inQuotes(digits));
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
  while (take('@'))
    if (!parseCoordinate(out.part))
      return false;
  if (!atEnd())
    return refuse("unexpected " + inQuotes(text.substr(at)) +
                  " after the layout");
  std::string reason = invalidReason(mesh, out, out.dims.size());
  return reason.empty() || refuse(reason);
}

bool CommandParser::parseMeshAxis(MeshAxis &out) {
  out.name = word();
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
    return refuse("unexpected " + inQuotes(text.substr(at)) +
                  " after the mesh");
  std::string reason = out.invalidReason();
  return reason.empty() || refuse(reason);
}

std::string weft::parseCommandText(std::string_view text, const Mesh &mesh,
                                   Layout &out) {
  CommandParser parser(text, mesh);
  Layout parsed;
  if (parser.parseLayout(parsed))
    out = normalise(mesh, std::move(parsed));
  return parser.error;
}

std::string weft::parseMesh(std::string_view text, Mesh &out) {
  Mesh parsed, none;
  CommandParser parser(text, none);
  if (parser.parseMesh(parsed))
    out = std::move(parsed);
  return parser.error;
}
