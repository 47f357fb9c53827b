//===- CompareWithGlobal.cpp - interpret before and after, compare --------===//

#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include <cmath>

using namespace mlir;

namespace weft {

namespace {

/// Returns the next number of SplitMix64.
uint64_t nextRandom(uint64_t &state) {
  state += 0x9E3779B97F4A7C15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// The type and layout of an argument or result of the partitioned function.
struct Placed {
  RankedTensorType globalType;
  Layout layout;
};

struct Ports {
  std::vector<Placed> arguments, results;
  Mesh mesh;
};

LogicalResult readPort(func::FuncOp function, Type type, Attribute layout,
                       Attribute globalType, const Twine &what, Ports &ports,
                       std::vector<Placed> &into) {
  auto local = dyn_cast<RankedTensorType>(type);
  if (!local)
    return function.emitOpError(what) << " is no tensor: " << type;
  Placed port{local, Layout::replicated(local.getRank())};
  if (auto typeAttr = dyn_cast_if_present<TypeAttr>(globalType))
    if (auto global = dyn_cast<RankedTensorType>(typeAttr.getValue()))
      port.globalType = withLayout(global, nullptr);
  if (auto layoutAttr = dyn_cast_if_present<LayoutAttr>(layout)) {
    port.layout = layoutAttr.getLayout();
    Mesh mesh = layoutAttr.getMesh().getMesh();
    if (!ports.mesh.axes.empty() && ports.mesh.axes != mesh.axes)
      return function.emitOpError(what) << " lies on another mesh than those "
                                           "before it";
    ports.mesh = mesh;
  }
  into.push_back(port);
  return success();
}

FailureOr<Ports> readPorts(func::FuncOp function) {
  Ports ports;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(readPort(function, function.getArgumentTypes()[i],
                        function.getArgAttr(i, kLayoutAttr),
                        function.getArgAttr(i, kGlobalTypeAttr),
                        "argument " + Twine(i), ports, ports.arguments)))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(readPort(function, function.getResultTypes()[i],
                        function.getResultAttr(i, kLayoutAttr),
                        function.getResultAttr(i, kGlobalTypeAttr),
                        "result " + Twine(i), ports, ports.results)))
      return failure();
  return ports;
}

/// The position of the first element whose difference exceeds the bound, or -1.
int64_t firstDifference(const Tensor &expected, const Tensor &actual,
                        double bound) {
  if (expected.isComplex()) {
    int64_t at = firstDifference(expected.asReals(), actual.asReals(), bound);
    return at < 0 ? at : at / 2;
  }
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (expected.equals(i, actual, i))
      continue;
    // The comparison is false if either side is NaN.
    if (expected.isFloat() &&
        std::fabs(expected.real(i) - actual.real(i)) <= bound)
      continue;
    return i;
  }
  return -1;
}

double largestOf(const Tensor &expected) {
  if (expected.isComplex())
    return largestOf(expected.asReals());
  double largest = 1;
  if (expected.isFloat())
    for (int64_t i = 0; i < expected.size(); ++i)
      if (std::isfinite(expected.real(i)))
        largest = std::max(largest, std::fabs(expected.real(i)));
  return largest;
}

std::string resultName(func::FuncOp function, unsigned index) {
  std::string name = "result " + std::to_string(index);
  if (auto attr = function.getResultAttrOfType<StringAttr>(index, kNameAttr))
    name += " (\"" + attr.str() + "\")";
  return name;
}

LogicalResult compareResult(func::FuncOp function, unsigned index,
                            const Ports &ports, const Tensor &expected,
                            ArrayRef<Tensors> results,
                            const CompareOptions &options) {
  Tensors locals;
  for (const Tensors &tensors : results)
    locals.push_back(tensors[index]);
  Tensor actual;
  std::string reason =
      gatherTensor(ports.mesh, ports.results[index].layout,
                   ports.results[index].globalType.getShape(), locals, actual);
  if (!reason.empty())
    return function.emitOpError(resultName(function, index)) << ": " << reason;
  if (actual.getType() != expected.getType())
    return function.emitOpError(resultName(function, index))
           << " has type " << actual.getType() << ", the global program's is "
           << expected.getType();
  double bound = options.errorBounds.empty()
                     ? options.tolerance * largestOf(expected)
                     : options.errorBounds[index];
  int64_t at = firstDifference(expected, actual, bound);
  if (at < 0)
    return success();
  return function.emitOpError(resultName(function, index))
         << " differs at " << indexText(at, expected.getShape())
         << ": the global program gives " << expected.text(at)
         << ", the devices give " << actual.text(at);
}

