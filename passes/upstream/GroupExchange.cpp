//===- GroupExchange.cpp - groups of devices by MPI -----------------------===//

#include "weft/passes/upstream/GroupExchange.h"

#include "weft/dialects/weft/local/AbsentElement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace weft;
using namespace mlir;

GroupExchange::GroupExchange(OpBuilder &builder, Location loc, LayoutAttr group)
    : b(loc, builder), mesh(group.getMesh().getMesh()),
      axes(group.getLayout().dims[0]), count(shardCount(axes)) {}

Value GroupExchange::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// The device's position in the mesh, an index.
static Value rankOf(ImplicitLocOpBuilder &b) {
  Value world = mpi::CommWorldOp::create(b, mpi::CommType::get(b.getContext()));
  auto rank = mpi::CommRankOp::create(b, Type(), b.getI32Type(), world);
  return arith::IndexCastOp::create(b, b.getIndexType(), rank.getRank());
}

/// The index (rank / stride) mod size.
static Value digitOf(ImplicitLocOpBuilder &b, Value rank, int64_t stride,
                     int64_t size) {
  Value by = arith::ConstantIndexOp::create(b, stride);
  Value of = arith::ConstantIndexOp::create(b, size);
  Value number = arith::DivUIOp::create(b, rank, by);
  return arith::RemUIOp::create(b, number, of);
}

Value GroupExchange::coordinate() {
  Value rank = rankOf(b), result = constant(0);
  for (const SubAxis &axis : axes) {
    Value digit = digitOf(b, rank, strideOf(mesh.axes, axis), axis.size);
    result = arith::MulIOp::create(b, result, constant(axis.size));
    result = arith::AddIOp::create(b, result, digit);
  }
  return result;
}

Value GroupExchange::rankOfMember(Value member) {
  Value rank = rankOf(b), result = rank;
  for (const SubAxis &axis : llvm::reverse(axes)) {
    int64_t stride = strideOf(mesh.axes, axis);
    Value mine = digitOf(b, rank, stride, axis.size);
    Value theirs = arith::RemUIOp::create(b, member, constant(axis.size));
    member = arith::DivUIOp::create(b, member, constant(axis.size));
    Value steps = arith::SubIOp::create(b, theirs, mine);
    Value apart = arith::MulIOp::create(b, steps, constant(stride));
    result = arith::AddIOp::create(b, result, apart);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static MemRefType bufferOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

static Value asTensor(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  return bufferization::ToTensorOp::create(
      b, RankedTensorType::get(type.getShape(), type.getElementType()), buffer,
      /*restrict=*/true, /*writable=*/true);
}

static mpi::MPI_ReductionOpEnum reductionOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return mpi::MPI_ReductionOpEnum::MPI_SUM;
  case ReduceKind::Max:
    return mpi::MPI_ReductionOpEnum::MPI_MAX;
  case ReduceKind::Min:
    return mpi::MPI_ReductionOpEnum::MPI_MIN;
  case ReduceKind::Prod:
    return mpi::MPI_ReductionOpEnum::MPI_PROD;
  case ReduceKind::And:
    return mpi::MPI_ReductionOpEnum::MPI_BAND;
  case ReduceKind::Or:
    return mpi::MPI_ReductionOpEnum::MPI_BOR;
  }
  return mpi::MPI_ReductionOpEnum::MPI_OP_NULL;
}

static Value world(ImplicitLocOpBuilder &b) {
  return mpi::CommWorldOp::create(b, mpi::CommType::get(b.getContext()));
}

/// Joins the dimensions from `from` on: upstream's lowering of mpi counts only
/// the first dimension's elements.
static Value flattened(ImplicitLocOpBuilder &b, Value value, unsigned from) {
  auto type = cast<RankedTensorType>(value.getType());
  unsigned rank = type.getRank();
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim < from; ++dim)
    groups.push_back({dim});
  if (rank == from) { // A scalar becomes a vector of one element.
    SmallVector<int64_t> shape(type.getShape());
    shape.push_back(1);
    if (!groups.empty())
      groups.back().push_back(from);
    return tensor::ExpandShapeOp::create(b, type.clone(shape), value, groups);
  }
  groups.emplace_back();
  for (unsigned dim = from; dim < rank; ++dim)
    groups.back().push_back(dim);
  return tensor::CollapseShapeOp::create(b, value, groups);
}

/// The inverse of flattened, with the first `from` dimensions kept.
static Value unflattened(ImplicitLocOpBuilder &b, Value value,
                         ArrayRef<int64_t> shape, unsigned from) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim = 0; dim < from; ++dim)
    groups.push_back({dim});
  if (shape.size() == from) {
    if (!groups.empty())
      groups.back().push_back(from);
    return tensor::CollapseShapeOp::create(b, type.clone(shape), value, groups);
  }
  groups.emplace_back();
  for (unsigned dim = from; dim < shape.size(); ++dim)
    groups.back().push_back(dim);
  return tensor::ExpandShapeOp::create(b, type.clone(shape), value, groups);
}

