//===- CollToMpi.cpp - collectives as patterns of MPI calls ---------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/local/AbsentElement.h"
#include "weft/passes/upstream/GroupExchange.h"
#include "weft/passes/upstream/Passes.h"

#include "mlir/IR/PatternMatch.h"

using namespace weft;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Blocks of local tensors
//===----------------------------------------------------------------------===//

static SmallVector<OpFoldResult> attributesOf(OpBuilder &b,
                                              ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) {
    return OpFoldResult(b.getIndexAttr(value));
  });
}

/// The leading slice of the value with this shape.
static Value cutTo(OpBuilder &b, Location loc, Value value,
                   ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  return tensor::ExtractSliceOp::create(b, loc, value, attributesOf(b, zeros),
                                        attributesOf(b, shape),
                                        attributesOf(b, ones));
}

/// Appends undefined elements to the value along `dim`.
static Value growTo(OpBuilder &b, Location loc, Value value, unsigned dim,
                    int64_t size) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  if (shape[dim] == size)
    return value;
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1),
      sizes(shape);
  shape[dim] = size;
  Value room =
      tensor::EmptyOp::create(b, loc, shape, typeOf(value).getElementType());
  return tensor::InsertSliceOp::create(
      b, loc, value, room, attributesOf(b, zeros), attributesOf(b, sizes),
      attributesOf(b, ones));
}

static Value permuted(OpBuilder &b, Location loc, Value value,
                      ArrayRef<int64_t> order) {
  SmallVector<int64_t> shape;
  for (int64_t from : order)
    shape.push_back(typeOf(value).getDimSize(from));
  Value room =
      tensor::EmptyOp::create(b, loc, shape, typeOf(value).getElementType());
  return linalg::TransposeOp::create(b, loc, value, room, order).getResult()[0];
}

/// The reassociation of rank + 1 dimensions to rank: {0}, {1}, {dim, dim + 1},
/// ...
static SmallVector<ReassociationIndices> pairAt(unsigned dim, unsigned rank) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned d = 0, next = 0; d < rank; ++d) {
    groups.push_back({next++});
    if (d == dim)
      groups.back().push_back(next++);
  }
  return groups;
}

/// Concatenates the blocks of [p, block] along `dim`.
static Value joined(OpBuilder &b, Location loc, Value blocks, unsigned dim) {
  unsigned rank = typeOf(blocks).getRank() - 1;
  SmallVector<int64_t> order;
  for (unsigned d = 0; d < rank; ++d) {
    if (d == dim)
      order.push_back(0);
    order.push_back(d + 1);
  }
  return tensor::CollapseShapeOp::create(
      b, loc, permuted(b, loc, blocks, order), pairAt(dim, rank));
}

/// The inverse of joined: splits `dim` into p blocks of `block` elements.
static Value taken(OpBuilder &b, Location loc, Value value, unsigned dim,
                   int64_t p, int64_t block) {
  Value grown = growTo(b, loc, value, dim, p * block);
  unsigned rank = typeOf(value).getRank();
  SmallVector<int64_t> shape(typeOf(grown).getShape()),
      order{static_cast<int64_t>(dim)};
  shape[dim] = p;
  shape.insert(shape.begin() + dim + 1, block);
  Value apart = tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, typeOf(value).getElementType()),
      grown, pairAt(dim, rank));
  for (unsigned d = 0; d <= rank; ++d)
    if (d != dim)
      order.push_back(d);
  return permuted(b, loc, apart, order);
}

/// Block k of `size` elements along `dim`.
static Value blockAt(OpBuilder &b, Location loc, Value value, unsigned dim,
                     Value k, int64_t p, int64_t size) {
  Value grown = growTo(b, loc, value, dim, p * size);
  Value by = arith::ConstantIndexOp::create(b, loc, size);
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape[dim] = size;
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
  SmallVector<OpFoldResult> offsets = attributesOf(b, zeros);
  offsets[dim] = arith::MulIOp::create(b, loc, k, by).getResult();
  return tensor::ExtractSliceOp::create(b, loc, value = grown, offsets,
                                        attributesOf(b, shape),
                                        attributesOf(b, ones));
}

