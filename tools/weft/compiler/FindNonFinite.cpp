//===- FindNonFinite.cpp - which op made the first NaN --------------------===//

#include "weft/tools/weft/compiler/FindNonFinite.h"

#include "weft/compiler/explain/Provenance.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Interpret.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace weft;
using namespace weft::tool;

namespace {
enum class Flaw { None, Infinity, NaN };

Flaw flawOf(std::complex<double> value) {
  if (std::isnan(value.real()) || std::isnan(value.imag()))
    return Flaw::NaN;
  return std::isfinite(value.real()) && std::isfinite(value.imag())
             ? Flaw::None
             : Flaw::Infinity;
}

/// The worst flaw of a tensor, and the first element that has it.
struct FoundFlaw {
  Flaw flaw = Flaw::None;
  int64_t at = 0;
};
FoundFlaw flawOf(const Tensor &tensor) {
  FoundFlaw out;
  if (!tensor.isFloat() && !tensor.isComplex())
    return out;
  for (int64_t i = 0; i < tensor.size() && out.flaw != Flaw::NaN; ++i)
    if (Flaw flaw = flawOf(tensor.number(i)); flaw > out.flaw)
      out = {flaw, i};
  return out;
}

/// The range of an op's operands: 0.5 to 3.
std::string rangeOf(ArrayRef<const Tensor *> tensors) {
  double low = INFINITY, high = -INFINITY;
  for (const Tensor *tensor : tensors)
    for (int64_t i = 0; tensor->isFloat() && i < tensor->size(); ++i) {
      low = std::min(low, tensor->real(i));
      high = std::max(high, tensor->real(i));
    }
  char text[80];
  std::snprintf(text, sizeof text, "%g to %g", low, high);
  return low <= high ? text : "no number";
}

std::string joined(const std::vector<std::string> &texts) {
  std::string out;
  for (const std::string &text : texts)
    out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// The name of an op: weft.log of d1 (train.py:12), in the backward pass,
std::string nameOf(Operation &op) {
  std::string out = op.getName().getStringRef().str();
  std::vector<std::string> paths = pathsOf(op.getLoc()),
                           lines = linesOf(op.getLoc());
  if (!paths.empty())
    out += " of " + joined(paths);
  if (!lines.empty())
    out += " (" + joined(lines) + ")";
  return out + (isBackward(op.getLoc()) ? ", in the backward pass," : "");
}

/// The interpreter's tensor for a port.
FailureOr<Tensor> tensorOf(RankedTensorType type, const Array &array) {
  Tensor out(type);
  size_t width = byteWidth(array.type);
  bool fits = out.size() == array.count() && !out.isComplex() &&
              llvm::divideCeil(out.bitWidth(), 8) == width;
  for (int64_t i = 0; fits && i < out.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, array.bytes.data() + i * width, width);
    out.setBits(i, bits);
  }
  if (!fits)
    return failure();
  return out;
}
} // namespace

/// Converts a function's arguments; returns a description of the first that is
/// not finite, or empty.
static Result<std::string> argumentsOf(func::FuncOp function,
                                       const std::vector<NamedArray> &inputs,
                                       Tensors &out) {
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttr);
    auto given = llvm::find_if(inputs, [&](const NamedArray &input) {
      return name && input.name == name.getValue();
    });
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (given == inputs.end() || !type)
      return Error{"an input of the step has no value"};
    auto tensor = tensorOf(type, given->array);
    if (failed(tensor))
      return Error{given->name + " has another type than the step's input"};
    if (FoundFlaw found = flawOf(*tensor); found.flaw != Flaw::None)
      return given->name + " is " + tensor->text(found.at) + " at " +
             indexText(found.at, tensor->getShape()) + " before the step";
    out.push_back(std::move(*tensor));
  }
  return std::string();
}

Result<std::string>
weft::tool::findNonFinite(ModuleOp module,
                          const std::vector<NamedArray> &inputs) {
  func::FuncOp function = *module.getOps<func::FuncOp>().begin();
  Tensors arguments;
  Result<std::string> said = argumentsOf(function, inputs, arguments);
  if (!said || !said->empty())
    return said;
  std::string first;
  auto observe = [&](Operation &op, ArrayRef<const Tensor *> given,
                     ArrayRef<Tensor> results) {
    if (!first.empty() || op.getNumOperands() == 0)
      return; // a constant infinity is intentional
    Flaw before = Flaw::None;
    for (const Tensor *tensor : given)
      before = std::max(before, flawOf(*tensor).flaw);
    for (const Tensor &tensor : results)
      if (FoundFlaw found = flawOf(tensor);
          found.flaw > before && first.empty())
        first = nameOf(op) + " gives " + tensor.text(found.at) + " at " +
                indexText(found.at, tensor.getShape()) +
                ", where it was given numbers from " + rangeOf(given);
  };
  if (failed(interpretFunction(function, arguments, observe)))
    return Error{};
  return first.empty()
             ? std::string("no op of the reference interpreter, whose "
                           "sums are rounded less")
             : first;
}
