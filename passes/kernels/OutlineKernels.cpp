//===- OutlineKernels.cpp - moves compute into kernel functions -----------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <variant>

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "weft/passes/kernels/Passes.h.inc"

namespace {

/// The ops of a kernel: a group and the copied ops that it reads.
struct KernelBody {
  llvm::SetVector<Operation *> ops; ///< operands first
  llvm::SetVector<Value> inputs;
  llvm::SmallVector<Value> results;
};

} // namespace

static void gather(Value value,
                   const llvm::SmallPtrSetImpl<Operation *> &members,
                   const CopiedOps &copied, KernelBody &body) {
  Operation *op = value.getDefiningOp();
  if (op && members.contains(op))
    return; // The op is already in the body.
  if (!op || !copied.contains(op)) {
    body.inputs.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    gather(operand, members, copied, body);
  body.ops.insert(op);
}

static KernelBody bodyOf(const KernelGroup &group, const CopiedOps &copied) {
  KernelBody body;
  llvm::SmallPtrSet<Operation *, 16> members(group.ops.begin(),
                                             group.ops.end());
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      gather(operand, members, copied, body);
    body.ops.insert(op);
  }
  auto escapes = [&](Operation *user) {
    return !members.contains(user) && !copied.contains(user);
  };
  // A copied op outside of the group makes its consumer read the value.
  std::function<bool(Operation *)> isReadOutside = [&](Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return escapes(user) || (copied.contains(user) &&
                               !members.contains(user) && isReadOutside(user));
    });
  };
  for (Operation *op : group.ops)
    if (isReadOutside(op))
      llvm::append_range(body.results, op->getResults());
  return body;
}

/// Whether the body is one nest over one shape that reads arguments of a
/// result's type only at the position that is written.
static bool worksInPlace(const KernelBody &body) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(body.results.front().getType()).getShape();
  if (llvm::any_of(body.ops, hasLoopNest) ||
      llvm::any_of(body.results, [&](Value result) {
        return cast<RankedTensorType>(result.getType()).getShape() != shape;
      }))
    return false;
  // A result that another result reads at other positions has a separate
  // nest.
  auto isOfResult = [&](Value input) {
    return llvm::any_of(body.results, [&](Value result) {
      return result.getType() == input.getType();
    });
  };
  llvm::SetVector<Value> stored(body.results.begin(), body.results.end());
  for (Value input : body.inputs)
    if (isOfResult(input))
      stored.insert(input);
  return llvm::none_of(body.results, [&](Value result) {
    return nest::readsElsewhere(result, stored, [&](Value value) {
      return body.inputs.contains(value);
    });
  });
}

/// The number of the input in whose memory the body writes its result.
static std::optional<unsigned> updatedInput(const KernelGroup &group,
                                            const KernelBody &body) {
  if (!group.isUpdate || body.results.size() != 1)
    return std::nullopt;
  OpOperand *updated = updatedOperand(group.ops.front());
  int64_t uses = 0;
  for (Operation *op : body.ops)
    uses += llvm::count(op->getOperands(), updated->get());
  if (uses != 1)
    return std::nullopt;
  return llvm::find(body.inputs, updated->get()) - body.inputs.begin();
}

static KernelKind kindOf(const KernelGroup &group, const KernelBody &body) {
  if (group.hasContraction)
    return KernelKind::Dot;
  if (updatedInput(group, body))
    return KernelKind::General;
  if (worksInPlace(body))
    return KernelKind::Elementwise;
  bool onlyReductions = llvm::all_of(body.results, [](Value result) {
    return result.getDefiningOp()->hasTrait<ReductionNest>();
  });
  return onlyReductions ? KernelKind::Reduce : KernelKind::General;
}

static std::string joined(ArrayRef<int64_t> sizes) {
  return llvm::join(
      llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }),
      "x");
}