/// The bound, from 1 to 8, below which integers are valid indices into every
/// dimension that the program looks up.
uint64_t indexBound(func::FuncOp global) {
  int64_t bound = 8;
  global.walk([&](ShardingRuleOpInterface op) {
    for (ShardingRule rule = op.getShardingRule();
         const Factor &factor : rule.factors)
      if (factor.kind == FactorKind::Lookup)
        bound = std::min(bound, std::max<int64_t>(factor.size, 1));
  });
  return static_cast<uint64_t>(bound);
}

/// Replaces floats by |x| + 1/16, as a step may take their roots and inverses.
void makePositive(Tensor &tensor) {
  for (int64_t i = 0; tensor.isFloat() && i < tensor.size(); ++i)
    tensor.setReal(i, std::fabs(tensor.real(i)) + 0.0625);
}

Tensor drawArgument(func::FuncOp function, unsigned index, const Placed &port,
                    const CompareOptions &options, uint64_t bound) {
  Tensor tensor = drawTensor(port.globalType, options.draw,
                             options.seed * 1000003 + index, bound);
  auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
  if (role && (role.getValue() == "slot" || role.getValue() == "state"))
    makePositive(tensor);
  return tensor;
}

} // namespace

Tensor drawTensor(RankedTensorType type, Draw draw, uint64_t seed,
                  uint64_t integersBelow) {
  Tensor tensor(type);
  if (tensor.isComplex())
    return Tensor::ofPairs(type, drawTensor(tensor.asReals().getType(), draw,
                                            seed, integersBelow));
  uint64_t state = seed;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = nextRandom(state) >> 11;
    if (!tensor.isFloat())
      tensor.setInteger(i, type.getElementType().isUnsignedInteger(32)
                               ? static_cast<int64_t>(bits)
                               : static_cast<int64_t>(bits % integersBelow));
    else if (draw == Draw::Integers)
      tensor.setReal(i, static_cast<double>(bits % 9) - 4);
    else
      tensor.setReal(i, std::ldexp(static_cast<double>(bits), -52) - 1);
  }
  return tensor;
}

LogicalResult compareWithGlobal(func::FuncOp global, func::FuncOp partitioned,
                                const CompareOptions &options) {
  FailureOr<Ports> ports = readPorts(partitioned);
  if (failed(ports))
    return failure();
  if (global.getNumArguments() != ports->arguments.size() ||
      global.getNumResults() != ports->results.size())
    return partitioned.emitOpError("has ")
           << ports->arguments.size() << " arguments and "
           << ports->results.size() << " results, the global program "
           << global.getNumArguments() << " and " << global.getNumResults();
  Tensors inputs;
  uint64_t bound = indexBound(global);
  SmallVector<Tensors> locals(ports->mesh.size());
  for (auto [index, port] : llvm::enumerate(ports->arguments)) {
    inputs.push_back(
        options.arguments.empty()
            ? drawArgument(partitioned, index, port, options, bound)
            : options.arguments[index]);
    // Partial values are spread over several summands only for integers: adding
    // and subtracting r would round real numbers.
    bool spread = port.layout.isPartial() && options.draw == Draw::Integers;
    Tensors blocks = (spread ? spreadTensor : shardTensor)(
        ports->mesh, port.layout, inputs.back());
    for (auto [device, block] : llvm::enumerate(blocks))
      locals[device].push_back(block);
  }
  FailureOr<Tensors> expected = interpretFunction(global, inputs);
  if (failed(expected))
    return failure();
  auto results = interpretDevices(partitioned, ports->mesh, locals);
  if (failed(results))
    return failure();
  for (auto [index, tensor] : llvm::enumerate(*expected))
    if (failed(compareResult(partitioned, index, *ports, tensor, *results,
                             options)))
      return failure();
  return success();
}

} // namespace weft
