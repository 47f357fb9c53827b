//===- StageLoop.cpp - a loop in which stages work side by side -----------===//

#include "weft/passes/training/StageLoop.h"

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/dialects/weft/local/LocalBuilder.h"
#include "weft/passes/sharding/PartGroups.h"

#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace weft;
using pipeline::StagePass;
using pipeline::WorkKind;

StageLoop::StageLoop(ForOp loop, const StagedOps &staged,
                     const pipeline::SteadyState &state, MeshAttr mesh,
                     unsigned axis)
    : loop(loop), staged(staged), state(state), mesh(mesh), axis(axis),
      body(new Block()), builder(loop.getContext()), ops(state.passes.size()),
      local(state.passes.size()), numbers(state.passes.size()) {
  builder.setInsertionPointToEnd(body);
}

/// The pass that computes an op of the loop: the joint backward pass, or the
/// forward pass, if the schedule has no other for it.
std::optional<unsigned> StageLoop::passOf(Operation *op, int64_t offset) const {
  std::optional<int64_t> stage = staged.stageOf(op);
  if (!stage)
    return std::nullopt;
  WorkKind kind = staged.kindOf(op);
  for (WorkKind known : {kind, WorkKind::Backward, WorkKind::Forward})
    for (auto [number, pass] : llvm::enumerate(state.passes))
      if (pass.stage == *stage && pass.kind == known && pass.offset == offset &&
          pass.chunk == staged.chunkOf(op) &&
          (kind != WorkKind::Forward || known == kind))
        return number;
  return std::nullopt;
}

std::optional<unsigned> StageLoop::passOf(Value value, int64_t offset) const {
  Operation *def = value.getDefiningOp();
  return def && def->getParentOp() == loop ? passOf(def, offset) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values that passes give each other
//===----------------------------------------------------------------------===//

LogicalResult StageLoop::addChannel(Value value, unsigned to, Operation *user) {
  const StagePass &target = pass(to);
  std::optional<unsigned> from = passOf(value, target.offset);
  if (!from || *from == to)
    return success();
  const StagePass &source = pass(*from);
  int64_t delay = target.delay - source.delay;
  if (delay < 0 || (delay == 0 && to < *from))
    return user->emitError("of stage ")
           << target.stage << " needs a value of stage " << source.stage
           << ", which is computed later for the same microbatch; put both "
              "layers into one stage, or the first one into an earlier stage";
  Channel &channel = channels[keyOf(value, to)];
  channel.from = *from;
  channel.stage = target.stage;
  channel.delay = std::max(channel.delay, delay);
  channel.live =
      std::max(channel.live, delay + (readsAfter(channel, to) ? 1 : 0));
  channel.isDirect |= delay == 0;
  return success();
}

LogicalResult StageLoop::addChannels() {
  for (Operation &op : loop.getBody().front().without_terminator())
    for (int64_t offset = 0; offset < state.round; ++offset) {
      std::optional<unsigned> number = passOf(&op, offset);
      if (!number)
        continue;
      ops[*number].push_back(&op);
      for (Value value : valuesReadBy(&op))
        if (failed(addChannel(value, *number, &op)))
          return failure();
    }
  return success();
}

/// Checks that each value that iterations change is read and written by one
/// pass.
LogicalResult StageLoop::checkCarried() {
  for (BlockArgument argument : loop.getCarried()) {
    unsigned index = argument.getArgNumber() - 1;
    if (loop.isInvariant(index))
      continue;
    Value yielded = loop.getYielded()[index];
    std::optional<unsigned> writer = passOf(yielded, 0);
    bool isOfOne = writer && llvm::all_of(argument.getUsers(), [&](auto *user) {
                     Operation *outer =
                         loop.getBody().front().findAncestorOpInBlock(*user);
                     return outer && passOf(outer, 0) == writer;
                   });
    if (!isOfOne)
      return loop.emitError("adds up a value of the batch in several passes of "
                            "a pipeline; leave out \"pipeline\"");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// The number of the microbatch of a pass in this iteration.
Value StageLoop::numberOf(unsigned number) {
  Value &known = numbers[number];
  const StagePass &its = pass(number);
  if (known || (its.delay == 0 && state.round == 1))
    return known ? known : body->getArgument(0);
  LocalBuilder b{builder, loop.getLoc()};
  Value at = SubOp::create(builder, b.loc, b.asI64(body->getArgument(0)),
                           b.integer(its.delay));
  if (state.round > 1) {
    at = MulOp::create(builder, b.loc, at, b.integer(state.round));
    at = AddOp::create(builder, b.loc, at, b.integer(its.offset));
  }
  return known = ConvertOp::create(builder, b.loc,
                                   body->getArgument(0).getType(), at);
}

/// tensor<i1>: whether the pass has a microbatch in this iteration.
Value StageLoop::hasMicrobatch(unsigned number) {
  int64_t delay = pass(number).delay, count = state.countOf(pass(number));
  Value &known = conditions[{delay, count}];
  if (known)
    return known;
  LocalBuilder b{builder, loop.getLoc()};
  Value at = b.asI64(body->getArgument(0));
  Value begun = b.compare(CompareKind::GE, at, b.integer(delay));
  Value goesOn = b.compare(CompareKind::LT, at, b.integer(delay + count));
  return known = AndOp::create(builder, b.loc, begun, goesOn);
}

/// The place in a ring of `count` of the microbatch that a pass of this delay
/// has.
Value StageLoop::slot(int64_t delay, int64_t count) {
  LocalBuilder b{builder, loop.getLoc()};
  int64_t shift = llvm::alignTo(delay, count) - delay;
  Value at = AddOp::create(builder, b.loc, b.asI64(body->getArgument(0)),
                           b.integer(shift));
  return RemOp::create(builder, b.loc, at, b.integer(count));
}

/// The value on the devices of a stage, in any layout there.
Value StageLoop::put(Value value, int64_t stage) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  Layout layout = Layout::replicated(rank);
  layout.part = {{axis, stage}};
  auto at = ConstrainOp::create(
      builder, value.getLoc(), value.getType(), value,
      LayoutAttr::get(mesh, layout),
      builder.getStringAttr("stage " + Twine(stage) + " of the pipeline"));
  at->setAttr("weft.open", builder.getDenseI64ArrayAttr(
                               llvm::to_vector(llvm::seq<int64_t>(0, rank))));
  return at;
}

static RankedTensorType ringType(Type type, int64_t count) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, tensor.getShape());
  return tensor.clone(shape);
}

