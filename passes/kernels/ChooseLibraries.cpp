//===- ChooseLibraries.cpp - kernels that a library may compute -----------===//

#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/ContractionInterface.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/layout/MatrixStorage.h"
#include "weft/passes/kernels/LibraryEpilogues.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_CHOOSELIBRARIES
#include "weft/passes/kernels/Passes.h.inc"

/// Below so many multiply-adds a launch takes longer than what it does.
static constexpr int64_t kLeastMultiplyAdds = 64 << 10;
/// Matrices of a batch whose strides join to no one dimension are so many calls
/// at most.
static constexpr int64_t kMostCalls = 64;

static bool isData(Value value) {
  Operation *op = value.getDefiningOp();
  return !op || nest::isDataConstant(op);
}

/// The only contraction of the kernel.
static Operation *onlyContraction(func::FuncOp kernel) {
  Operation *only = nullptr;
  for (Operation &op : kernel.getBody().front()) {
    if (!op.hasTrait<ContractionNest>())
      continue;
    if (only)
      return nullptr;
    only = &op;
  }
  return only;
}

/// Whether libraries add up products of such elements in `sums`, and give sums
/// as elements of the result.
static bool haveTypes(Type lhs, Type rhs, Type sums, Type result) {
  bool isShort = lhs.isBF16() || lhs.isF16();
  return lhs == rhs && ((sums.isF64() && lhs == sums && result == sums) ||
                        (sums.isF32() && (lhs == sums || isShort) &&
                         (result == sums || (isShort && result == lhs))));
}

/// One dimension; where there is none, one step.
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

/// The call's sizes and strides, where the three are matrices that libraries
/// take; the result's neighbours are those of columns.
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
      numbersOf(*contract), sums, epilogue, compute);
}

/// Null where no library computes the kernel. `mayRound`: products of f32 may have
/// ten bits of mantissa.
static plan::ContractionAttr chooseLibrary(func::FuncOp kernel, bool mayRound) {
  Operation *op = onlyContraction(kernel);
  auto contraction = dyn_cast_or_null<nest::ContractionInterface>(op);
  if (!contraction || kernel.getNumResults() != 1)
    return {};
  auto found = contraction.getContraction(isData);
  if (!found)
    return {};
  const nest::ContractionShape &shape = *found;
  // Arguments are lhs, rhs, and perhaps the bias.
  unsigned arguments = kernel.getNumArguments();
  for (unsigned i = 0; i < 2; ++i)
    if (arguments < 2 || arguments > 3 ||
        nest::rootOfView(op->getOperand(i), isData) != kernel.getArgument(i))
      return {};
  Value result = kernel.getBody().front().getTerminator()->getOperand(0),
        sums = op->getResult(0);
  Type sumType = shape.resultType,
       resultType = cast<RankedTensorType>(result.getType()).getElementType();
  auto epilogue = epilogueOf(result, sums,
                             arguments == 3 ? kernel.getArgument(2) : Value());
  if (!epilogue ||
      !haveTypes(shape.lhsType, shape.rhsType, sumType, resultType))
    return {};
  auto compute = mayRound && shape.lhsType.isF32() ? plan::Compute::tf32
                                                   : plan::Compute::full;
  auto call = callOf(kernel.getContext(), shape, sumType, *epilogue, compute);
  // The last dimensions of the result, which a bias has, are the columns?
  if (call && plan::hasBias(*epilogue) &&
      call.getColumns()[0] !=
          cast<RankedTensorType>(kernel.getArgument(2).getType())
              .getNumElements())
    return {};
  return call;
}

namespace {
struct ChooseLibrariesPass : impl::ChooseLibrariesBase<ChooseLibrariesPass> {
  using ChooseLibrariesBase::ChooseLibrariesBase;
  void runOnOperation() override {
    if (!StringRef(target).starts_with("cuda:"))
      return;
    bool mayRound =
        nest::matmulPrecisionOf(getOperation()) == nest::MatmulPrecision::Tf32;
    for (auto kernel : getOperation().getOps<func::FuncOp>()) {
      if (!isKernel(kernel) || nest::decisionsOf(kernel))
        continue;
      plan::ContractionAttr call = chooseLibrary(kernel, mayRound);
      if (!call)
        continue;
      kernel->setAttr(plan::kLibraryAttr, call);
      ++chosen;
    }
  }
};
} // namespace
} // namespace weft
