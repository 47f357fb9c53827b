//===- NestKernel.cpp - checks of the nests of a kernel -------------------===//

#include "weft/dialects/nest/Epilogue.h"
#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::nest;

bool weft::nest::readsElsewhere(Value value,
                                const llvm::SetVector<Value> &stored,
                                llvm::function_ref<bool(Value)> isInMemory) {
  // Values read at the same position, through elementwise ops alone, and values
  // read at other positions. Each value is visited once.
  llvm::SetVector<Value> same, moved;
  same.insert(value);
  for (unsigned i = 0; i < same.size(); ++i) {
    Operation *op = same[i].getDefiningOp();
    if (!op)
      continue;
    for (OpOperand &use : op->getOpOperands()) {
      Value operand = use.get();
      // A scalar nest has one position only.
      bool here =
          elementsReadElsewhere(use) == 0 ||
          (typeOf(value).getRank() == 0 && typeOf(operand).getRank() == 0);
      if (stored.contains(operand) && !here)
        return true;
      if (!stored.contains(operand) && !isInMemory(operand))
        (here ? same : moved).insert(operand);
    }
  }
  for (unsigned i = 0; i < moved.size(); ++i) {
    Operation *op = moved[i].getDefiningOp();
    if (stored.contains(moved[i]))
      return true;
    if (op && !isInMemory(moved[i]))
      moved.insert_range(op->getOperands());
  }
  return false;
}

namespace {
/// A value that a nest stores, and the nests during which it must be kept.
struct StoredValue {
  OpResult value;
  PlaceAttr place;
  int64_t bytes, first, last; ///< the nests that store it and read it last
};

class KernelVerifier {
public:
  explicit KernelVerifier(func::FuncOp kernel)
      : kernel(kernel), decisions(decisionsOf(kernel)) {}
  LogicalResult verify();

private:
  LogicalResult verifyOps();
  LogicalResult verifyPlace(LoopsOp loops, unsigned result);
  LogicalResult verifyResults();
  LogicalResult verifyMemory();
  LogicalResult verifyLifetimes();
  LogicalResult verifyShare();
  LogicalResult verifyUpdated();
  bool mayReplace(const StoredValue &old, const StoredValue &next);
  bool mayWait(const StoredValue &sums, const StoredValue &next);

  func::FuncOp kernel;
  KernelAttr decisions;
  SmallVector<LoopsOp> nests;
  SmallVector<StoredValue> stored;
};
} // namespace

/// (K1)
LogicalResult KernelVerifier::verifyOps() {
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    // The ops of a function may be verified before the function.
    if (failed(mlir::verify(&op)))
      return failure();
    if (auto loops = dyn_cast<LoopsOp>(op)) {
      nests.push_back(loops);
      continue;
    }
    if (!isDataConstant(&op))
      return op.emitError()
             << "'" << op.getName() << "' stands between the nests of kernel '"
             << kernel.getName() << "'; move it into a nest";
  }
  return success();
}

LogicalResult KernelVerifier::verifyPlace(LoopsOp loops, unsigned result) {
  PlaceAttr place = loops.getPlace(result);
  int64_t at = place.getAt();
  RankedTensorType type = typeOf(loops.getResult(result));
  if (place.getKind() == PlaceKind::Result) {
    if (at < 0 || at >= int64_t(kernel.getNumResults()))
      return loops.emitOpError("places a value in ")
             << place << "; the kernel has " << kernel.getNumResults()
             << " results";
    if (kernel.getResultTypes()[at] != type)
      return loops.emitOpError("places ")
             << type << " in " << place << ", which is "
             << kernel.getResultTypes()[at];
    return success();
  }
  int64_t end = saturatingAdd(at, bufferBytes(type));
  int64_t size = place.getKind() == PlaceKind::Scratch ? decisions.getScratch()
                                                       : decisions.getPlanned();
  if (at < 0 || at % kScratchAlignment != 0 || end > size)
    return loops.emitOpError("places ")
           << bufferBytes(type) << " bytes at " << place
           << "; begin at a multiple of " << kScratchAlignment
           << " and end within the kernel's "
           << stringifyPlaceKind(place.getKind()) << " of " << size << " bytes";
  return success();
}