/// The shape of a contraction's result, with the number of products of an
/// element after the dimensions of the first operand: 16x784x200.
static SmallVector<int64_t> contractedShape(Operation *op) {
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  SmallVector<int64_t> sizes(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  auto hasFactor = [](ArrayRef<DimFactors> dims, unsigned factor) {
    return llvm::any_of(dims, [&](const DimFactors &of) {
      return llvm::is_contained(of, factor);
    });
  };
  int64_t products = 1, ofFirst = 0;
  for (auto [i, factor] : llvm::enumerate(rule.factors))
    if (!hasFactor(rule.results[0], i))
      products *= factor.size;
  for (const DimFactors &dim : rule.results[0])
    ofFirst += llvm::any_of(dim, [&](unsigned factor) {
      return hasFactor(rule.operands[0], factor);
    });
  sizes.insert(sizes.begin() + ofFirst, products);
  return sizes;
}

/// The name of a kernel: dot_relu_16x784x200; elementwise_sub_mul_784x200;
/// reduce_16x200, the shape of the first operand.
static std::string nameOf(KernelKind kind, const KernelGroup &group,
                          const KernelBody &body) {
  std::string name = stringifyKernelKind(kind).str(), shape;
  llvm::SetVector<StringRef> words;
  for (Operation *op : group.ops) {
    if (op->hasTrait<ContractionNest>())
      shape = joined(contractedShape(op));
    else if (words.size() < 4)
      words.insert(op->getName().stripDialect());
  }
  for (StringRef word : words)
    if (word != stringifyKernelKind(kind))
      name += "_" + word.str();
  if (shape.empty()) {
    Value shown = kind == KernelKind::Reduce ? group.ops.front()->getOperand(0)
                                             : body.results.front();
    shape = joined(cast<RankedTensorType>(shown.getType()).getShape());
  }
  return name + "_" + (shape.empty() ? "scalar" : shape);
}

static func::FuncOp createKernel(SymbolTable &symbols, const KernelGroup &group,
                                 const KernelBody &body) {
  KernelKind kind = kindOf(group, body);
  Location loc = group.ops.front()->getLoc();
  OpBuilder builder(loc.getContext());
  auto type = builder.getFunctionType(TypeRange(body.inputs.getArrayRef()),
                                      TypeRange(ArrayRef<Value>(body.results)));
  auto kernel = func::FuncOp::create(loc, nameOf(kind, group, body), type);
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, KernelKindAttr::get(builder.getContext(), kind));
  if (std::optional<unsigned> updated = updatedInput(group, body))
    kernel.setArgAttr(*updated, kUpdatedAttr, builder.getI64IntegerAttr(0));
  Block *block = kernel.addEntryBlock();
  IRMapping mapping;
  mapping.map(body.inputs.getArrayRef(), block->getArguments());
  builder.setInsertionPointToStart(block);
  for (Operation *op : body.ops)
    builder.clone(*op, mapping);
  SmallVector<Value> values = llvm::map_to_vector(
      body.results, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, loc, values);
  symbols.insert(kernel); // makes the name unique
  return kernel;
}

/// Clones constants that a kernel fills, so that other kernels have separate
/// copies.
static void separateFilled(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isFilled(&op) || llvm::all_of(op.getUsers(), staysOutside))
      continue;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    Operation *filled = builder.clone(op);
    op.getResult(0).replaceUsesWithIf(filled->getResult(0), [](OpOperand &use) {
      return staysOutside(use.getOwner());
    });
  }
}

/// Rebuilds the block as calls, communication, loops and branches; returns the
/// number of kernels.
static unsigned outline(Block &block, SymbolTable &symbols,
                        const nest::TargetLimits &limits, unsigned &cuts) {
  separateFilled(block);
  KernelGroups groups(block, limits);
  cuts += groups.cuts();
  Operation *terminator = block.getTerminator();
  llvm::SmallPtrSet<Operation *, 32> kept;
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    old.push_back(&op);
  unsigned kernels = 0;
  SmallVector<std::pair<KernelBody, func::FuncOp>> made;
  SmallVector<std::variant<Operation *, size_t>> order;
  for (const KernelGroup *group : groups.inOrder()) {
    if (group->isFixed) {
      order.push_back(group->ops.front());
      kept.insert(group->ops.front());
      continue;
    }
    KernelBody body = bodyOf(*group, groups.copied());
    if (body.results.empty())
      continue; // No result has uses.
    ++kernels;
    func::FuncOp kernel = createKernel(symbols, *group, body);
    order.push_back(made.size());
    made.emplace_back(std::move(body), kernel);
  }
  OpBuilder builder(terminator);
  IRMapping results;
  for (auto &step : order) {
    if (auto *fixed = std::get_if<Operation *>(&step)) {
      (*fixed)->moveBefore(terminator);
      for (OpOperand &operand : (*fixed)->getOpOperands())
        operand.set(results.lookupOrDefault(operand.get()));
      continue;
    }
    auto &[body, kernel] = made[std::get<size_t>(step)];
    SmallVector<Value> arguments =
        llvm::map_to_vector(body.inputs, [&](Value value) {
          return results.lookupOrDefault(value);
        });
    auto call =
        func::CallOp::create(builder, kernel.getLoc(), kernel, arguments);
    for (auto [value, result] :
         llvm::zip_equal(body.results, call.getResults()))
      results.map(value, result);
  }
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(results.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::reverse(old)) {
    if (kept.contains(op))
      continue;
    if (op->use_empty())
      op->erase();
    else
      op->moveBefore(&block,
                     block.begin()); // a constant that is sent or returned
  }
  return kernels;
}

namespace {
struct OutlineKernelsPass : impl::OutlineKernelsBase<OutlineKernelsPass> {
  using OutlineKernelsBase::OutlineKernelsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    FailureOr<nest::TargetLimits> limits =
        nest::targetLimits(target, getOperation());
    if (failed(limits))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    unsigned numCuts = 0;
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isExternal() || isKernel(function))
        continue;
      if (!function.getBody().hasOneBlock()) {
        function.emitError() << "function '" << function.getName() << "' has "
                             << function.getBody().getBlocks().size()
                             << " blocks instead of 1; outline kernels before "
                                "control flow is lowered";
        return signalPassFailure();
      }
      // Inner blocks come first: values of outer blocks that they read become
      // arguments.
      SmallVector<Block *> blocks;
      function.walk([&](Block *block) {
        Operation *parent = block->getParentOp();
        if (parent == function || staysInFunction(parent))
          blocks.push_back(block);
      });
      for (Block *block : blocks)
        kernels += outline(*block, symbols, *limits, numCuts);
    }
    cuts += numCuts;
  }
};
} // namespace
} // namespace weft
