//===- Loops.cpp - one step of a formula for each time --------------------===//

#include "weft/compiler/frontends/keras/tensors/Loops.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {
/// A loop whose body is being built.
class Loop {
public:
  Loop(Tensors &t [[clang::lifetimebound]], int64_t dim)
      : t(t), dim(dim), block(body.emplaceBlock()) {}
  Scanned build(llvm::ArrayRef<Tensor> sequences, llvm::ArrayRef<Tensor> states,
                bool isBackwards, ScanBody step);

private:
  Tensor carry(Value init) {
    inits.push_back(init);
    return t(block.addArgument(init.getType(), t.loc));
  }
  llvm::SmallVector<int64_t> without(Value value) const {
    llvm::SmallVector<int64_t> shape(Tensors::shape(value));
    shape.erase(shape.begin() + dim);
    return shape;
  }
  llvm::SmallVector<int64_t> with(Value value, int64_t count) const {
    llvm::SmallVector<int64_t> shape(Tensors::shape(value));
    shape.insert(shape.begin() + dim, count);
    return shape;
  }
  llvm::SmallVector<Value> starts(Value time, int64_t rank) const {
    llvm::SmallVector<Value> out(
        rank, t.splat(0, cast<RankedTensorType>(time.getType())));
    out[dim] = time;
    return out;
  }
  Tensor elementAt(Value sequence, Value time) const;
  Tensor stack(OpBuilder &outside, Value output, int64_t count);
  void carryWhatIsRead(YieldOp end);

  Tensors &t;
  int64_t dim;
  Region body;
  Block &block;
  llvm::SmallVector<Value> inits;
};
} // namespace

Tensor Loop::elementAt(Value sequence, Value time) const {
  llvm::SmallVector<int64_t> sizes(Tensors::shape(sequence));
  sizes[dim] = 1;
  Tensor element = t.make<DynamicSliceOp>(
      sequence, starts(time, Tensors::rank(sequence)), sizes);
  return t.reshape(element, without(sequence));
}

/// Adds a carried stack of outputs, and inserts the output of this time into
/// it.
Tensor Loop::stack(OpBuilder &outside, Value output, int64_t count) {
  auto type = tensorType(output).clone(with(output, count));
  Value stacked = carry(Tensors(outside, t.loc).splat(0, type));
  Value row = t.reshape(output, with(output, 1));
  return t.make<DynamicUpdateSliceOp>(
      stacked, row, starts(block.getArgument(0), type.getRank()));
}

/// Gives the region access to values from outside: constants are cloned, and
/// other values become carried values that do not change.
void Loop::carryWhatIsRead(YieldOp end) {
  llvm::DenseMap<Value, Value> inside;
  llvm::SmallVector<Value> passedOn;
  auto known = [&](Value value) -> Value {
    Value &entry = inside[value];
    if (entry)
      return entry;
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return entry =
                 OpBuilder::atBlockBegin(&block).clone(*constant)->getResult(0);
    passedOn.push_back(carry(value));
    return entry = passedOn.back();
  };
  for (Operation &op : block)
    for (OpOperand &operand : op.getOpOperands())
      if (operand.get().getParentBlock() != &block)
        operand.set(known(operand.get()));
  end.getValuesMutable().append(passedOn);
}

Scanned Loop::build(llvm::ArrayRef<Tensor> sequences,
                    llvm::ArrayRef<Tensor> states, bool isBackwards,
                    ScanBody step) {
  int64_t count = Tensors::size(sequences[0], dim);
  OpBuilder outside(t.builder);
  auto counterType = RankedTensorType::get({}, t.builder.getI32Type());
  Tensor time = t(block.addArgument(counterType, t.loc));
  llvm::SmallVector<Tensor> before, elements;
  for (Tensor state : states)
    before.push_back(carry(state));
  Scanned after;
  {
    OpBuilder::InsertionGuard guard(t.builder);
    t.builder.setInsertionPointToEnd(&block);
    if (isBackwards)
      time = double(count - 1) - time;
    for (Tensor sequence : sequences)
      elements.push_back(elementAt(sequence, time));
    after = step(elements, before);
    llvm::SmallVector<Value> yielded = valuesOf(after.states);
    for (Tensor output : after.outputs)
      yielded.push_back(stack(outside, output, count));
    carryWhatIsRead(YieldOp::create(t.builder, t.loc, yielded));
  }
  auto loop = ForOp::create(t.builder, t.loc, TypeRange(ValueRange(inits)),
                            t.builder.getI64IntegerAttr(count), inits,
                            DenseI64ArrayAttr());
  loop.getBody().takeBody(body);
  ValueRange results = loop.getResults();
  return {
      t(results.take_front(states.size())),
      t(results.drop_front(states.size()).take_front(after.outputs.size()))};
}

Scanned weft::keras::scan(Tensors &t, llvm::ArrayRef<Tensor> sequences,
                          int64_t dim, llvm::ArrayRef<Tensor> states,
                          bool isBackwards, ScanBody body) {
  return Loop(t, dim).build(sequences, states, isBackwards, body);
}