/// (K2)
LogicalResult KernelVerifier::verifyResults() {
  Operation *end = kernel.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto loops = value.getDefiningOp<LoopsOp>();
    if (!loops)
      continue;
    PlaceAttr place = loops.getPlace(cast<OpResult>(value).getResultNumber());
    if (place.getKind() != PlaceKind::Result ||
        end->getOperand(place.getAt()) != value)
      return loops.emitOpError("stores result ")
             << i << " of the kernel in " << place
             << "; write #nest.place<result " << i << ">";
  }
  return success();
}

/// Whether `next` may be stored in the memory of `old`: earlier nests are the
/// last to read `old`, or the nest of `next` is, and reads each element before
/// it stores the element there.
bool KernelVerifier::mayReplace(const StoredValue &old,
                                const StoredValue &next) {
  if (old.last != next.first)
    return old.last < next.first;
  LoopsOp loops = nests[next.first];
  llvm::SetVector<Value> replaced;
  replaced.insert(old.value);
  return isa<nest::ElementsAttr, nest::TransposedAttr>(loops.getWalk()) &&
         old.place == next.place &&
         old.value.getType() == next.value.getType() &&
         llvm::none_of(loops.getStored(), [&](Value value) {
           return readsElsewhere(value, replaced, [&](Value of) {
             return of.getParentBlock() != value.getParentBlock();
           });
         });
}

/// Whether the sums of a nest may be in the memory of an epilogue's value:
/// nothing else reads the sums, and each is read before that value is stored
/// there.
bool KernelVerifier::mayWait(const StoredValue &sums, const StoredValue &next) {
  LoopsOp loops = nests[sums.first];
  auto stored = [&](const StoredValue &each) {
    return loops.getStored()[each.value.getResultNumber()];
  };
  return stored(sums).getDefiningOp() == loops.getNestOp() &&
         stored(next).getDefiningOp() != loops.getNestOp() &&
         sums.last == sums.first && sums.place == next.place &&
         sums.value.getType() == next.value.getType();
}

/// (K3)
LogicalResult KernelVerifier::verifyLifetimes() {
  Operation *end = kernel.getBody().front().getTerminator();
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (auto [i, loops] : llvm::enumerate(nests))
    numbers[loops] = i;
  for (auto [i, loops] : llvm::enumerate(nests))
    for (OpResult value : loops->getResults()) {
      StoredValue each{value, loops.getPlace(value.getResultNumber()),
                       bufferBytes(typeOf(value)), int64_t(i), int64_t(i)};
      for (Operation *user : value.getUsers())
        each.last = std::max<int64_t>(
            each.last, user == end ? int64_t(nests.size())
                                   : numbers.lookup(user->getParentOp()));
      stored.push_back(each);
    }
  for (size_t i = 0; i < stored.size(); ++i)
    for (size_t j = i + 1; j < stored.size(); ++j) {
      const StoredValue &a = stored[i], &b = stored[j];
      bool isResult = a.place.getKind() == PlaceKind::Result;
      bool meet =
          a.place.getKind() == b.place.getKind() &&
          a.place.getAt() < b.place.getAt() + (isResult ? 1 : b.bytes) &&
          b.place.getAt() < a.place.getAt() + (isResult ? 1 : a.bytes);
      bool follows = a.first == b.first ? mayWait(a, b) || mayWait(b, a)
                                        : mayReplace(a, b);
      if (meet && !follows)
        return b.value.getOwner()->emitOpError("stores a value in ")
               << b.place << ", where kernel '" << kernel.getName()
               << "' still needs one that an earlier nest stored in "
               << a.place;
    }
  return success();
}

