//===- LibraryGroups.cpp - groups that a library computes -----------------===//

#include "weft/dialects/nest/ContractionInterface.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

#include <array>

using namespace mlir;

namespace weft {

bool KernelGroups::isOfLibrary(ArrayRef<unsigned> of) const {
  return libraryCallOf(joined(of), limits, nest::MatmulPrecision::F32)
      .has_value();
}

//===----------------------------------------------------------------------===//
// Operands that are stored for a library
//===----------------------------------------------------------------------===//

/// The kernel of one contraction and the ops that are copied into it; the
/// values in `stored` are in memory.
static KernelValues kernelOf(Operation *contraction, const CopiedOps &copies,
                             ArrayRef<Value> stored) {
  llvm::SetVector<Operation *> ops;
  for (Value operand : contraction->getOperands())
    if (Operation *op = operand.getDefiningOp();
        op && copies.contains(op) && !llvm::is_contained(stored, operand)) {
      addCopies(op, copies, ops);
      ops.insert(op);
    }
  ops.insert(contraction);
  KernelValues kernel;
  llvm::SetVector<Value> inputs;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp(); !def || !ops.contains(def))
        inputs.insert(operand);
  kernel.inputs = inputs.takeVector();
  kernel.ops = ops.takeVector();
  kernel.results = {contraction->getResult(0)};
  return kernel;
}

/// Multiply-adds of the device in a cycle, with operands of the type.
static int64_t productsInCycle(Type type, const nest::BlockLimits &block) {
  return block.processors *
         (type.isBF16() || type.isF16() ? block.half : block.fma);
}

/// Cycles of a library call, with the copies of its stored operands.
static int64_t cyclesOf(const LibraryCall &its, ArrayRef<Value> stored,
                        const nest::TargetLimits &limits) {
  const nest::LibraryLimits &library = limits.library;
  Type type = typeOf(its.contraction->getOperand(0)).getElementType();
  int64_t cycles = library.launchCycles + (its.calls - 1) * library.callCycles +
                   its.multiplyAdds / productsInCycle(type, limits.block);
  for (Value value : stored)
    cycles += library.launchCycles +
              2 * bufferBytes(typeOf(value)) / library.memoryBytes;
  return cycles;
}

/// Cycles of generated code for products of which a library takes
/// `multiplyAdds`.
static int64_t cyclesOfOwn(Operation *op, int64_t multiplyAdds,
                           const KernelValues &kernel,
                           const nest::TargetLimits &limits) {
  auto isInput = [&](Value value) {
    return llvm::is_contained(kernel.inputs, value);
  };
  Type type = typeOf(op->getOperand(0)).getElementType();
  bool isCopied = cast<nest::ContractionInterface>(op)
                      .getContraction(isInput)
                      .has_value(),
       isHalf = type.isBF16() || type.isF16();
  const nest::LibraryLimits &library = limits.library;
  int64_t times = isCopied ? library.timesCopied
                  : isHalf ? library.timesComputedHalf
                           : library.timesComputed;
  return library.launchCycles +
         times * multiplyAdds / productsInCycle(type, limits.block);
}

namespace {
/// The fastest way found to compute a contraction.
struct Fastest {
  std::optional<int64_t> cycles; ///< nothing before a library call was found
  SmallVector<Value> stored;     ///< operands that kernels store for it

  /// Tries the contraction with these values stored.
  void tryWith(Operation *op, const CopiedOps &copies, ArrayRef<Value> values,
               const nest::TargetLimits &limits) {
    auto call = libraryCallOf(kernelOf(op, copies, values), limits,
                              nest::MatmulPrecision::F32);
    if (!call)
      return;
    int64_t found = cyclesOf(*call, values, limits);
    if (!cycles && !values.empty()) // Nothing is stored for generated code.
      cycles =
          cyclesOfOwn(op, call->multiplyAdds, kernelOf(op, copies, {}), limits);
    if (cycles && found >= *cycles)
      return;
    cycles = found;
    stored.assign(values.begin(), values.end());
  }
};

/// An operand that is read from a copy in the order of the product.
struct Reordered {
  Operation *copy = nullptr, *view = nullptr;
};
} // namespace

/// The sets of operands that may be stored, by number.
static constexpr unsigned kLhs[] = {0}, kRhs[] = {1}, kBoth[] = {0, 1};
static const ArrayRef<unsigned> kOperandSets[] = {kLhs, kRhs, kBoth};

