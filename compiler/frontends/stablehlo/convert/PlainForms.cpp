//===- PlainForms.cpp - programs rewritten before they are read -----------===//

#include "weft/compiler/frontends/stablehlo/convert/PlainForms.h"
#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"
#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

static bool isOfScalars(Region &region) {
  if (!region.hasOneBlock() || region.front().empty() ||
      region.front().getNumArguments() == 0)
    return false;
  return llvm::all_of(region.front().getArgumentTypes(), isScalar) &&
         llvm::all_of(region.front().back().getOperandTypes(), isScalar);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Whether the type is tensor<0xi1>, which readers use for tokens.
static bool isToken(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isInteger(1) &&
         tensor.getShape() == ArrayRef<int64_t>{0};
}

static Attribute shardedAs(Attribute sharding, Type type) {
  auto tree = dyn_cast<DictionaryAttr>(sharding);
  auto dims = tree ? tree.getAs<ArrayAttr>("dims") : ArrayAttr();
  if (!isToken(type) || !dims || !dims.empty())
    return sharding;
  Builder b(type.getContext());
  Attribute dim = makeShardedDim(b.getArrayAttr({}), /*closed=*/true, 0);
  return makeSharding(tree.get("mesh"), dim, tree.get("replicated"),
                      tree.get("unreduced"));
}

void stablehlo::shardTokens(ModuleOp program) {
  program.walk([](Operation *op) {
    auto give = [&](StringRef name, TypeRange types) {
      auto list = op->getAttrOfType<ArrayAttr>(name);
      if (!list || list.size() != types.size() || llvm::none_of(types, isToken))
        return;
      SmallVector<Attribute> all;
      for (auto [sharding, type] : llvm::zip_equal(list, types))
        all.push_back(shardedAs(sharding, type));
      op->setAttr(name, ArrayAttr::get(op->getContext(), all));
    };
    give("in_shardings", op->getOperandTypes());
    give("out_shardings", op->getResultTypes());
  });
}

//===----------------------------------------------------------------------===//
// Tuples
//===----------------------------------------------------------------------===//

void stablehlo::forwardTuples(ModuleOp program) {
  SmallVector<Operation *> tuples, dead;
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (ForeignOp(op).name() == "tuple")
      tuples.push_back(op);
    if (ForeignOp(op).name() != "get_tuple_element" ||
        op->getNumOperands() != 1 || op->getNumResults() != 1)
      return;
    Operation *tuple = op->getOperand(0).getDefiningOp();
    int64_t index = ForeignOp(op).integer("index").value_or(-1);
    if (!tuple || ForeignOp(tuple).name() != "tuple" || index < 0 ||
        index >= tuple->getNumOperands() ||
        tuple->getOperand(index).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(tuple->getOperand(index));
    dead.push_back(op);
  });
  for (Operation *op : dead)
    op->erase();
  for (Operation *tuple : llvm::reverse(tuples))
    if (tuple->use_empty())
      tuple->erase();
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {
/// One stablehlo.map whose body is inlined.
class MapExpansion {
public:
  explicit MapExpansion(Operation *map) : map(map), builder(map) {}
  LogicalResult run();

private:
  LogicalResult copy(Operation &op);
  Value broadcast(Value scalar);

  ForeignOp map;
  OpBuilder builder;
  IRMapping values;
  ArrayRef<int64_t> shape;
};
} // namespace

/// Broadcasts a scalar to the shape of the map's result.
Value MapExpansion::broadcast(Value scalar) {
  if (Value known = values.lookupOrNull(scalar))
    return known;
  OperationState state(map->getLoc(), "stablehlo.broadcast_in_dim");
  state.addOperands(scalar);
  state.addTypes(cast<RankedTensorType>(scalar.getType()).clone(shape));
  state.addAttribute("broadcast_dimensions", builder.getDenseI64ArrayAttr({}));
  Value spread = builder.create(state)->getResult(0);
  values.map(scalar, spread);
  return spread;
}

LogicalResult MapExpansion::copy(Operation &op) {
  bool ofScalars = llvm::all_of(op.getOperandTypes(), isScalar) &&
                   llvm::all_of(op.getResultTypes(), isScalar);
  if (op.getNumRegions() || !ofScalars)
    return map.refuse() << "has a body with '" << op.getName()
                        << "', but only elementwise ops of scalars are "
                           "supported there";
  if (op.getNumOperands() == 0) { // constants are cloned, then broadcast
    IRMapping none;
    Operation *constant = builder.clone(op, none);
    for (auto [inside, outside] :
         llvm::zip_equal(op.getResults(), constant->getResults()))
      values.map(inside, broadcast(outside));
    return success();
  }
  for (Value operand : op.getOperands())
    broadcast(operand);
  Operation *copied = builder.clone(op, values);
  for (Value result : copied->getResults())
    result.setType(cast<RankedTensorType>(result.getType()).clone(shape));
  return success();
}

LogicalResult MapExpansion::run() {
  auto type = map.resultType();
  Region *body = map->getNumRegions() == 1 ? &map->getRegion(0) : nullptr;
  if (!type || !body || !isOfScalars(*body) ||
      body->getNumArguments() != map->getNumOperands() ||
      body->front().back().getNumOperands() != 1 || map->getNumResults() != 1)
    return map.refuse() << "has no body of " << map->getNumOperands()
                        << " scalars that gives one";
  shape = type.getShape();
  for (auto [i, operand] : llvm::enumerate(map->getOperands())) {
    auto given = map.operandType(i);
    if (!given || given.getShape() != shape)
      return map.refuse() << "has an operand of " << operand.getType()
                          << ", its result is " << type
                          << "; their shapes must be one";
    values.map(body->getArgument(i), operand);
  }
  for (Operation &op : llvm::drop_end(body->front()))
    if (failed(copy(op)))
      return failure();
  Value result = broadcast(body->front().back().getOperand(0));
  if (result.getType() != type)
    return map.refuse() << "has a result of " << type << ", its body gives "
                        << result.getType();
  map->getResult(0).replaceAllUsesWith(result);
  map->erase();
  return success();
}

LogicalResult stablehlo::expandMaps(ModuleOp program) {
  SmallVector<Operation *> maps;
  program.walk([&](Operation *op) {
    if (ForeignOp(op).name() == "map")
      maps.push_back(op);
  });
  for (Operation *map : maps) // inner maps come first
    if (failed(MapExpansion(map).run()))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Reducers
//===----------------------------------------------------------------------===//

/// Broadcasts a scalar to a shape, in front of the op.
static Value broadcastBefore(Operation *op, Value scalar,
                             ArrayRef<int64_t> shape) {
  OperationState state(op->getLoc(), "stablehlo.broadcast_in_dim");
  state.addOperands(scalar);
  state.addTypes(cast<RankedTensorType>(scalar.getType()).clone(shape));
  OpBuilder builder(op);
  state.addAttribute("broadcast_dimensions", builder.getDenseI64ArrayAttr({}));
  return builder.create(state)->getResult(0);
}

/// Makes a reduction of one more tensor, whose elements all are the scalar.
static Operation *withScalar(Operation *op, Value scalar) {
  unsigned count = op->getNumOperands() / 2;
  Block &block = op->getRegion(0).front();
  auto input = cast<RankedTensorType>(op->getOperand(0).getType());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  block.insertArgument(count, scalar.getType(), op->getLoc());
  Value inside = block.addArgument(scalar.getType(), op->getLoc());
  scalar.replaceUsesWithIf(inside, [&](OpOperand &use) {
    return op->isProperAncestor(use.getOwner());
  });
  block.back().insertOperands(count, inside);
  SmallVector<Value> operands(op->getOperands());
  operands.insert(operands.begin() + count,
                  broadcastBefore(op, scalar, input.getShape()));
  operands.push_back(scalar);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  state.addTypes(
      cast<RankedTensorType>(scalar.getType()).clone(result.getShape()));
  state.addAttributes(op->getAttrs());
  state.addRegion()->takeBody(op->getRegion(0));
  Operation *wider = OpBuilder(op).create(state);
  op->replaceAllUsesWith(wider->getResults().take_front(count));
  op->erase();
  return wider;
}

void stablehlo::passScalarsToReducers(ModuleOp program) {
  SmallVector<Operation *> reductions;
  program.walk([&](Operation *op) {
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if ((ForeignOp(op).name() == "reduce" ||
         ForeignOp(op).name() == "reduce_window") &&
        op->getNumRegions() == 1 && isOfScalars(op->getRegion(0)) &&
        op->getNumResults() > 0 &&
        op->getNumOperands() == 2 * op->getNumResults() &&
        op->getRegion(0).getNumArguments() == op->getNumOperands() &&
        op->getRegion(0).front().back().getNumOperands() ==
            op->getNumResults() &&
        llvm::all_of(op->getOperandTypes(), isStatic) &&
        llvm::all_of(op->getResultTypes(), isStatic))
      reductions.push_back(op);
  });
  for (Operation *op : reductions) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value value : captured) {
      Operation *by = value.getDefiningOp();
      bool isConstant = by && by->getNumOperands() == 0; // cloned into regions
      if (isScalar(value.getType()) && !isConstant)
        op = withScalar(op, value);
    }
  }
}