/// Whether the tiles of a contraction can be shared as said.
static bool sharesTiles(LoopsOp loops, ShareAttr share,
                        const TargetLimits &limits) {
  auto op = dyn_cast_or_null<OpLoopsInterface>(loops.getNestOp());
  auto isInMemory = [&](Value value) {
    return value.getParentBlock() != &loops.getBody().front();
  };
  std::optional<SharedRows> found;
  if (op)
    found = op.getSharedRows(loops.getWalk(), isInMemory, limits);
  bool isPlain = cast<ContractionAttr>(loops.getWalk()).getTile().empty();
  return found && share.getBlock() == 0 && found->dim == share.getDim() &&
         (isPlain || found->unit == share.getUnit());
}

/// Checks that every nest of a shared kernel runs over the shared positions.
LogicalResult KernelVerifier::verifyShare() {
  ShareAttr share = decisions.getShare();
  if (!share)
    return success();
  for (LoopsOp loops : nests) {
    if (loops.getNumResults() == 0)
      continue;
    RankedTensorType type = typeOf(loops.getResult(0));
    Operation *op = loops.getNestOp();
    if (op && hasLoopsOfItsOwn(op)) {
      auto own = dyn_cast<OpLoopsInterface>(op);
      std::pair<int64_t, int64_t> loop(share.getDim(), share.getSize());
      if (nests.size() == 1 && own && share.getBlock() == 0 &&
          llvm::is_contained(own.getOwnLoops().independent, loop) &&
          (share.getUnit() == 1 || share.getSize() % share.getUnit() == 0))
        continue;
      return loops.emitOpError("computes '")
             << op->getName() << "', which cannot be shared as " << share;
    }
    auto elements = dyn_cast<nest::ElementsAttr>(loops.getWalk());
    bool isFlat = elements && elements.getOrder() == ElementOrder::Flat;
    int64_t dim = share.getDim(), size = share.getSize();
    bool fits = isFlat ? type.getNumElements() % size == 0
                       : dim < type.getRank() && type.getDimSize(dim) == size;
    auto contraction = dyn_cast<ContractionAttr>(loops.getWalk());
    fits &= !contraction ||
            sharesTiles(loops, share, *targetLimits(decisions.getTarget()));
    if (!fits)
      return loops.emitOpError("stores ")
             << type << " as " << loops.getWalk()
             << ", which cannot be shared as " << share;
  }
  return success();
}

/// Whether the only op that reads the argument changes elements of it, and its
/// result is that of the kernel.
static bool isChangedInto(BlockArgument argument, Value result) {
  if (!argument.hasOneUse())
    return false;
  OpOperand &use = *argument.use_begin();
  auto stored = result.getDefiningOp<LoopsOp>();
  return stored && updatedOperand(use.getOwner()) == &use &&
         use.getOwner()->getParentOp() == stored &&
         stored.getStored()[cast<OpResult>(result).getResultNumber()] ==
             use.getOwner()->getResult(0);
}

/// (K6)
LogicalResult KernelVerifier::verifyUpdated() {
  Operation *end = kernel.getBody().front().getTerminator();
  for (BlockArgument argument : kernel.getArguments()) {
    unsigned number = argument.getArgNumber();
    Attribute says = kernel.getArgAttr(number, kUpdatedAttr);
    if (!says)
      continue;
    auto result = dyn_cast<IntegerAttr>(says);
    bool isResult = result && result.getInt() >= 0 &&
                    result.getInt() < int64_t(kernel.getNumResults());
    if (!isResult || updatedArgument(kernel, result.getInt()) != number)
      return kernel.emitError()
             << "argument " << number << " of kernel '" << kernel.getName()
             << "' has " << kUpdatedAttr << " = " << says
             << "; name a result of its type, which no other argument names";
    if (!isChangedInto(argument, end->getOperand(result.getInt())))
      return kernel.emitError()
             << "argument " << number << " of kernel '" << kernel.getName()
             << "' has " << kUpdatedAttr << " = " << says << ", but result "
             << result.getInt()
             << " is not this argument with elements changed, or it has other "
                "uses; remove the attribute";
  }
  return success();
}

