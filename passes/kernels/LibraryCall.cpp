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

static SmallVector<int64_t> numbersOf(ArrayRef<nest::DotDimension> dims) {
  SmallVector<int64_t> numbers;
  for (const nest::DotDimension &dim : dims)
    llvm::append_values(numbers, dim.size, dim.lhs, dim.rhs, dim.result);
  return numbers;
}

namespace {
/// A contraction as calls of a library: a product of matrices, `batch` times.
/// One call covers the last dimension of the batch.
struct Matrices {
  nest::DotDimensions batch;
  nest::DotDimension rows{1, 0, 0, 0}, columns{1, 0, 0, 0},
      contract{1, 0, 0, 0};

  int64_t calls() const {
    return batch.empty() ? 1 : nest::positionsOf(batch) / batch.back().size;
  }
  int64_t multiplyAdds() const {
    return nest::positionsOf(batch) * rows.size * columns.size * contract.size;
  }
  /// Whether libraries take all three matrices, and store the result by rows.
  bool areAddressable() const {
    auto isRefused = [](const nest::DotDimension &dim) {
      return dim.size < 1 || dim.lhs < 0 || dim.rhs < 0 || dim.result < 0;
    };
    if (llvm::any_of(batch, isRefused) || isRefused(rows) ||
        isRefused(columns) || isRefused(contract))
      return false;
    auto result =
        storageOf(columns.size, columns.result, rows.size, rows.result);
    return result && result->alongRows &&
           storageOf(rows.size, rows.lhs, contract.size, contract.lhs) &&
           storageOf(contract.size, contract.rhs, columns.size, columns.rhs);
  }
};
} // namespace

/// The matrices with dimension `row` of the rows and `column` of the columns;
/// other dimensions of these are a part of the batch.
static Matrices matricesOf(const nest::ContractionShape &shape, size_t row,
                           size_t column) {
  Matrices its{.batch = shape.batch};
  auto take = [&](ArrayRef<nest::DotDimension> dims, size_t taken,
                  nest::DotDimension &into) {
    for (auto [i, dim] : llvm::enumerate(dims))
      (i == taken ? into : its.batch.emplace_back()) = dim;
  };
  take(shape.rows, row, its.rows);
  take(shape.columns, column, its.columns);
  take(shape.contract, 0, its.contract);
  // The fewest calls are left when one covers the largest dimension.
  if (!its.batch.empty())
    std::swap(*llvm::max_element(its.batch,
                                 [](const auto &a, const auto &b) {
                                   return a.size <= b.size;
                                 }),
              its.batch.back());
  return its;
}

/// The contraction in the fewest calls, and of those the largest; nothing if no
/// call computes it. A contraction of several dimensions that are not adjacent
/// in memory has none.
static std::optional<Matrices>
fewestCalls(const nest::ContractionShape &shape) {
  if (shape.contract.size() > 1)
    return std::nullopt;
  std::optional<Matrices> best;
  for (size_t row = 0; row < std::max<size_t>(shape.rows.size(), 1); ++row)
    for (size_t column = 0; column < std::max<size_t>(shape.columns.size(), 1);
         ++column) {
      Matrices its = matricesOf(shape, row, column);
      if (!its.areAddressable())
        continue;
      auto order = [](const Matrices &of) {
        return std::pair(of.calls(), -of.rows.size * of.columns.size);
      };
      if (!best || order(its) < order(*best))
        best = std::move(its);
    }
  return best;
}

/// The inputs of which the factors are views (perhaps one), and the remaining
/// input or null; nothing if more inputs remain or a factor is no view of one.
static std::optional<std::array<Value, 3>>
contractedInputs(Operation *contraction, const KernelValues &kernel,
                 nest::IsInMemory isData) {
  std::array<Value, 3> found;
  SmallVector<Value> left(kernel.inputs);
  for (unsigned i = 0; i < 2; ++i) {
    found[i] = nest::rootOfView(contraction->getOperand(i), isData);
    if (!llvm::is_contained(kernel.inputs, found[i]))
      return std::nullopt;
    llvm::erase(left, found[i]);
  }
  if (left.size() > 1)
    return std::nullopt;
  if (!left.empty())
    found[2] = left.front();
  return found;
}

std::optional<LibraryCall> libraryCallOf(const KernelValues &kernel,
                                         const nest::TargetLimits &limits,
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
  auto its = fewestCalls(shape);
  // A bias covers the last dimensions of the result: they must be the columns.
  if (!its || its->calls() > limits.library.mostCalls ||
      its->multiplyAdds() / its->calls() < limits.library.leastMultiplyAdds ||
      (bias && its->columns.size !=
                   cast<RankedTensorType>(bias.getType()).getNumElements()))
    return std::nullopt;
  bool rounds = shape.lhsType.isF32() && nest::mayRoundToTf32(op, precision);
  SmallVector<int64_t> first;
  if (shape.lhsFirst || shape.rhsFirst)
    first = {shape.lhsFirst, shape.rhsFirst};
  auto call = plan::ContractionAttr::get(
      op->getContext(), numbersOf(its->batch), numbersOf(its->rows),
      numbersOf(its->columns), numbersOf(its->contract), first, sumType,
      *epilogue, rounds ? plan::Compute::tf32 : plan::Compute::full);
  return LibraryCall{call,        op, lhs, rhs, bias, its->multiplyAdds(),
                     its->calls()};
}

} // namespace weft
