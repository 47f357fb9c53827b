//===- Walks.cpp - the nests that each walk can compute -------------------===//

#include "weft/dialects/nest/ContractionShape.h"
#include "weft/dialects/nest/ConvolutionShape.h"
#include "weft/dialects/nest/Epilogue.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/nest/TransposedWalk.h"
#include "weft/dialects/nest/UpdateWalk.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::nest;

/// Whether loops load a value: it is defined outside of their body.
static auto isOutside(LoopsOp loops) {
  Block *body = &loops.getBody().front();
  return [body](Value value) { return value.getParentBlock() != body; };
}

static TargetLimits limitsOf(LoopsOp loops) {
  KernelAttr kernel = decisionsOf(loops->getParentOfType<func::FuncOp>());
  std::optional<TargetLimits> limits;
  if (kernel)
    limits = targetLimits(kernel.getTarget());
  return limits.value_or(
      allTargetLimits().front()); // verifyKernel refuses unknown names.
}

/// Starts an error with the walk: "walks as #nest.own but ".
static InFlightDiagnostic refuse(LoopsOp loops) {
  return loops.emitOpError("walks as ") << loops.getWalk() << " but ";
}

/// The nest's only op with its own loops.
static Operation *onlyNestOp(LoopsOp loops, StringRef what) {
  Operation *only = loops.getNestOp();
  if (!only) {
    refuse(loops) << "has no " << what << " in its body";
    return nullptr;
  }
  for (Operation &op : loops.getBody().front().without_terminator())
    if (hasLoopNest(&op) && &op != only) {
      refuse(loops) << "has two ops with loops, '" << only->getName()
                    << "' and '" << op.getName() << "'; give each a nest";
      return nullptr;
    }
  return only;
}

/// Checks that stored values are the op's results, or can be computed from them
/// by the walk.
static LogicalResult verifyStored(LoopsOp loops) {
  Operation *op = loops.getNestOp();
  if (ValueRange(loops.getStored()) == ValueRange(op->getResults()))
    return success();
  SmallVector<Value> epilogue = epilogueOf(loops);
  if (op->getNumResults() != 1 || epilogue.empty() ||
      loops.getStored().size() != epilogue.size() + storesSums(loops))
    return refuse(loops) << "does not store the results of '" << op->getName()
                         << "', each once";
  std::string why = loops.getWalk().refuseEpilogue(
      op, op->getResult(0), epilogue, storesSums(loops), isOutside(loops));
  if (why.empty())
    return success();
  return refuse(loops) << "cannot store the epilogue of '" << op->getName()
                       << "': " << why;
}

template <typename ConcreteOp>
static ConcreteOp only(LoopsOp loops, StringRef what) {
  Operation *op = onlyNestOp(loops, what);
  if (!op || isa<ConcreteOp>(op))
    return cast_or_null<ConcreteOp>(op);
  refuse(loops) << "its body computes '" << op->getName() << "', which is no "
                << what;
  return {};
}

