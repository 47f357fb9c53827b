//===- NestChooser.cpp - the loop nests of one kernel ---------------------===//

#include "weft/passes/nests/NestChooser.h"

#include "weft/dialects/nest/Epilogue.h"
#include "weft/dialects/nest/TransposedWalk.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {

using nest::isDataConstant;
using nest::PlaceAttr;
using nest::PlaceKind;
using nest::ShareAttr;

static bool isContraction(Operation *op) {
  return op->hasTrait<ContractionNest>();
}

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>();
}

NestChooser::NestChooser(func::FuncOp kernel, const nest::TargetLimits &limits,
                         nest::MatmulPrecision precision)
    : kernel(kernel), limits(limits), precision(precision),
      block(kernel.getBody().front()) {}

bool NestChooser::isInMemory(Value value) const {
  Operation *op = value.getDefiningOp();
  return !op || stored.contains(value) || isDataConstant(op);
}

//===----------------------------------------------------------------------===//
// Choice of stored values
//===----------------------------------------------------------------------===//

namespace {
/// The stored values that a value's elements affect: none, one, or several. Ops
/// are visited from the last to the first.
class ReachedStores {
public:
  explicit ReachedStores(const llvm::SetVector<Value> &stored
                         [[clang::lifetimebound]])
      : stored(stored) {}
  /// Visits a value; returns whether it affects several stored values.
  bool visit(Value value) {
    Reached all;
    for (Operation *user : value.getUsers()) {
      if (user->getNumResults() != 1)
        continue;
      Value result = user->getResult(0);
      Reached next = stored.contains(result) ? Reached{result, false}
                                             : reached.lookup(result);
      all.many |= next.many || (all.one && next.one && all.one != next.one);
      all.one = next.one ? next.one : all.one;
    }
    reached[value] = all;
    return all.many;
  }

private:
  struct Reached {
    Value one;
    bool many = false;
  };
  const llvm::SetVector<Value> &stored;
  llvm::DenseMap<Value, Reached> reached;
};
} // namespace

static bool mustStore(Operation *op, nest::ViewKind kind) {
  if (isDataConstant(op))
    return false;
  if (hasLoopNest(op))
    return true;
  return llvm::any_of(op->getResult(0).getUsers(), [&](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isContraction(user) && !nest::isView(op, kind) &&
            !op->hasTrait<OpTrait::ConstantLike>());
  });
}

/// The bytes of a value that a kernel works on at once.
int64_t NestChooser::bytesAtOnce(Value value) const {
  RankedTensorType type = typeOf(value);
  bool isOfRows = rows > 0 && type.getRank() > 0 && type.getDimSize(0) == rows;
  return bufferBytes(type) / (isOfRows ? rows : 1);
}

void NestChooser::chooseStored() {
  // Operands of a contraction, which are read many times, are stored, except
  // transposes or reshapes of stored values, which are views. A CPU's tiles
  // read rows of whole arrays fastest, so slices are copied for them.
  nest::ViewKind kind =
      limits.isOfHost() ? nest::ViewKind::Whole : nest::ViewKind::Any;
  llvm::SetVector<Value> viewed;
  for (Operation &op : block.without_terminator()) {
    if (mustStore(&op, kind))
      stored.insert_range(op.getResults());
    if (!isContraction(&op))
      continue;
    for (Value operand : op.getOperands()) {
      Value root = nest::rootOfView(
          operand, [&](Value value) { return isInMemory(value); }, kind);
      if (!isInMemory(root))
        viewed.insert(root);
    }
  }
  stored.insert_range(viewed);
  if (mayWorkInPlace(kernel))
    return;
  ReachedStores reached(stored);
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (op.getNumResults() == 1 && reached.visit(op.getResult(0)) &&
        op.hasTrait<Costly>() &&
        bytesAtOnce(op.getResult(0)) <= limits.storedBytes)
      stored.insert(op.getResult(0));
}

void NestChooser::addNest(ArrayRef<Value> values, Attribute walk) {
  chosen.push_back({SmallVector<Value>(values), walk});
}

/// Chooses tiles for operands in another order; null if there are none or a
/// block of threads lacks the memory.
Attribute NestChooser::chooseTurned(ArrayRef<Value> values) {
  return nest::chooseTransposed(values, limits, [&](Value value) {
    bool isStored = limits.hasSeveralNests && stored.contains(value) &&
                    !llvm::is_contained(values, value);
    return value.getParentBlock() != &block || !value.getDefiningOp() ||
           isDataConstant(value.getDefiningOp()) || isStored;
  });
}