static Value combined(OpBuilder &b, Location loc, ReduceKind kind, Value x,
                      Value y) {
  bool real = isa<FloatType>(x.getType());
  switch (kind) {
  case ReduceKind::Sum:
    return real ? arith::AddFOp::create(b, loc, x, y).getResult()
                : arith::AddIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Prod:
    return real ? arith::MulFOp::create(b, loc, x, y).getResult()
                : arith::MulIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Max:
    return real ? arith::MaximumFOp::create(b, loc, x, y).getResult()
                : arith::MaxSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::Min:
    return real ? arith::MinimumFOp::create(b, loc, x, y).getResult()
                : arith::MinSIOp::create(b, loc, x, y).getResult();
  case ReduceKind::And:
    return arith::AndIOp::create(b, loc, x, y);
  case ReduceKind::Or:
    return arith::OrIOp::create(b, loc, x, y);
  }
  return x;
}

Value GroupExchange::allReduceOfWorld(ReduceKind kind, Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  Value flat = flattened(b, value, 0);
  MemRefType type = bufferOf(flat.getType());
  Value send =
      bufferization::ToBufferOp::create(b, type, flat, /*read_only=*/true);
  Value receive = memref::AllocOp::create(b, type);
  mpi::AllReduceOp::create(b, Type(), send, receive, reductionOf(kind),
                           world(b));
  return unflattened(b, asTensor(b, receive), shape, 0);
}

/// Leaves a group of all devices to MPI. Other groups combine all values in the
/// order of the members, so that all members get the same bits.
Value GroupExchange::allReduce(ReduceKind kind, Value value) {
  if (count == mesh.size())
    return allReduceOfWorld(kind, value);
  Value all = gather(value);
  Value init = arith::ConstantOp::create(
      b, absentData(kind, cast<RankedTensorType>(value.getType())));
  auto body = [&](OpBuilder &inside, Location loc, ValueRange elements) {
    linalg::YieldOp::create(
        inside, loc, combined(inside, loc, kind, elements[1], elements[0]));
  };
  return linalg::ReduceOp::create(b, all, init, ArrayRef<int64_t>{0}, body)
      .getResult(0);
}

/// The k-th of the blocks, without the first dimension.
static Value blockAt(ImplicitLocOpBuilder &b, Value blocks, Value k) {
  auto type = cast<MemRefType>(blocks.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      strides(type.getRank(), b.getIndexAttr(1)), sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  offsets[0] = k;
  sizes[0] = b.getIndexAttr(1);
  auto block = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(block), blocks, offsets,
                                   sizes, strides);
}

void GroupExchange::exchangeWith(Value partner, Value me, Value mine,
                                 Value theirs) {
  Value tag = arith::ConstantIntOp::create(b, b.getI32Type(), 0);
  Value peer =
      arith::IndexCastOp::create(b, b.getI32Type(), rankOfMember(partner));
  Value all = world(b);
  auto sendIt = [&] { mpi::SendOp::create(b, Type(), mine, tag, peer, all); };
  auto receiveIt = [&] {
    mpi::RecvOp::create(b, Type(), theirs, tag, peer, all);
  };
  Value self = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, me, partner);
  auto local = scf::IfOp::create(b, TypeRange(), self, /*addThenBlock=*/true,
                                 /*addElseBlock=*/true);
  auto inside = [&](Block *block, llvm::function_ref<void()> build) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(block);
    build();
    scf::YieldOp::create(b);
  };
  inside(local.thenBlock(), [&] { memref::CopyOp::create(b, mine, theirs); });
  inside(local.elseBlock(), [&] {
    Value first =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, me, partner);
    auto order = scf::IfOp::create(b, TypeRange(), first, /*addThenBlock=*/true,
                                   /*addElseBlock=*/true);
    inside(order.thenBlock(), [&] { sendIt(), receiveIt(); });
    inside(order.elseBlock(), [&] { receiveIt(), sendIt(); });
  });
}

/// Exchanges blocks in pairs. Every member takes the other members as partners
/// in the order of their numbers; the lower number of a pair sends first, so
/// that no cycle of members waits.
Value GroupExchange::exchange(Value blocks, bool same) {
  MemRefType type = bufferOf(blocks.getType());
  Value send =
      bufferization::ToBufferOp::create(b, type, blocks, /*read_only=*/true);
  Value receive = memref::AllocOp::create(
      b,
      MemRefType::get({count, type.getShape().back()}, type.getElementType()));
  Value me = coordinate();
  auto loop = scf::ForOp::create(b, constant(0), constant(count), constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value partner = loop.getInductionVar();
  Value mine = same ? send : blockAt(b, send, partner);
  exchangeWith(partner, me, mine, blockAt(b, receive, partner));
  b.setInsertionPointAfter(loop);
  return asTensor(b, receive);
}

Value GroupExchange::gather(Value value) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  Value blocks = exchange(flattened(b, value, 0), /*same=*/true);
  shape.insert(shape.begin(), count);
  return unflattened(b, blocks, shape, 1);
}

Value GroupExchange::transpose(Value blocks) {
  auto shape = cast<RankedTensorType>(blocks.getType()).getShape();
  return unflattened(b, exchange(flattened(b, blocks, 1), /*same=*/false),
                     shape, 1);
}