/// The reason why the epilogue does not follow from the sums at its own
/// position, or empty.
static std::string refuseElsewhere(Value sums, ArrayRef<Value> epilogue,
                                   llvm::function_ref<bool(Value)> isInMemory) {
  llvm::SetVector<Value> stored;
  stored.insert(sums);
  for (Value value : epilogue) {
    if (typeOf(value).getShape() != typeOf(sums).getShape())
      return "it has another shape; give it a nest";
    if (readsElsewhere(value, stored, isInMemory))
      return "it reads other positions of a value stored beside it; give it a "
             "nest";
    stored.insert(value);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Elements, rows, and an op's own loops
//===----------------------------------------------------------------------===//

/// The reason why threads cannot compute this number of adjacent elements, or
/// empty.
static std::string refuseSide(LoopsOp loops, weft::nest::ElementsAttr walk) {
  int64_t side = walk.getSide();
  if (side == 1)
    return "";
  if (limitsOf(loops).block.threads == 0)
    return "its target has no threads that could each take " +
           std::to_string(side);
  RankedTensorType type = typeOf(loops.getStored()[0]);
  int64_t line = type.getRank() == 0 ? 1
                 : walk.getOrder() == ElementOrder::Flat
                     ? type.getNumElements()
                     : type.getShape().back();
  if (side < 1 || side > 16 || !llvm::isPowerOf2_64(side) || line % side != 0)
    return std::to_string(line) + " elements are not cut into " +
           std::to_string(side) + " at a time; use 1, 2, 4, 8 or 16";
  return "";
}

/// Checks a nest of elements: it has no op with loops, stored values have one
/// shape, and none reads other positions of a value stored before it.
static LogicalResult verifyElements(LoopsOp loops) {
  if (Operation *op = loops.getNestOp())
    return loops.emitOpError("walks over elements but computes '")
           << op->getName() << "', which has loops; give it a nest";
  if (loops.getStored().empty())
    return loops.emitOpError("stores nothing");
  llvm::SetVector<Value> stored;
  for (Value value : loops.getStored()) {
    Type first = loops.getStored()[0].getType();
    if (typeOf(value).getShape() != typeOf(loops.getStored()[0]).getShape())
      return loops.emitOpError("stores ")
             << first << " and " << value.getType()
             << ", of two shapes; give each shape a nest";
    if (readsElsewhere(value, stored, isOutside(loops)))
      return loops.emitOpError("stores ")
             << value << ", which reads other positions of a value stored "
             << "beside it; give it a nest";
    stored.insert(value);
  }
  return success();
}

LogicalResult weft::nest::ElementsAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  if (failed(verifyElements(loops)))
    return failure();
  SmallVector<Value> stored(loops.getStored());
  bool isRanked = typeOf(stored[0]).getRank() > 0;
  if (std::string why = refuseSide(loops, *this); !why.empty())
    return refuse(loops) << why;
  if (getOrder() == ElementOrder::Flat &&
      (!isRanked || !isFlat(stored, isOutside(loops))))
    return loops.emitOpError(
        "is flat, but its stored values do not follow from "
        "row-major positions; write #nest.elements"
        "<dimensions>");
  return success();
}

LogicalResult TransposedAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  if (failed(verifyElements(loops)))
    return failure();
  TargetLimits limits = limitsOf(loops);
  int64_t rank = typeOf(loops.getStored()[0]).getRank(), bytes = 0;
  if (getAlong() < 0 || getAlong() + 1 >= rank)
    return refuse(loops) << "stores tensors of rank " << rank
                         << "; name a dimension in front of the last one";
  llvm::SetVector<Value> turned =
      turnedValues(loops.getStored(), getAlong(), isOutside(loops));
  for (Value value : turned)
    bytes += turnedBytes(value);
  if (turned.empty())
    return refuse(loops) << "reads nothing that lies side by side along "
                            "dimension "
                         << getAlong() << "; write #nest.elements<dimensions>";
  if (limits.block.threads > 0 && bytes > limits.block.sharedBytes)
    return refuse(loops) << "needs " << bytes
                         << " bytes of shared memory; a block has "
                         << limits.block.sharedBytes;
  return success();
}

int64_t TransposedAttr::getWorkingBytes(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  TargetLimits limits = limitsOf(loops);
  int64_t bytes = 0;
  for (Value value :
       turnedValues(loops.getStored(), getAlong(), isOutside(loops)))
    if (limits.isOfHost() &&
        isTurnedByVectors(value, getAlong(), limits.vectorBytes,
                          isOutside(loops)))
      bytes +=
          kTurnedTile * kTurnedTile * bytesOf(typeOf(value).getElementType());
  return bytes;
}

LogicalResult RowsAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  std::string why;
  if (getDims() < 0 || getLanes() < 1)
    return loops.emitOpError("walks as ")
           << loops.getWalk() << "; rows have at least 0 dimensions and 1 lane";
  if (checkRowWalk(opsOf(loops.getBody().front()), loops.getStored(), getDims(),
                   why)) {
    why = refuseHeld(loops, *this);
    return why.empty() ? success() : refuse(loops) << why;
  }
  return loops.emitOpError("cannot walk over rows: ") << why;
}

LogicalResult SumsAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  std::string why;
  if (getBlock() < 0)
    return loops.emitOpError("combines blocks of ")
           << getBlock() << " terms; a block has at least 0";
  why = refuseTerms(*this, loops.getStored(), limitsOf(loops));
  if (!why.empty())
    return refuse(loops) << why;
  if (sumOf(opsOf(loops.getBody().front()), loops.getStored(), why))
    return success();
  return loops.emitOpError("cannot combine terms: ") << why;
}

LogicalResult OwnAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  Operation *op = onlyNestOp(loops, "op with loops of its own");
  if (!op)
    return failure();
  if (!hasLoopsOfItsOwn(op))
    return refuse(loops) << "'" << op->getName() << "' has no loops of its own";
  return verifyStored(loops);
}

LogicalResult UpdatesAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  Operation *op = onlyNestOp(loops, "scatter");
  if (!op)
    return failure();
  if (std::string why = refuseUpdates(*this, op, limitsOf(loops)); !why.empty())
    return refuse(loops) << why;
  return verifyStored(loops);
}

