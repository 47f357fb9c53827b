//===- Attributes.cpp - meshes and layouts as attributes ------------------===//
//
// A layout's code is its words: the number of dimensions; for each dimension
// the number of axes and three words an axis (axis, skip, size); the partial
// axes likewise; the reduction kind; axis and coordinate of each axis that the
// part fixes. [{"data"}, {}] on data=2, model=4 is
//
//   2   1  0 1 2   0   0   0
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace weft;

#define GET_ATTRDEF_CLASSES
#include "weft/dialects/weft/WeftAttributes.cpp.inc"

void WeftDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/dialects/weft/WeftAttributes.cpp.inc"
      >();
}

FailureOr<ReduceKind> FieldParser<ReduceKind>::parse(AsmParser &parser) {
  StringRef word;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (std::optional<ReduceKind> kind = parseReduceKind(word))
    return *kind;
  parser.emitError(loc) << "unknown reduction '" << word
                        << "'; known are sum, max, min, prod, and, or";
  return failure();
}

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

static Mesh toMesh(ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes,
                   ArrayRef<int64_t> devices, ArrayRef<FloatAttr> latency,
                   ArrayRef<FloatAttr> bandwidth) {
  Mesh mesh;
  for (auto [index, name] : llvm::enumerate(names)) {
    MeshAxis axis{name.str(), sizes[index]};
    if (!latency.empty())
      axis.latency = latency[index].getValueAsDouble();
    if (!bandwidth.empty())
      axis.bandwidth = bandwidth[index].getValueAsDouble();
    mesh.axes.push_back(axis);
  }
  mesh.devices.assign(devices.begin(), devices.end());
  return mesh;
}

Mesh MeshAttr::getMesh() const {
  return toMesh(getNames(), getSizes(), getDevices(), getLatency(),
                getBandwidth());
}

MeshAttr MeshAttr::get(MLIRContext *context, const Mesh &mesh) {
  Builder builder(context);
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SmallVector<FloatAttr> latency, bandwidth;
  bool linksAreOrdinary = true;
  for (const MeshAxis &axis : mesh.axes) {
    names.push_back(builder.getStringAttr(axis.name));
    sizes.push_back(axis.size);
    latency.push_back(builder.getF64FloatAttr(axis.latency));
    bandwidth.push_back(builder.getF64FloatAttr(axis.bandwidth));
    linksAreOrdinary &= axis.latency == MeshAxis().latency &&
                        axis.bandwidth == MeshAxis().bandwidth;
  }
  if (linksAreOrdinary) {
    latency.clear();
    bandwidth.clear();
  }
  return get(context, names, sizes, mesh.devices, latency, bandwidth);
}

// (C1) distinct names, (C2) positive sizes and (C3) each device once are
// checked by invalidReason.
LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes,
                               ArrayRef<int64_t> devices,
                               ArrayRef<FloatAttr> latency,
                               ArrayRef<FloatAttr> bandwidth) {
  size_t axes = names.size();
  if (sizes.size() != axes)
    return emitError() << "mesh has " << axes << " axes, but " << sizes.size()
                       << " sizes";
  for (auto [what, list] :
       {std::pair("latencies", latency), std::pair("bandwidths", bandwidth)})
    if (!list.empty() && list.size() != axes)
      return emitError() << "mesh has " << axes << " axes, but " << list.size()
                         << " " << what;
  std::string reason =
      toMesh(names, sizes, devices, latency, bandwidth).invalidReason();
  if (!reason.empty())
    return emitError() << reason;
  return success();
}

static ParseResult parseFloats(AsmParser &parser,
                               SmallVectorImpl<FloatAttr> &out) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        double value;
        if (parser.parseFloat(value))
          return failure();
        out.push_back(parser.getBuilder().getF64FloatAttr(value));
        return success();
      });
}

static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &out) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(out.emplace_back());
  });
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes, devices;
  SmallVector<FloatAttr> latency, bandwidth;
  SMLoc loc = parser.getCurrentLocation();
  auto parseEntry = [&]() -> ParseResult {
    std::string name;
    if (succeeded(parser.parseOptionalString(&name))) {
      names.push_back(parser.getBuilder().getStringAttr(name));
      return failure(parser.parseEqual() ||
                     parser.parseInteger(sizes.emplace_back()));
    }
    StringRef field;
    SMLoc fieldLoc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field) || parser.parseEqual())
      return failure();
    if (field == "devices")
      return parseIntegers(parser, devices);
    if (field == "latency")
      return parseFloats(parser, latency);
    if (field == "bandwidth")
      return parseFloats(parser, bandwidth);
    return parser.emitError(fieldLoc)
           << "unknown field '" << field
           << "'; known are devices, latency, bandwidth";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseEntry))
    return {};
  return parser.getChecked<MeshAttr>(loc, parser.getContext(), names, sizes,
                                     devices, latency, bandwidth);
}