/// Adds the loop's arguments: the counter, what the old loop carries, and what
/// is on its way between passes.
void StageLoop::addArguments() {
  body->addArgument(loop.getCounter().getType(), loop.getLoc());
  OpBuilder before(loop);
  for (auto [init, argument] :
       llvm::zip_equal(loop.getInits(), loop.getCarried())) {
    inits.push_back(init);
    carried.push_back(body->addArgument(argument.getType(), argument.getLoc()));
  }
  for (auto &[key, channel] : channels) {
    if (channel.delay == 0)
      continue;
    Value value = std::get<0>(key);
    auto type = cast<RankedTensorType>(value.getType());
    if (channel.live > 1)
      type = ringType(type, channel.live);
    inits.push_back(
        ConstantOp::create(before, loop.getLoc(), splatData(0, type)));
    channel.before = body->addArgument(type, value.getLoc());
  }
}

/// A value of the old loop in a pass.
Value StageLoop::valueIn(Value value, unsigned number) {
  if (Value known = local[number].lookupOrNull(value))
    return known;
  if (value == loop.getCounter())
    return numberOf(number);
  if (value.getParentRegion() != &loop.getBody())
    return value;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return carried[argument.getArgNumber() - 1];
  std::optional<unsigned> from = passOf(value, pass(number).offset);
  if (from && *from != number)
    return receive(channels[keyOf(value, number)], number);
  // Repeated here.
  Operation *def = value.getDefiningOp();
  IRMapping &mapping = local[number];
  for (Value read : valuesReadBy(def))
    mapping.map(read, valueIn(read, number));
  builder.clone(*def, mapping);
  return mapping.lookup(value);
}

Value StageLoop::receive(Channel &channel, unsigned number) {
  const StagePass &source = pass(channel.from), &target = pass(number);
  if (target.delay == source.delay)
    return channel.value;
  if (channel.live == 1)
    return channel.before;
  Value ring = readsAfter(channel, number) ? channel.after : channel.before;
  auto type = cast<RankedTensorType>(ring.getType());
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = 1;
  LocalBuilder b{builder, ring.getLoc()};
  SmallVector<Value> starts(sizes.size(), b.integer(0));
  starts.front() = slot(target.delay, channel.live);
  Value slice = DynamicSliceOp::create(builder, b.loc, ring, starts, sizes);
  return ReshapeOp::create(builder, b.loc, slice, type.getShape().drop_front());
}

/// The value in its ring, or the value if it needs none.
Value StageLoop::store(Value value, const Channel &channel) {
  if (channel.live <= 1)
    return value;
  LocalBuilder b{builder, value.getLoc()};
  auto type = cast<RankedTensorType>(channel.before.getType());
  SmallVector<int64_t> sizes(type.getShape());
  sizes.front() = 1;
  SmallVector<Value> starts(sizes.size(), b.integer(0));
  starts.front() = slot(pass(channel.from).delay, channel.live);
  Value one = ReshapeOp::create(builder, b.loc, value, sizes);
  return DynamicUpdateSliceOp::create(builder, b.loc, channel.before, one,
                                      starts);
}