/// Tries a contraction with the operands that kernels compute by copied ops.
static Fastest withStored(Operation *op, const CopiedOps &copies,
                          const nest::TargetLimits &limits) {
  Fastest fastest;
  fastest.tryWith(op, copies, {}, limits);
  for (ArrayRef<unsigned> set : kOperandSets) {
    llvm::SetVector<Value> stored;
    bool isPossible = true;
    for (unsigned number : set) {
      Operation *operand = op->getOperand(number).getDefiningOp();
      isPossible &= operand && copies.contains(operand) &&
                    !operand->hasTrait<OpTrait::ConstantLike>();
      stored.insert(op->getOperand(number));
    }
    if (isPossible)
      fastest.tryWith(op, copies, stored.getArrayRef(), limits);
  }
  return fastest;
}

/// Transposes the operand to its batch, rows and terms, and back: the second
/// transpose is a view of the first. Nothing for an operand in this order.
static Reordered reorder(Operation *op, unsigned number) {
  auto dims = cast<nest::OpLoopsInterface>(op).getProductDims();
  const auto &factor = number == 0 ? dims->lhs : dims->rhs;
  SmallVector<int64_t> order(factor->batch);
  llvm::append_range(order, factor->rows);
  llvm::append_range(order, factor->terms);
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return {};
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value copy = TransposeOp::create(builder, loc, op->getOperand(number), order);
  Value view =
      TransposeOp::create(builder, loc, copy, invertPermutationVector(order));
  return {copy.getDefiningOp(), view.getDefiningOp()};
}

/// Lets kernels store operands in the order of the product, if a library then
/// computes it in less time than generated code takes.
static void storeReordered(Operation *op, CopiedOps &copies,
                           const nest::TargetLimits &limits) {
  auto loops = dyn_cast<nest::OpLoopsInterface>(op);
  auto dims = loops ? loops.getProductDims() : std::nullopt;
  if (!dims || !dims->lhs || !dims->rhs)
    return;
  SmallVector<Value> given(op->getOperands());
  std::array<Reordered, 2> made = {reorder(op, 0), reorder(op, 1)};
  for (const Reordered &of : made)
    if (of.view)
      copies.copy(of.view);
  auto use = [&](ArrayRef<unsigned> set) {
    SmallVector<Value> stored;
    op->setOperands(given);
    for (unsigned number : set) {
      if (!made[number].view)
        return SmallVector<Value>();
      op->setOperand(number, made[number].view->getResult(0));
      stored.push_back(made[number].copy->getResult(0));
    }
    return stored;
  };
  Fastest fastest;
  ArrayRef<unsigned> best;
  for (ArrayRef<unsigned> set : kOperandSets)
    if (auto stored = use(set); !stored.empty()) {
      fastest.tryWith(op, copies, stored, limits);
      if (fastest.stored == stored)
        best = set;
    }
  (void)use(best);
  for (const Reordered &of : made)
    if (of.view && of.view->use_empty()) {
      copies.store(of.view);
      of.view->erase();
      of.copy->erase();
    }
}

void KernelGroups::storeOperands(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (!isa<nest::ContractionInterface>(op))
      continue;
    Fastest fastest = withStored(&op, copies, limits);
    for (Value operand : fastest.stored)
      copies.store(operand.getDefiningOp());
    if (!fastest.cycles)
      storeReordered(&op, copies, limits);
  }
}

//===----------------------------------------------------------------------===//
// Results that a library rounds
//===----------------------------------------------------------------------===//

/// Merges a contraction of a library with the ops after which its result takes
/// fewer bytes, so that a kernel that follows reads those:
///
///   dot, convert to bf16 | div, select
void KernelGroups::mergeRounded() {
  for (unsigned group = 0; group < groups.size(); ++group) {
    if (!groups[group].hasContraction || groups[group].ops.size() != 1)
      continue;
    Value sums = groups[group].ops.front()->getResult(0), value = sums;
    SmallVector<unsigned> chain{group};
    size_t taken = 1;
    while (isOfLibrary(chain)) {
      if (bufferBytes(typeOf(value)) < bufferBytes(typeOf(sums)))
        taken = chain.size();
      auto next =
          value.hasOneUse() ? groupOf.find(*value.user_begin()) : groupOf.end();
      if (next == groupOf.end())
        break;
      const KernelGroup &user = groups[next->second];
      if (!user.isElementwise || user.isDonated || user.ops.size() != 1)
        break;
      chain.push_back(next->second);
      value = user.ops.front()->getResult(0);
    }
    for (size_t i = 1; i < taken; ++i) {
      if (!fitOneNest(chain[i - 1], chain[i]) ||
          !canMerge(chain[i - 1], chain[i]))
        break;
      rankTogether(chain[i - 1], chain[i]);
      merge(chain[i], chain[i - 1]);
    }
  }
}

bool KernelGroups::keepLibrary(unsigned producer, unsigned consumer) const {
  return !isOfLibrary(producer) || isOfLibrary({producer, consumer});
}

} // namespace weft