/// Elements of `from` along `dim` at the positions that `place` gives for each
/// index of the result, clamped to the dimension.
static Value
pickedAt(OpBuilder &b, Location loc, Value from, unsigned dim,
         RankedTensorType type,
         llvm::function_ref<Value(OpBuilder &, ValueRange)> place) {
  Value room =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(type.getRank())};
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inside, Location at, ValueRange) {
    SmallVector<Value> index;
    for (int64_t d = 0; d < type.getRank(); ++d)
      index.push_back(linalg::IndexOp::create(inside, at, d));
    Value last = arith::ConstantIndexOp::create(
        inside, at, typeOf(from).getDimSize(dim) - 1);
    Value zero = arith::ConstantIndexOp::create(inside, at, 0);
    Value position = place(inside, index);
    position = arith::MinSIOp::create(inside, at, position, last);
    index[dim] = arith::MaxSIOp::create(inside, at, position, zero);
    Value element = tensor::ExtractOp::create(inside, at, from, index);
    linalg::YieldOp::create(inside, at, element);
  };
  return linalg::GenericOp::create(b, loc, type, ValueRange(), room, maps,
                                   kinds, body)
      .getResult(0);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct CoordinateToMpi : OpRewritePattern<coll::CoordinateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::CoordinateOp op,
                                PatternRewriter &b) const override {
    Value k = GroupExchange(b, op.getLoc(), op.getGroup()).coordinate();
    Value number =
        arith::IndexCastOp::create(b, op.getLoc(), b.getI64Type(), k);
    b.replaceOpWithNewOp<tensor::FromElementsOp>(op, op.getType(), number);
    return success();
  }
};

struct SliceToMpi : OpRewritePattern<coll::SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::SliceOp op,
                                PatternRewriter &b) const override {
    GroupExchange group(b, op.getLoc(), op.getGroup());
    b.replaceOp(op, blockAt(b, op.getLoc(), op.getInput(), op.getDim(),
                            group.coordinate(), group.size(),
                            op.getType().getDimSize(op.getDim())));
    return success();
  }
};

struct MakePartialToMpi : OpRewritePattern<coll::MakePartialOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::MakePartialOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value k = GroupExchange(b, loc, op.getGroup()).coordinate();
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value first =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, k, zero);
    Value absent =
        arith::ConstantOp::create(b, loc, absentData(op.getKind(), typeOf(op)));
    b.replaceOpWithNewOp<arith::SelectOp>(op, first, op.getInput(), absent);
    return success();
  }
};

struct AllReduceToMpi : OpRewritePattern<coll::AllReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::AllReduceOp op,
                                PatternRewriter &b) const override {
    SmallVector<Value> results;
    for (Value input : op.getInputs())
      results.push_back(GroupExchange(b, op.getLoc(), op.getGroup())
                            .allReduce(op.getKind(), input));
    b.replaceOp(op, results);
    return success();
  }
};

struct ReduceScatterToMpi : OpRewritePattern<coll::ReduceScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::ReduceScatterOp op,
                                PatternRewriter &b) const override {
    Value sum = GroupExchange(b, op.getLoc(), op.getGroup())
                    .allReduce(op.getKind(), op.getInput());
    b.replaceOpWithNewOp<coll::SliceOp>(op, op.getType(), sum, op.getDim(),
                                        op.getGroup(), op.getReasonAttr());
    return success();
  }
};

struct AllGatherToMpi : OpRewritePattern<coll::AllGatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::AllGatherOp op,
                                PatternRewriter &b) const override {
    Value blocks =
        GroupExchange(b, op.getLoc(), op.getGroup()).gather(op.getInput());
    Value all = joined(b, op.getLoc(), blocks, op.getDim());
    b.replaceOp(op, cutTo(b, op.getLoc(), all, op.getType().getShape()));
    return success();
  }
};

struct AllToAllToMpi : OpRewritePattern<coll::AllToAllOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::AllToAllOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    GroupExchange group(b, loc, op.getGroup());
    Value blocks = taken(b, loc, op.getInput(), op.getSplit(), group.size(),
                         op.getType().getDimSize(op.getSplit()));
    Value all = joined(b, loc, group.transpose(blocks), op.getConcat());
    b.replaceOp(op, cutTo(b, loc, all, op.getType().getShape()));
    return success();
  }
};