LogicalResult KernelVerifier::verify() {
  if (!isKernel(kernel) || !kernel.getBody().hasOneBlock())
    return kernel.emitError()
           << "function '" << kernel.getName() << "' has '" << kNestAttr
           << "' but is no kernel; give it '" << kKernelAttr << "'";
  if (!kernel.getBody().front().mightHaveTerminator())
    return success(); // The function's verifier reports this.
  if (failed(targetLimits(decisions.getTarget(), kernel)))
    return failure();
  if (failed(verifyOps()))
    return failure();
  if (mayWorkInPlace(kernel) &&
      (nests.size() != 1 || !isa<nest::ElementsAttr, nest::TransposedAttr>(
                                nests[0].getWalk()))) // (K4)
    return kernel.emitError()
           << "kernel '" << kernel.getName()
           << "' is called elementwise but needs " << nests.size()
           << " loop nests instead of 1; its results must have one shape";
  for (LoopsOp loops : nests)
    for (unsigned i = 0; i < loops.getNumResults(); ++i)
      if (failed(verifyPlace(loops, i)))
        return failure();
  if (failed(verifyMemory()) || failed(verifyResults()) ||
      failed(verifyLifetimes()))
    return failure();
  if (failed(verifyUpdated()))
    return failure();
  return verifyShare();
}

/// (K5) Checks that launches get the planned memory, and that temporary memory
/// of loops fits after the values.
LogicalResult KernelVerifier::verifyMemory() {
  int64_t given = plan::scratchBytes(kernel);
  if (decisions.getPlanned() < 0 || given < decisions.getPlanned())
    return kernel.emitError()
           << "kernel '" << kernel.getName() << "' has "
           << decisions.getPlanned() << " bytes of planned memory, but '"
           << plan::kScratchAttr << "' gives its launches " << given
           << "; write the larger number for both";
  int64_t working = workingBytes(kernel);
  PlaceKind kind = PlaceKind::Scratch;
  int64_t size = decisions.getScratch();
  if (working > 0 && worksInPlanned(kernel) && decisions.getPlanned() > 0) {
    ShareAttr share = decisions.getShare();
    working = saturatingMultiply(llvm::alignTo(working, kScratchAlignment),
                                 share ? share.getShares() : 1);
    kind = PlaceKind::Planned;
    size = decisions.getPlanned();
  }
  int64_t kept = keptBytes(kernel, kind);
  if (saturatingAdd(kept, working) <= size)
    return success();
  return kernel.emitError()
         << "kernel '" << kernel.getName() << "' keeps " << kept
         << " bytes and a nest works with " << working << " more; its "
         << stringifyPlaceKind(kind) << " memory has " << size;
}

int64_t weft::nest::keptBytes(func::FuncOp kernel, PlaceKind kind) {
  int64_t kept = 0;
  for (LoopsOp loops : kernel.getOps<LoopsOp>())
    for (OpResult value : loops->getResults())
      if (PlaceAttr place = loops.getPlace(value.getResultNumber());
          place.getKind() == kind)
        kept =
            std::max<int64_t>(kept, place.getAt() + bufferBytes(typeOf(value)));
  return llvm::alignTo(kept, kScratchAlignment);
}

int64_t weft::nest::workingBytes(func::FuncOp kernel) {
  int64_t working = 0;
  for (LoopsOp loops : kernel.getOps<LoopsOp>())
    working = std::max(working, loops.getWalk().getWorkingBytes(loops));
  return working;
}

bool weft::nest::worksInPlanned(func::FuncOp kernel) {
  return decisionsOf(kernel).getScratch() <= keptBytes(kernel);
}

double weft::nest::operationsOf(func::FuncOp kernel) {
  double operations = 0;
  for (LoopsOp loops : kernel.getOps<LoopsOp>())
    for (Operation &op : loops.getBody().front().without_terminator())
      if (!isElementSource(&op))
        operations += workOf(&op);
  return operations;
}

LogicalResult weft::nest::verifyKernel(func::FuncOp kernel) {
  return KernelVerifier(kernel).verify();
}