static void printFloats(AsmPrinter &printer, StringRef field,
                        ArrayRef<FloatAttr> values) {
  if (values.empty())
    return;
  printer << ", " << field << " = [";
  llvm::interleaveComma(values, printer, [&](FloatAttr value) {
    printer.printFloat(value.getValue());
  });
  printer << ']';
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), printer,
                        [&](auto axis) {
                          printer.printString(std::get<0>(axis).getValue());
                          printer << '=' << std::get<1>(axis);
                        });
  if (!getDevices().empty()) {
    printer << ", devices = [";
    llvm::interleaveComma(getDevices(), printer);
    printer << ']';
  }
  printFloats(printer, "latency", getLatency());
  printFloats(printer, "bandwidth", getBandwidth());
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static void encodeAxes(ArrayRef<SubAxis> axes, SmallVectorImpl<int64_t> &code) {
  code.push_back(axes.size());
  for (const SubAxis &sub : axes)
    code.append({sub.axis, sub.skip, sub.size});
}

static SmallVector<int64_t> encode(const Layout &layout) {
  SmallVector<int64_t> code{static_cast<int64_t>(layout.dims.size())};
  for (const SubAxes &axes : layout.dims)
    encodeAxes(axes, code);
  encodeAxes(layout.partial, code);
  code.push_back(static_cast<int64_t>(layout.reduce));
  for (auto [axis, coordinate] : layout.part)
    code.append({axis, coordinate});
  return code;
}

static SubAxes decodeAxes(ArrayRef<int64_t> &code) {
  SubAxes axes;
  int64_t count = code.consume_front();
  for (int64_t i = 0; i < count; ++i) {
    axes.push_back({static_cast<unsigned>(code[0]), code[1], code[2]});
    code = code.drop_front(3);
  }
  return axes;
}

static Layout decode(ArrayRef<int64_t> code) {
  Layout layout;
  int64_t rank = code.consume_front();
  for (int64_t dim = 0; dim < rank; ++dim)
    layout.dims.push_back(decodeAxes(code));
  layout.partial = decodeAxes(code);
  layout.reduce = static_cast<ReduceKind>(code.consume_front());
  for (; !code.empty(); code = code.drop_front(2))
    layout.part.push_back({static_cast<uint32_t>(code[0]), code[1]});
  return layout;
}

Layout LayoutAttr::getLayout() const { return decode(getCode()); }

// Layouts of the program were checked before, so an invalid layout here is an
// error of a pass. Every build reports it: blocks that follow from it would
// have wrong values.
LayoutAttr LayoutAttr::get(MeshAttr mesh, const Layout &layout) {
  const Mesh value = mesh.getMesh();
  std::string reason = invalidReason(value, layout, layout.dims.size());
  if (!reason.empty())
    llvm::report_fatal_error(
        Twine("weft: internal failure: a pass makes the layout ") +
        toString(value, layout) + ": " + reason);
  return get(mesh.getContext(), mesh, encode(normalise(value, layout)));
}

// (C1) to (C3) and (C5) are checked by invalidReason.
LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 MeshAttr mesh, ArrayRef<int64_t> code) {
  Layout layout = decode(code);
  std::string reason =
      invalidReason(mesh.getMesh(), layout, layout.dims.size());
  if (!reason.empty())
    return emitError() << reason;
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  size_t rank = getCode().front();
  if (rank != shape.size()) // (C4)
    return emitError() << "layout has " << rank
                       << " dimensions, but the tensor has " << shape.size();
  return success();
}