void NestChooser::addElements(llvm::SetVector<Value> &group) {
  if (group.empty())
    return;
  bool isEpilogue = llvm::any_of(chosen, [](const ChosenNest &nest) {
    return isContraction(nest.stored.front().getDefiningOp());
  });
  if (Attribute turned =
          isEpilogue ? Attribute() : chooseTurned(group.getArrayRef())) {
    addNest(group.getArrayRef(), turned);
    group.clear();
    return;
  }
  bool isFlat = typeOf(group[0]).getRank() > 0 &&
                nest::isFlat(group.getArrayRef(),
                             [&](Value value) { return isInMemory(value); });
  addNest(group.getArrayRef(),
          nest::ElementsAttr::get(kernel.getContext(),
                                  isFlat ? nest::ElementOrder::Flat
                                         : nest::ElementOrder::Dimensions,
                                  chooseSide(group.getArrayRef(), isFlat)));
  group.clear();
}

void NestChooser::formNests() {
  auto inMemory = [&](Value value) { return isInMemory(value); };
  llvm::SetVector<Value> group;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() == 0 || !stored.contains(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    if (hasLoopNest(&op)) {
      addElements(group);
      auto loops = dyn_cast<nest::OpLoopsInterface>(op);
      addNest(llvm::to_vector_of<Value>(op.getResults()),
              loops ? loops.chooseWalk(limits, inMemory) : nest::ownWalk(&op));
      continue;
    }
    bool joins = group.empty() ||
                 (typeOf(group[0]).getShape() == typeOf(value).getShape() &&
                  !nest::readsElsewhere(value, group, inMemory));
    if (!joins)
      addElements(group);
    group.insert(value);
  }
  addElements(group);
}

//===----------------------------------------------------------------------===//
// Memory of stored values
//===----------------------------------------------------------------------===//

/// Whether an internal value may be in the memory of a result of its type: the
/// result is computed from it element by element, or not at all, and earlier
/// reductions alone read it otherwise.
bool NestChooser::canShareResult(Value value, Value result) {
  if (!isElementwise(result.getDefiningOp()) ||
      value.getType() != result.getType())
    return false;
  // Values on the way to the result, each once, as chains branch and join. They
  // are never stored, so their element types do not matter.
  llvm::SetVector<Value> flowing;
  flowing.insert(value);
  for (unsigned i = 0; i < flowing.size(); ++i)
    for (Operation *user : flowing[i].getUsers()) {
      if (user->hasTrait<ReductionNest>() &&
          user->isBeforeInBlock(result.getDefiningOp()))
        continue;
      if (!isElementwise(user))
        return false;
      if (user->getResult(0) == result)
        continue;
      if (stored.contains(user->getResult(0)))
        return false;
      flowing.insert(user->getResult(0));
    }
  return true;
}

void NestChooser::placeResults() {
  for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
    if (stored.contains(value) && !places.contains(value))
      places[value] = PlaceAttr::get(kernel.getContext(), PlaceKind::Result, i);
}

void NestChooser::placeStored() {
  placeResults();
  llvm::SetVector<Value> taken;
  for (const ChosenNest &nest : chosen)
    for (Value value : nest.stored) {
      if (places.contains(value))
        continue;
      for (Value result : block.getTerminator()->getOperands())
        if (places.contains(result) && !taken.contains(result) &&
            canShareResult(value, result)) {
          taken.insert(result);
          places[value] = places[result];
          break;
        }
      if (places.contains(value))
        continue;
      // Values take a quarter of the scratch memory at most, loops the rest.
      int64_t bytes = bufferBytes(typeOf(value));
      // Only one launch has its own scratch memory.
      bool isSmall = limits.hasSeveralNests && bytes <= limits.storedBytes &&
                     scratchBytes + bytes <= limits.scratchBytes / 4;
      places[value] = PlaceAttr::get(
          kernel.getContext(),
          isSmall ? PlaceKind::Scratch : PlaceKind::Planned, /*at=*/0);
      scratchBytes +=
          isSmall ? llvm::alignTo(bytes, nest::kScratchAlignment) : 0;
      ++numKept;
    }
}

/// Places the values that are in no result one after the other.
void NestChooser::numberPlaces() {
  llvm::DenseMap<PlaceKind, int64_t> ends;
  for (auto loops : kernel.getOps<nest::LoopsOp>()) {
    SmallVector<Attribute> all;
    for (OpResult value : loops->getResults()) {
      PlaceAttr place = loops.getPlace(value.getResultNumber());
      if (place.getKind() != PlaceKind::Result) {
        int64_t &end = ends[place.getKind()];
        place = PlaceAttr::get(kernel.getContext(), place.getKind(), end);
        end +=
            llvm::alignTo(bufferBytes(typeOf(value)), nest::kScratchAlignment);
      }
      all.push_back(place);
    }
    loops.setPlacesAttr(ArrayAttr::get(kernel.getContext(), all));
  }
}