int64_t OwnAttr::getWorkingBytes(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = dyn_cast_or_null<OpLoopsInterface>(loops.getNestOp());
  // Threads of a launch have no working memory.
  bool hasMemory = limitsOf(loops).hasSeveralNests;
  return op && hasMemory ? op.getOwnLoops().workingBytes : 0;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Whether blocks of these sizes are contiguous: 1 in the first dimensions, any
/// size in the next, and the full size in the others.
static bool isOneBox(ArrayRef<int64_t> blocks, ArrayRef<int64_t> sizes) {
  size_t i = 0;
  while (i < blocks.size() && blocks[i] == 1)
    ++i;
  return blocks.drop_front(std::min(i + 1, blocks.size())) ==
         sizes.take_back(blocks.size() - std::min(i + 1, blocks.size()));
}

LogicalResult ReductionAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = only<ReduceOp>(loops, "reduction");
  if (!op)
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t dim : op.getDims())
    sizes.push_back(typeOf(op.getInput()).getDimSize(dim));
  if (!getBlocks().empty() && getBlocks().size() != sizes.size())
    return refuse(loops) << "reduces " << sizes.size()
                         << " dimensions; give each a block";
  for (auto [block, size] : llvm::zip(getBlocks(), sizes))
    if (block < 1 || block > std::max<int64_t>(size, 1))
      return refuse(loops) << "a dimension of " << size
                           << " positions has no blocks of " << block;
  if (getInto() == Accumulate::Register)
    return verifyStored(loops);
  int64_t last = typeOf(op.getInput()).getRank() - 1;
  if (op.getDims().empty() || llvm::is_contained(op.getDims(), last))
    return refuse(loops) << "reduces the innermost dimension of "
                         << op.getInput().getType()
                         << "; rows are added where it is kept";
  if (bytesOf(typeOf(op.getResult()).getElementType()) == 1 &&
      isa<FloatType>(typeOf(op.getResult()).getElementType()))
    return refuse(loops) << "adds up elements of "
                         << typeOf(op.getResult()).getElementType()
                         << " in memory, which are too short; use 'register'";
  if (!isOneBox(getBlocks(), sizes))
    return refuse(loops)
           << "of a row, blocks are ones, then one length, then whole "
              "dimensions";
  return verifyStored(loops);
}

int64_t ReductionAttr::getWorkingBytes(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  if (getInto() == Accumulate::Register || getBlocks().empty() ||
      loops.getNumResults() != 1)
    return 0;
  auto op = cast<ReduceOp>(loops.getStored().front().getDefiningOp());
  return elementsOfRow(op) * bytesOf(op.getResult().getType().getElementType());
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The reason why the form does not suit the strides and types, or empty.
static std::string refusalOf(ContractionForm form,
                             const ContractionShape &shape) {
  if (form == ContractionForm::Plain)
    return "";
  if (!hasVectorArithmetic(shape.resultType))
    return "there is no arithmetic in vectors of its result's elements";
  if (form == ContractionForm::Packed)
    return "";
  if (!hasVectorLoads(shape.lhsType) || !hasVectorLoads(shape.rhsType))
    return "no vectors of its operands' elements can be loaded";
  std::optional<TileLoops> tiles = tileLoops(shape);
  if (!tiles)
    return "it goes over several dimensions";
  if (form == ContractionForm::Columns && !tiles->alongColumns)
    return "columns do not lie side by side";
  if (form == ContractionForm::Depth && !tiles->alongDepth)
    return "contracted elements do not lie side by side";
  return "";
}

LogicalResult ContractionAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = only<DotOp>(loops, "contraction");
  if (!op)
    return failure();
  std::optional<ContractionShape> shape =
      contractionShape(op, isOutside(loops));
  if (!shape)
    return refuse(loops)
           << "an operand is computed in the nest; store it before";
  if (std::string why = refusalOf(getForm(), *shape); !why.empty())
    return refuse(loops) << why;
  bool isPlain = getForm() == ContractionForm::Plain,
       isPacked = getForm() == ContractionForm::Packed;
  if (getTile().size() != (isPlain ? 0 : 2) ||
      getBlocks().size() != (isPacked ? 3 : 0) ||
      llvm::any_of(getTile(), [](int64_t size) { return size < 1; }))
    return refuse(loops) << (isPlain ? "a plain one has no tile"
                             : isPacked
                                 ? "needs a tile of 2 sizes and blocks of 3"
                                 : "needs a tile of 2 sizes and no blocks");
  int64_t lanes = limitsOf(loops).lanes(shape->resultType);
  if (!isPacked)
    return verifyStored(loops);
  int64_t units[] = {getTile()[0], getTile()[1] * lanes, lanes};
  for (auto [block, unit] : llvm::zip_equal(getBlocks(), units))
    if (block < unit || block % unit != 0)
      return refuse(loops) << "a block of " << block << " is no multiple of "
                           << unit << ", which a tile takes";
  return verifyStored(loops);
}