/// What other passes or iterations read of a pass.
SmallVector<StageLoop::Given> StageLoop::givenBy(unsigned number) {
  SmallVector<Given> results;
  for (auto &[key, channel] : channels) {
    if (channel.from != number)
      continue;
    Value value = valueIn(std::get<0>(key), number);
    if (isMoved(channel) || channel.isDirect)
      results.push_back({value, Value(), &channel.value});
    if (!isMoved(channel) && channel.delay > 0)
      results.push_back(
          {store(value, channel), channel.before, &channel.after});
  }
  for (auto [index, yielded] : llvm::enumerate(loop.getYielded()))
    if (!loop.isInvariant(index) &&
        passOf(yielded, pass(number).offset) == number)
      results.push_back(
          {valueIn(yielded, number), carried[index], &carried[index]});
  return results;
}

/// Makes a region read all values by arguments of its own; returns the values.
static SmallVector<Value> isolate(Region &region, ArrayRef<Value> also) {
  llvm::SetVector<Value> read;
  getUsedValuesDefinedAbove(region, read);
  read.insert(also.begin(), also.end());
  for (Value value : read) {
    Value inside = region.front().addArgument(value.getType(), value.getLoc());
    replaceAllUsesInRegionWith(value, inside, region);
  }
  return llvm::to_vector(read);
}

/// Adds the op that runs a block if the pass has a microbatch.
void StageLoop::addCase(unsigned number, Block *block,
                        ArrayRef<Given> results) {
  Location loc = loop.getLoc();
  SmallVector<Value> values, kept;
  for (const Given &result : results) {
    values.push_back(result.value);
    if (result.otherwise)
      kept.push_back(result.otherwise);
  }
  YieldOp::create(builder, loc, values);
  builder.setInsertionPointToEnd(body);
  auto choice =
      CaseOp::create(builder, loc, TypeRange(ValueRange(values)),
                     hasMicrobatch(number), ValueRange(), /*branchesCount=*/2);
  setTakenRounds(choice, {pass(number).delay, state.countOf(pass(number))});
  choice.getBranches()[0].push_back(block);
  SmallVector<Value> inputs = isolate(choice.getBranches()[0], kept);
  choice->insertOperands(1, inputs);
  Block &other = choice.getBranches()[1].emplaceBlock();
  for (Value input : inputs)
    other.addArgument(input.getType(), input.getLoc());
  builder.setInsertionPointToEnd(&other);
  SmallVector<Value> instead;
  for (auto [result, made] : llvm::zip_equal(results, choice.getResults())) {
    if (result.otherwise)
      instead.push_back(other.getArgument(llvm::find(inputs, result.otherwise) -
                                          inputs.begin()));
    else
      instead.push_back(ConstantOp::create(
          builder, loc, splatData(0, cast<RankedTensorType>(made.getType()))));
    *result.target = made;
  }
  YieldOp::create(builder, loc, instead);
  builder.setInsertionPointToEnd(body);
}

void StageLoop::buildPass(unsigned number) {
  auto *block = new Block();
  builder.setInsertionPointToEnd(block);
  IRMapping &mapping = local[number];
  for (Operation *op : ops[number]) {
    for (Value value : valuesReadBy(op)) {
      Value inside = valueIn(value, number);
      mapping.map(value, inside);
    }
    builder.clone(*op, mapping);
  }
  addCase(number, block, givenBy(number));
}

/// Brings what a pass gives to other stages there.
void StageLoop::buildMoves(unsigned number) {
  for (auto &[key, channel] : channels)
    if (channel.from == number && isMoved(channel))
      channel.value = put(channel.value, channel.stage);
}

/// Stores what was moved in this iteration for later ones.
void StageLoop::storeMoved() {
  for (auto &[key, channel] : channels)
    if (isMoved(channel) && channel.delay > 0)
      channel.after = store(channel.value, channel);
}

/// What the loop carries to its next iteration.
SmallVector<Value> StageLoop::yields() {
  SmallVector<Value> values(carried.begin(), carried.end());
  for (auto &[key, channel] : channels)
    if (channel.delay > 0)
      values.push_back(channel.after);
  return values;
}

LogicalResult StageLoop::run() {
  if (failed(addChannels()) || failed(checkCarried())) {
    delete body;
    return failure();
  }
  addArguments();
  OpBuilder before(loop);
  auto staggered = ForOp::create(
      before, loop.getLoc(), TypeRange(ValueRange(inits)),
      before.getI64IntegerAttr(state.iterations()), inits, DenseI64ArrayAttr());
  staggered.getBody().push_back(body);
  staggered->setAttr(kOrderedAttr, before.getUnitAttr());
  for (unsigned number = 0; number < state.passes.size(); ++number)
    hasMicrobatch(number);
  for (unsigned number = 0; number < state.passes.size(); ++number) {
    buildPass(number);
    buildMoves(number);
  }
  storeMoved();
  YieldOp::create(builder, loop.getLoc(), yields());
  loop.replaceAllUsesWith(
      staggered.getResults().take_front(loop.getNumResults()));
  loop.erase();
  return success();
}