//===----------------------------------------------------------------------===//
// The IR
//===----------------------------------------------------------------------===//

/// The ops that a nest computes, in order: all that its stored values need and
/// that is not loaded.
SmallVector<Operation *> NestChooser::bodyOf(const ChosenNest &nest) {
  llvm::SetVector<Operation *> ops;
  llvm::SmallPtrSet<Value, 8> own(nest.stored.begin(), nest.stored.end());
  for (Value value : nest.stored)
    ops.insert(value.getDefiningOp());
  for (unsigned i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands()) {
      bool isLoaded = isInMemory(operand) && !own.contains(operand);
      if (!isLoaded)
        ops.insert(operand.getDefiningOp());
    }
  SmallVector<Operation *> sorted = ops.takeVector();
  llvm::sort(sorted,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return sorted;
}

void NestChooser::emitNest(OpBuilder &builder, const ChosenNest &nest) {
  Location loc = nest.stored.front().getDefiningOp()->getLoc();
  SmallVector<Attribute> where;
  SmallVector<Type> types;
  for (Value value : nest.stored) {
    where.push_back(places.lookup(value));
    types.push_back(value.getType());
  }
  auto loops = nest::LoopsOp::create(builder, loc, types,
                                     cast<nest::WalkAttrInterface>(nest.walk),
                                     builder.getArrayAttr(where));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loops.getBody());
  IRMapping mapping;
  for (auto [value, result] : results)
    mapping.map(value, result);
  for (Operation *op : bodyOf(nest))
    builder.clone(*op, mapping);
  SmallVector<Value> values = llvm::map_to_vector(
      nest.stored, [&](Value value) { return mapping.lookup(value); });
  nest::StoreOp::create(builder, loc, values);
  for (auto [value, result] : llvm::zip_equal(nest.stored, loops.getResults()))
    results[value] = result;
}

/// Joins epilogues: ops after a contraction are computed while its sums are in
/// registers.
void NestChooser::joinEpilogues() {
  for (auto loops : llvm::to_vector(kernel.getOps<nest::LoopsOp>())) {
    auto last = dyn_cast_or_null<nest::LoopsOp>(loops->getPrevNode());
    if (last && isa<nest::ElementsAttr>(loops.getWalk()))
      nest::joinEpilogue(last, loops);
  }
}

void NestChooser::emit(ShareAttr share, StringRef reason) {
  Operation *end = block.getTerminator();
  SmallVector<Operation *> old;
  for (Operation &op : block.without_terminator())
    if (!isDataConstant(&op))
      old.push_back(&op);
  OpBuilder builder(end);
  for (const ChosenNest &nest : chosen)
    emitNest(builder, nest);
  for (OpOperand &operand : end->getOpOperands())
    if (Value result = results.lookup(operand.get()))
      operand.set(result);
  for (Operation *op : llvm::reverse(old))
    op->erase();
  decide(0, 0, share, reason); // Walks need the target.
  joinEpilogues();
  numberPlaces();
  decideMemory(share, reason);
}

void NestChooser::decide(int64_t scratch, int64_t planned, ShareAttr share,
                         StringRef reason) {
  MLIRContext *context = kernel.getContext();
  auto why = reason.empty() ? StringAttr() : StringAttr::get(context, reason);
  kernel->setAttr(nest::kNestAttr,
                  nest::KernelAttr::get(context, limits.name, scratch, planned,
                                        share, why));
  if (planned > 0)
    kernel->setAttr(plan::kScratchAttr,
                    Builder(context).getI64IntegerAttr(planned));
}

/// Decides the sizes of the kernel's memory: stored values have places already,
/// and temporary memory of loops follows the first values, if it fits.
void NestChooser::decideMemory(ShareAttr share, StringRef reason) {
  int64_t scratch = nest::keptBytes(kernel, PlaceKind::Scratch),
          planned = nest::keptBytes(kernel, PlaceKind::Planned),
          working = nest::workingBytes(kernel);
  if (scratch + working <= limits.scratchBytes)
    scratch += working;
  else
    planned += llvm::alignTo(working, nest::kScratchAlignment) *
               (share ? share.getShares() : 1);
  decide(scratch, planned, share, reason);
}

void NestChooser::choose() {
  std::string reason;
  Operation *end = block.getTerminator();
  if (!limits.hasSeveralNests) {
    for (Value value : end->getOperands())
      if (value.getDefiningOp() && !isDataConstant(value.getDefiningOp()))
        stored.insert(value);
    if (!formOneNest(reason))
      stored.clear();
  } else if (!formRowNests()) {
    stored.clear();
    chosen.clear();
  }
  if (chosen.empty()) {
    chooseStored();
    formNests();
  }
  placeStored();
  emit(chooseShare(), reason);
}

} // namespace weft