std::string ContractionAttr::refuseEpilogue(
    Operation *op, Value sums, ArrayRef<Value> epilogue, bool storesSums,
    llvm::function_ref<bool(Value)> isInMemory) const {
  if (getForm() != ContractionForm::Packed)
    return "only packed loops compute an epilogue; give it a nest";
  auto loops = op->getParentOfType<LoopsOp>();
  std::optional<ContractionShape> shape =
      contractionShape(cast<DotOp>(op), isOutside(loops));
  if (!shape)
    return "an operand is computed in the nest";
  int64_t depth = positionsOf(shape->contract), block = getBlocks()[2];
  if (!storesSums && block < depth)
    return ("it adds up " + Twine(depth) + " products in blocks of " +
            Twine(block) + " and does not store the sums of the first ones")
        .str();
  if (std::string why = refuseElsewhere(sums, epilogue, isInMemory);
      !why.empty())
    return why;
  int64_t width = getTile()[1] * limitsOf(loops).lanes(shape->resultType);
  DotPath columns(shape->columns, &DotDimension::result);
  if (columns.hasRunsOf(width) &&
      canFollowTile(
          typeOf(sums), columns.size(), width, epilogue,
          [&](Value value) { return value == sums || isInMemory(value); }))
    return "";
  return "the " + std::to_string(width) +
         " columns of a tile are not side by side in its last dimension";
}

int64_t ContractionAttr::getWorkingBytes(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = dyn_cast_or_null<DotOp>(loops.getNestOp());
  if (getForm() != ContractionForm::Packed || !op)
    return 0;
  Type element = typeOf(op.getResult()).getElementType();
  int64_t lanes = limitsOf(loops).lanes(element), bytes = bytesOf(element);
  int64_t rows = getBlocks()[0], columns = getBlocks()[1],
          depth = getBlocks()[2];
  int64_t parts[] = {columns * depth + kPanelSlack, rows * depth + kPanelSlack,
                     getTile()[0] * getTile()[1] * lanes};
  int64_t size = 0;
  for (int64_t elements : parts)
    size += llvm::alignTo(elements, 64 / bytes) * bytes;
  return size;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionAttr::verifyWalk(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = only<ConvolutionOp>(loops, "convolution");
  if (!op)
    return failure();
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isOutside(loops)),
                            rhs = viewOf(op.getRhs(), isOutside(loops));
  Type element = typeOf(op.getResult()).getElementType();
  if (!lhs || !rhs)
    return refuse(loops)
           << "an operand is computed in the nest; store it before";
  if (!hasVectorArithmetic(element) ||
      !hasVectorLoads(typeOf(op.getLhs()).getElementType()) ||
      !hasVectorLoads(typeOf(op.getRhs()).getElementType()))
    return refuse(loops) << "there are no vectors of its elements";
  Strides read = kernelRead(op, rhs->strides, getLanes(), getCopiesKernel());
  if (!suits(op, lhs->strides, read, getLanes()))
    return refuse(loops) << stringifyConvolutionLanes(getLanes())
                         << " do not lie side by side";
  ArrayRef<int64_t> out = op.getResultDims();
  if (getAlong() == out[1] || getAlong() < 0 ||
      getAlong() >= int64_t(out.size()))
    return refuse(loops) << "dimension " << getAlong()
                         << " of the result is none of places";
  if (getCopiesSample() && !canCopySample(op, lhs->strides, getAlong()))
    return refuse(loops) << "copies samples, which do not lie in one piece or "
                            "are walked over together";
  ConvolutionShape shape =
      convolutionShape(op, lhs->strides, read, getLanes(), getAlong());
  if (getCopiesPanels() && (getLanes() != ConvolutionLanes::Outputs ||
                            shape.groups > 1 || getCopiesKernel()))
    return refuse(loops) << "copies panels, for which lanes are outputs of one "
                            "group and the kernel is read in place";
  if (getTile().size() != 2 || getTile()[0] < 1 || getTile()[1] < 1 ||
      getTile()[0] > shape.places)
    return refuse(loops) << "needs a tile of 2 sizes, the first at most "
                         << shape.places;
  return verifyStored(loops);
}

int64_t ConvolutionAttr::getWorkingBytes(Operation *of) const {
  auto loops = cast<LoopsOp>(of);
  auto op = dyn_cast_or_null<ConvolutionOp>(loops.getNestOp());
  if (!op)
    return 0;
  int64_t bytes = bytesOf(typeOf(op.getResult()).getElementType()), size = 0;
  if (getCopiesKernel())
    size += llvm::alignTo(typeOf(op.getRhs()).getNumElements() * bytes, 64);
  if (getCopiesPanels()) {
    int64_t lanes =
        limitsOf(loops).lanes(typeOf(op.getResult()).getElementType());
    size += llvm::alignTo(panelElements(op, getTile()[1] * lanes) * bytes, 64);
  }
  if (getCopiesSample()) {
    RankedTensorType type = typeOf(op.getLhs());
    size += type.getNumElements() / type.getDimSize(op.getLhsDims()[0]) * bytes;
  }
  return size;
}
