//===- Reshard.cpp - the output of `weft reshard` -------------------------===//

#include "weft/tools/weft/reshard/Reshard.h"
#include "weft/base/Text.h"

#include "weft/data/arrays/Array.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/sharding/resharding/Resharding.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>
#include <optional>

using namespace weft;

namespace {
struct Task {
  Mesh mesh;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes = 4;
  Layout from, to;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// The bytes of an element by the name of its type in NumPy (float32, uint8) or
/// in MLIR (f32, ui8, complex<f32>).
static std::optional<int64_t> elementBytesOf(llvm::StringRef dtype) {
  if (auto named = elementTypeNamed({dtype.data(), dtype.size()}))
    return int64_t(byteWidth(*named));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(
      &context, [](mlir::Diagnostic &) { return mlir::success(); });
  mlir::Type type = mlir::parseType(dtype, &context);
  if (!type || !componentType(type).isIntOrFloat())
    return std::nullopt;
  return bytesOf(type);
}

static Status parseShape(llvm::StringRef text,
                         llvm::SmallVectorImpl<int64_t> &shape) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::SplitString(text, parts, ",x");
  int64_t elements = 1;
  for (llvm::StringRef part : parts) {
    int64_t size = 0;
    if (part.trim().getAsInteger(10, size) || size < 0)
      return Error{Option{"shape"} + ": '" + part.str() +
                   "' is no size; write 16,16,16"};
    if (size > 0 && elements > (int64_t(1) << 48) / size)
      return Error{Option{"shape"} + ": '" + text.str() +
                   "' has more than 2^48 elements"};
    elements *= std::max<int64_t>(size, 1);
    shape.push_back(size);
  }
  return {};
}

static Status parseLayout(const Option &option, const std::string &text,
                          const Task &task, Layout &out) {
  std::string why = parseCommandText(text, task.mesh, out);
  if (why.empty())
    why = invalidReason(task.mesh, out, task.shape.size());
  return why.empty() ? Status() : Error{option + ": '" + text + "': " + why};
}

static Status parseTask(const ReshardRequest &request, Task &task) {
  if (std::string why = parseMesh(request.mesh, task.mesh); !why.empty())
    return Error{Option{"mesh"} + ": '" + request.mesh + "': " + why};
  if (Status ok = parseShape(request.shape, task.shape); !ok)
    return ok;
  std::optional<int64_t> bytes = elementBytesOf(request.dtype);
  if (!bytes)
    return Error{Option{"dtype"} + ": no element type '" + request.dtype +
                 "'; use the name of a type in MLIR or NumPy, such as f32, "
                 "bf16, ui8, uint8 or complex<f32>"};
  task.elementBytes = *bytes;
  Status from = parseLayout(Option{"from"}, request.from, task, task.from);
  return from ? parseLayout(Option{"to"}, request.to, task, task.to) : from;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// x,y:(1)2
static std::string axesText(const Mesh &mesh, const SubAxes &axes) {
  // The axes as a layout of one dimension, to print without brackets and
  // parentheses.
  Layout layout = Layout::replicated(1);
  layout.dims[0] = axes;
  std::string text = toCommandText(mesh, layout);
  size_t skip = axes.size() > 1 ? 2 : 1;
  return text.substr(skip, text.size() - 2 * skip);
}

static std::string dimsText(const ReshardStep &step) {
  if (step.from < 0 && step.to < 0)
    return "";
  std::string text = step.from < 0 ? "" : std::to_string(step.from);
  return text + "->" + (step.to < 0 ? "" : std::to_string(step.to));
}

/// Prints lines of at most 80 columns, broken after a comma.
static void printWrapped(llvm::raw_ostream &os, llvm::StringRef text,
                         unsigned column, unsigned indent) {
  while (column + text.size() > 80 && column < 79) {
    size_t at = text.rfind(',', 80 - column);
    if (at == llvm::StringRef::npos || at + 1 + column > 80) {
      if (column == indent)
        break;
      at = 0;
    } else {
      ++at;
    }
    os << text.take_front(at) << '\n';
    os.indent(indent);
    column = indent;
    text = text.drop_front(at).ltrim();
  }
  os << text << '\n';
}

static void printTable(llvm::raw_ostream &os, const ReshardPlan &plan,
                       const Mesh &mesh) {
  constexpr unsigned axesWidth = 14, layoutColumn = 56;
  os << "    step            axes           dims          bytes  layout "
        "after\n";
  for (auto [index, step] : llvm::enumerate(plan.steps)) {
    std::string axes = axesText(mesh, step.axes);
    std::string number = std::to_string(index + 1);
    os << llvm::right_justify(number, 2) << "  "
       << llvm::left_justify(stringifyStepKind(step.kind), 16);
    if (axes.size() > axesWidth) {
      printWrapped(os, axes, 20, 20);
      os.indent(20 + axesWidth);
    } else {
      os << llvm::left_justify(axes, axesWidth);
    }
    os << ' ' << llvm::left_justify(dimsText(step), 6)
       << llvm::right_justify(grouped(step.bytes), 13);
    std::string layout = toCommandText(mesh, step.result);
    if (layoutColumn + layout.size() > 80) {
      os << '\n';
      os.indent(20);
      printWrapped(os, layout, 20, 20);
    } else {
      os << "  " << layout << '\n';
    }
  }
}

static void printText(llvm::raw_ostream &os, const ReshardPlan &plan,
                      const Task &task, const ReshardRequest &request) {
  std::string head;
  for (int64_t size : task.shape)
    head += (head.empty() ? "" : "x") + std::to_string(size);
  head = request.dtype + " " + (head.empty() ? "scalar" : head) + " on " +
         request.mesh + ": " + toCommandText(task.mesh, task.from) + " -> " +
         toCommandText(task.mesh, task.to);
  printWrapped(os, head, 0, 0);
  os << '\n';
  if (plan.steps.empty())
    os << "the layouts are equal, nothing moves\n\n";
  else
    printTable(os, plan, task.mesh);
  if (!plan.steps.empty())
    os << '\n';
  os << grouped(plan.bytesReceived) << " bytes received by a device, at least "
     << grouped(plan.lowerBound) << " must be\n";
  if (plan.bytesReceived == plan.lowerBound)
    os << "optimal: no plan moves fewer bytes\n";
  else if (plan.optimal)
    os << "optimal: no other chain of such steps moves fewer bytes\n";
  else
    os << "the best plan found, not proved optimal\n";
}

static void printJson(llvm::raw_ostream &os, const ReshardPlan &plan,
                      const Task &task) {
  llvm::json::Array steps;
  for (const ReshardStep &step : plan.steps) {
    llvm::json::Array axes;
    for (const SubAxis &sub : step.axes)
      axes.push_back(axesText(task.mesh, {sub}));
    llvm::json::Object object{
        {"kind", stringifyStepKind(step.kind)},
        {"axes", std::move(axes)},
        {"bytes", step.bytes},
        {"layout", toCommandText(task.mesh, step.result)}};
    if (step.from >= 0)
      object["from"] = step.from;
    if (step.to >= 0)
      object["to"] = step.to;
    steps.push_back(std::move(object));
  }
  os << llvm::json::Value(
            llvm::json::Object{{"steps", std::move(steps)},
                               {"bytes_received", plan.bytesReceived},
                               {"lower_bound", plan.lowerBound},
                               {"optimal", plan.optimal}})
     << '\n';
}

Result<std::string> weft::reshardReport(const ReshardRequest &request) {
  Task task;
  if (Status ok = parseTask(request, task); !ok)
    return ok.error();
  ReshardOptions options;
  options.allowExchange = request.allowExchange;
  options.fewestBytes = options.thorough = true;
  ReshardPlan plan = planReshard(task.mesh, task.shape, task.elementBytes,
                                 task.from, task.to, options);
  std::string out;
  llvm::raw_string_ostream os(out);
  if (request.json)
    printJson(os, plan, task);
  else
    printText(os, plan, task, request);
  return out;
}
