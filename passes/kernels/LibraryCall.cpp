//===- LibraryCall.cpp - kernels that a library computes ------------------===//

#include "weft/passes/kernels/LibraryCall.h"

#include "weft/dialects/nest/ContractionInterface.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/layout/MatrixStorage.h"
#include "weft/passes/kernels/LibraryEpilogues.h"

#include <array>

using namespace mlir;

namespace weft {

/// The least multiply-adds of a library call: fewer take less time than a
/// launch.
static constexpr int64_t kLeastMultiplyAdds = 64 << 10;
/// The most calls for a batch of several dimensions that cannot be joined; a
/// call covers the last of them.
static constexpr int64_t kMostCalls = 64;

/// The only contraction among the ops; null if there are none or several.
static Operation *onlyContraction(ArrayRef<Operation *> ops) {
  Operation *only = nullptr;
  for (Operation *op : ops) {
    if (!op->hasTrait<ContractionNest>())
      continue;
    if (only)
      return nullptr;
    only = op;
  }
  return only;
}

/// Whether libraries accumulate products of these types in `sums` and return
/// them as elements of `result`.
static bool haveTypes(Type lhs, Type rhs, Type sums, Type result) {
  bool isShort = lhs.isBF16() || lhs.isF16();
  return lhs == rhs && ((sums.isF64() && lhs == sums && result == sums) ||
                        (sums.isF32() && (lhs == sums || isShort) &&
                         (result == sums || (isShort && result == lhs))));
}

/// The only dimension, or a dimension of size 1 if there is none; nothing for
/// several dimensions.
static std::optional<nest::DotDimension>
oneDimension(ArrayRef<nest::DotDimension> dims) {
  if (dims.size() > 1)
    return std::nullopt;
  return dims.empty() ? nest::DotDimension{1, 0, 0, 0} : dims[0];
}

static SmallVector<int64_t> numbersOf(ArrayRef<nest::DotDimension> dims) {
  SmallVector<int64_t> numbers;
  for (const nest::DotDimension &dim : dims)
    llvm::append_values(numbers, dim.size, dim.lhs, dim.rhs, dim.result);
  return numbers;
}

/// The call's sizes and strides, or null: the three arrays must be matrices
/// that libraries take, the result row-major, with many products in few calls.
static plan::ContractionAttr callOf(MLIRContext *context,
                                    const nest::ContractionShape &shape,
                                    Type sums, plan::Epilogue epilogue,
                                    plan::Compute compute) {
  auto rows = oneDimension(shape.rows), columns = oneDimension(shape.columns),
       contract = oneDimension(shape.contract);
  if (!rows || !columns || !contract || shape.lhsFirst || shape.rhsFirst)
    return {};
  nest::DotDimensions all(shape.batch);
  llvm::append_values(all, *rows, *columns, *contract);
  int64_t products = 1;
  for (const nest::DotDimension &dim : all) {
    if (dim.size < 1 || dim.lhs < 0 || dim.rhs < 0 || dim.result < 0)
      return {};
    products *= dim.size;
  }
  int64_t calls = shape.batch.empty() ? 1
                                      : nest::positionsOf(shape.batch) /
                                            shape.batch.back().size;
  auto result =
      storageOf(columns->size, columns->result, rows->size, rows->result);
  if (products < kLeastMultiplyAdds || calls > kMostCalls ||
      !storageOf(rows->size, rows->lhs, contract->size, contract->lhs) ||
      !storageOf(contract->size, contract->rhs, columns->size, columns->rhs) ||
      !result || !result->alongRows)
    return {};
  return plan::ContractionAttr::get(
      context, numbersOf(shape.batch), numbersOf(*rows), numbersOf(*columns),
      numbersOf(*contract), /*first=*/{}, sums, epilogue, compute);
}

/// The inputs of which the factors are views, and the remaining input or null;
/// nothing if more inputs remain or a factor is no view of an input.
static std::optional<std::array<Value, 3>>
contractedInputs(Operation *contraction, const KernelValues &kernel,
                 nest::IsInMemory isData) {
  if (kernel.inputs.size() < 2 || kernel.inputs.size() > 3)
    return std::nullopt;
  std::array<Value, 3> found;
  SmallVector<Value> left(kernel.inputs);
  for (unsigned i = 0; i < 2; ++i) {
    found[i] = nest::rootOfView(contraction->getOperand(i), isData);
    auto *at = llvm::find(left, found[i]);
    if (at == left.end())
      return std::nullopt;
    left.erase(at);
  }
  if (!left.empty())
    found[2] = left.front();
  return found;
}

std::optional<LibraryCall> libraryCallOf(const KernelValues &kernel,
                                         nest::MatmulPrecision precision) {
  llvm::SmallPtrSet<Operation *, 16> own(kernel.ops.begin(), kernel.ops.end());
  auto isData = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || !own.contains(op) || nest::isDataConstant(op);
  };
  Operation *op = onlyContraction(kernel.ops);
  auto contraction = dyn_cast_or_null<nest::ContractionInterface>(op);
  if (!contraction || kernel.results.size() != 1)
    return std::nullopt;
  auto found = contraction.getContraction(isData);
  auto inputs = contractedInputs(op, kernel, isData);
  if (!found || !inputs)
    return std::nullopt;
  const nest::ContractionShape &shape = *found;
  auto [lhs, rhs, bias] = *inputs;
  Value result = kernel.results.front(), sums = op->getResult(0);
  Type sumType = shape.resultType,
       resultType = cast<RankedTensorType>(result.getType()).getElementType();
  auto epilogue = epilogueOf(result, sums, bias);
  if (!epilogue ||
      !haveTypes(shape.lhsType, shape.rhsType, sumType, resultType))
    return std::nullopt;
  bool rounds = shape.lhsType.isF32() && nest::mayRoundToTf32(op, precision);
  auto compute = rounds ? plan::Compute::tf32 : plan::Compute::full;
  auto call = callOf(op->getContext(), shape, sumType, *epilogue, compute);
  // A bias covers the last dimensions of the result: they must be the columns.
  if (!call ||
      (bias && call.getColumns()[0] !=
                   cast<RankedTensorType>(bias.getType()).getNumElements()))
    return std::nullopt;
  return LibraryCall{call, lhs, rhs, bias};
}

} // namespace weft
