//===- Lapack.cpp - calls of LAPACK ---------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TypeLists.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;
using namespace weft;
using lapack::ArrayForm;

/// The dimensions in front of those of one matrix.
static ArrayRef<int64_t> batchOf(Type type, const ArrayForm &form) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
  return shape.drop_back(std::min(form.dims.size(), shape.size()));
}

/// The type of an array's elements in a call of these elements.
static Type elementType(MLIRContext *context, lapack::Element of,
                        lapack::Part part) {
  Builder builder(context);
  if (part == lapack::Part::Int32)
    return builder.getI32Type();
  bool isDouble = of == lapack::Element::F64 || of == lapack::Element::C128;
  Type real = isDouble ? builder.getF64Type() : builder.getF32Type();
  bool isPair = part == lapack::Part::Complex ||
                (part == lapack::Part::Same && lapack::isComplex(of));
  return isPair ? Type(ComplexType::get(real)) : real;
}

/// The shapes of one matrix of each array; nothing if a rank is too small.
static std::optional<std::vector<std::vector<int64_t>>>
matricesOf(TypeRange types, ArrayRef<ArrayForm> forms) {
  std::vector<std::vector<int64_t>> shapes;
  for (auto [type, form] : llvm::zip(types, forms)) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(type).getShape();
    if (shape.size() < form.dims.size())
      return std::nullopt;
    ArrayRef<int64_t> matrix = shape.take_back(form.dims.size());
    shapes.emplace_back(matrix.begin(), matrix.end());
  }
  return shapes;
}

Result<lapack::Call> LapackOp::getCall() {
  Result<lapack::Named> named = lapack::findRoutine(getRoutine());
  if (!named)
    return named.error();
  const std::vector<ArrayForm> &taken = named->routine->operands;
  std::vector<ArrayForm> given = named->routine->resultsFor(named->element);
  TypeRange in = getInputs().getTypes(), out = getResultTypes();
  if (in.size() != taken.size() || out.size() != given.size())
    return Error{getRoutine().str() + " has " + std::to_string(in.size()) +
                 " operands and " + std::to_string(out.size()) +
                 " results, expected " + std::to_string(taken.size()) +
                 " and " + std::to_string(given.size())};
  auto operands = matricesOf(in, taken), results = matricesOf(out, given);
  if (!operands || !results)
    return Error{getRoutine().str() +
                 " has an array with fewer dimensions than one matrix"};
  ArrayRef<int64_t> batch = batchOf(in[0], taken[0]);
  for (auto [types, forms] :
       {std::pair(in, ArrayRef(taken)), std::pair(out, ArrayRef(given))})
    for (auto [type, form] : llvm::zip(types, forms))
      if (batchOf(type, form) != batch)
        return Error{getRoutine().str() +
                     " has arrays whose batch dimensions differ"};
  return lapack::Call::make(getRoutine().str(), getOptions(),
                            ShapedType::getNumElements(batch), *operands,
                            *results);
}

LogicalResult LapackOp::verify() {
  Result<lapack::Named> named = lapack::findRoutine(getRoutine());
  if (!named) // (C1)
    return emitOpError() << named.message();
  Result<lapack::Call> call = getCall();
  if (!call) // (C3)
    return emitOpError() << call.message();
  auto check = [&](TypeRange types, ArrayRef<ArrayForm> forms,
                   StringRef what) -> LogicalResult {
    for (auto [n, type, form] : llvm::enumerate(types, forms)) {
      Type expected = elementType(getContext(), named->element, form.part);
      if (getElementTypeOrSelf(type) != expected) // (C2)
        return emitOpError()
               << what << " " << n << " of " << getRoutine() << " is " << type
               << ", expected elements of " << expected;
    }
    return success();
  };
  return success(succeeded(check(getInputs().getTypes(),
                                 named->routine->operands, "operand")) &&
                 succeeded(check(getResultTypes(), call->results(), "result")));
}

// A matrix is computed as a whole, and each one of a batch independently.
ShardingRule LapackOp::getShardingRule() {
  Result<lapack::Call> call = getCall(); // the verifier has made it before
  const lapack::Routine &routine = call->routine();
  ShardingRule rule;
  ArrayRef<int64_t> batch =
      batchOf(getInputs().getTypes()[0], routine.operands[0]);
  for (int64_t size : batch)
    rule.factors.push_back({size, FactorKind::Pass});
  char independent =
      routine.independent ? routine.independent(call->options()) : 0;
  unsigned systems = rule.factors.size();
  if (independent)
    rule.factors.push_back(
        {call->sizes()[size_t(independent - 'a')], FactorKind::Pass});
  auto factorsOf = [&](const ArrayForm &form) {
    TensorFactors factors(batch.size() + form.dims.size());
    for (unsigned dim = 0; dim < batch.size(); ++dim)
      factors[dim] = {dim};
    for (auto [dim, letter] : llvm::enumerate(form.dims))
      if (letter == independent)
        factors[batch.size() + dim] = {systems};
    return factors;
  };
  for (const ArrayForm &form : routine.operands)
    rule.operands.push_back(factorsOf(form));
  for (const ArrayForm &form : call->results())
    rule.results.push_back(factorsOf(form));
  return rule;
}