ParseResult weft::parseAxes(AsmParser &parser, const Mesh &mesh,
                            SubAxes &axes) {
  do {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalString(&name))) {
      if (axes.empty())
        return success();
      return parser.emitError(loc) << "expected an axis after the comma";
    }
    std::optional<unsigned> axis = mesh.find(name);
    if (!axis)
      return parser.emitError(loc) << "the mesh has no axis \"" << name << '"';
    SubAxis sub = fullAxis(mesh, *axis);
    if (succeeded(parser.parseOptionalColon()) &&
        (parser.parseLParen() || parser.parseInteger(sub.skip) ||
         parser.parseRParen() || parser.parseInteger(sub.size)))
      return failure();
    axes.push_back(sub);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

void weft::printAxes(AsmPrinter &printer, const Mesh &mesh,
                     ArrayRef<SubAxis> axes) {
  llvm::interleaveComma(axes, printer, [&](const SubAxis &sub) {
    printer.printString(mesh.axes[sub.axis].name);
    if (sub != fullAxis(mesh, sub.axis))
      printer << ":(" << sub.skip << ')' << sub.size;
  });
}

static ParseResult parseBraces(AsmParser &parser, const Mesh &mesh,
                               SubAxes &axes) {
  return failure(parser.parseLBrace() || parseAxes(parser, mesh, axes) ||
                 parser.parseRBrace());
}

/// Parses {"branch" = 1}.
ParseResult weft::parsePart(AsmParser &parser, const Mesh &mesh,
                            MeshPart &part) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        std::string name;
        int64_t coordinate;
        SMLoc loc = parser.getCurrentLocation();
        if (parser.parseString(&name) || parser.parseEqual() ||
            parser.parseInteger(coordinate))
          return failure();
        std::optional<unsigned> axis = mesh.find(name);
        if (!axis)
          return parser.emitError(loc)
                 << "the mesh has no axis \"" << name << '"';
        part.push_back({*axis, coordinate});
        return success();
      });
}

ParseResult weft::parsePlace(AsmParser &parser, LayoutAttr &place) {
  MeshAttr mesh;
  Layout layout;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseAttribute(mesh) ||
      parsePart(parser, mesh.getMesh(), layout.part))
    return failure();
  std::string reason = invalidReason(mesh.getMesh(), layout, /*rank=*/0);
  if (!reason.empty())
    return parser.emitError(loc) << reason;
  place = LayoutAttr::get(mesh, layout);
  return success();
}

void weft::printPlace(AsmPrinter &printer, Operation *, LayoutAttr place) {
  printer.printAttribute(place.getMesh());
  printer << ' '
          << toString(place.getMesh().getMesh().axes, place.getLayout().part);
}

static ParseResult parsePartial(AsmParser &parser, const Mesh &mesh,
                                Layout &layout, StringRef word) {
  if (word != "partial")
    return parser.emitError(parser.getCurrentLocation())
           << "expected partial = or at =, found '" << word << "'";
  if (parser.parseEqual())
    return failure();
  FailureOr<ReduceKind> kind = FieldParser<ReduceKind>::parse(parser);
  if (failed(kind))
    return failure();
  layout.reduce = *kind;
  return parseBraces(parser, mesh, layout.partial);
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  MeshAttr meshAttr;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseAttribute(meshAttr) ||
      parser.parseComma())
    return {};
  Mesh mesh = meshAttr.getMesh();
  Layout layout;
  auto parseDim = [&] {
    return parseBraces(parser, mesh, layout.dims.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef word;
    if (parser.parseKeyword(&word))
      return {};
    if (word == "at"
            ? parser.parseEqual() || parsePart(parser, mesh, layout.part)
            : bool(parsePartial(parser, mesh, layout, word)))
      return {};
  }
  if (parser.parseGreater())
    return {};
  // `get` joins digits, which must be valid.
  std::string reason = invalidReason(mesh, layout, layout.dims.size());
  if (!reason.empty()) {
    parser.emitError(loc) << reason;
    return {};
  }
  return get(meshAttr, layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  Mesh mesh = getMesh().getMesh();
  Layout layout = getLayout();
  printer << '<';
  printer.printAttribute(getMesh());
  printer << ", [";
  llvm::interleaveComma(layout.dims, printer, [&](const SubAxes &axes) {
    printer << '{';
    printAxes(printer, mesh, axes);
    printer << '}';
  });
  printer << ']';
  if (layout.isPartial()) {
    printer << ", partial = " << stringifyReduceKind(layout.reduce) << '{';
    printAxes(printer, mesh, layout.partial);
    printer << '}';
  }
  if (!layout.part.empty())
    printer << ", at = " << toString(mesh.axes, layout.part);
  printer << '>';
}