/// Gathers all blocks and picks the elements that the device needs.
struct FetchToMpi : OpRewritePattern<coll::FetchOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::FetchOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    GroupExchange group(b, loc, op.getGroup());
    unsigned dim = op.getDim();
    Value all = joined(b, loc, group.gather(op.getInput()), dim);
    Value k = group.coordinate();
    auto place = [&](OpBuilder &in, ValueRange index) {
      auto number = [&](int64_t n) -> Value {
        return arith::ConstantIndexOp::create(in, loc, n);
      };
      Value block = arith::MulIOp::create(in, loc, k, number(op.getBlock()));
      Value step =
          arith::MulIOp::create(in, loc, index[dim], number(op.getStep()));
      Value at = arith::AddIOp::create(in, loc, block, step);
      at = arith::AddIOp::create(in, loc, at, number(op.getOffset()));
      if (op.getModulus() != 0) {
        Value modulus = number(op.getModulus());
        at = arith::RemSIOp::create(in, loc, at, modulus);
        at = arith::AddIOp::create(in, loc, at, modulus);
        at = arith::RemSIOp::create(in, loc, at, modulus);
      }
      return arith::FloorDivSIOp::create(in, loc, at, number(op.getDivisor()))
          .getResult();
    };
    b.replaceOp(op, pickedAt(b, loc, all, dim, typeOf(op), place));
    return success();
  }
};

struct PickToMpi : OpRewritePattern<coll::PickOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::PickOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value all = joined(
        b, loc, GroupExchange(b, loc, op.getGroup()).gather(op.getInput()),
        op.getDim());
    auto place = [&](OpBuilder &in, ValueRange index) {
      Value at = tensor::ExtractOp::create(in, loc, op.getPositions(), index);
      return arith::IndexCastOp::create(in, loc, in.getIndexType(), at)
          .getResult();
    };
    b.replaceOp(op, pickedAt(b, loc, all, op.getDim(), typeOf(op), place));
    return success();
  }
};

struct CollectivePermuteToMpi : OpRewritePattern<coll::CollectivePermuteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(coll::CollectivePermuteOp op,
                                PatternRewriter &b) const override {
    Location loc = op.getLoc();
    GroupExchange group(b, loc, op.getGroup());
    Value blocks = group.gather(op.getInput());
    SmallVector<int64_t> sources(op.getSources());
    for (int64_t &source : sources)
      // A device without a source takes any block, as its result is undefined.
      source = std::max<int64_t>(source, 0);
    Value table =
        arith::ConstantOp::create(b, loc, b.getIndexTensorAttr(sources));
    Value source = tensor::ExtractOp::create(b, loc, table,
                                             ValueRange{group.coordinate()});
    Value block = blockAt(b, loc, blocks, 0, source, group.size(), 1);
    SmallVector<ReassociationIndices> groups;
    for (int64_t d = 0; d < op.getType().getRank(); ++d)
      groups.push_back(d == 0 ? ReassociationIndices{0, 1}
                              : ReassociationIndices{d + 1});
    b.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, op.getType(), block,
                                                  groups);
    return success();
  }
};

/// Gathers the dimensions that one layout splits, and slices the dimensions
/// that the other layout splits.
template <typename Op> struct LayoutMoveToMpi : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &b) const override {
    Value value = op.getInput();
    auto step = [&](LayoutAttr layout, unsigned dim, int64_t size,
                    auto create) {
      SubAxes axes = layout.getLayout().dims[dim];
      if (axes.empty())
        return;
      Layout group = Layout::replicated(1);
      group.dims[0] = axes;
      SmallVector<int64_t> shape(typeOf(value).getShape());
      shape[dim] = size;
      value =
          create(RankedTensorType::get(shape, typeOf(value).getElementType()),
                 LayoutAttr::get(layout.getMesh(), group), dim);
    };
    for (auto [dim, size] : llvm::enumerate(op.getShape()))
      step(op.getFrom(), dim, size,
           [&](Type type, LayoutAttr group, int64_t at) -> Value {
             return coll::AllGatherOp::create(b, op.getLoc(), type, value, at,
                                              group, op.getReasonAttr());
           });
    for (auto [dim, size] : llvm::enumerate(op.getType().getShape()))
      step(op.getTo(), dim, size,
           [&](Type type, LayoutAttr group, int64_t at) -> Value {
             return coll::SliceOp::create(b, op.getLoc(), type, value, at,
                                          group, op.getReasonAttr());
           });
    b.replaceOp(op, value);
    return success();
  }
};
} // namespace

void weft::populateCollToMpiPatterns(RewritePatternSet &patterns) {
  patterns
      .add<CoordinateToMpi, SliceToMpi, MakePartialToMpi, AllReduceToMpi,
           ReduceScatterToMpi, AllGatherToMpi, AllToAllToMpi, FetchToMpi,
           PickToMpi, CollectivePermuteToMpi, LayoutMoveToMpi<coll::PermuteOp>,
           LayoutMoveToMpi<coll::ExchangeOp>>(patterns.getContext());
}
