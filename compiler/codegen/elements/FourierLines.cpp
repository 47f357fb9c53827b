//===- FourierLines.cpp - lines between tensors and working memory --------===//

#include "weft/compiler/codegen/elements/FourierLines.h"

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/TransposedVectors.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

int64_t FourierLines::numbersRead() const {
  int64_t given = typeOf(op.getInput()).getDimSize(op.getDim());
  return isFromReal() ? form.length : given;
}

int64_t FourierLines::numbersWritten() const {
  int64_t wanted = typeOf(op.getResult()).getDimSize(op.getDim());
  return isToReal() ? form.length : wanted;
}

/// The line of a lane. Lanes after the last line repeat it.
FourierLines::Line FourierLines::lineOf(Value lane) const {
  Value line = arith::MinUIOp::create(e.builder, e.loc, e.add(first, lane),
                                      e.constant(limit() - 1));
  if (form.isAlongInner())
    return {outer, line};
  if (form.inner == 1)
    return {line, e.constant(0)};
  Value inner = e.constant(form.inner);
  return {arith::DivUIOp::create(e.builder, e.loc, line, inner),
          arith::RemUIOp::create(e.builder, e.loc, line, inner)};
}

/// The row-major position of element i of a line.
Value FourierLines::position(Value tensor, Line line, Value i) const {
  int64_t size = typeOf(tensor).getDimSize(op.getDim());
  return e.add(e.mul(e.add(e.mul(line.outer, size), i), form.inner),
               line.inner);
}

FailureOr<Value> FourierLines::element(Line line, Value i) const {
  Value input = op.getInput();
  RankedTensorType type = typeOf(input);
  if (Value pointer = e.memoryOf(input))
    return e.load(pointer, type.getElementType(), position(input, line, i));
  int64_t dim = op.getDim();
  SmallVector<Value> dims =
      e.positionsOf(line.outer, type.getShape().take_front(dim));
  dims.push_back(i);
  llvm::append_range(
      dims, e.positionsOf(line.inner, type.getShape().drop_front(dim + 1)));
  FailureOr<Value> value = e.element(input, e.makeIndex(dims, e.depth()));
  e.enterDepth(e.depth());
  return value;
}

FailureOr<Pair> FourierLines::numberAt(Line line, Value i) const {
  if (isFromReal() && form.isPaired) {
    FailureOr<Value> re = element(line, e.mul(i, 2)),
                     im = element(line, e.add(e.mul(i, 2), e.constant(1)));
    if (failed(re) || failed(im))
      return failure();
    return Pair{*re, *im};
  }
  FailureOr<Value> value = element(line, i);
  if (failed(value))
    return failure();
  if (isFromReal())
    return Pair{*value, arith::ConstantOp::create(
                            e.builder, e.loc,
                            e.builder.getFloatAttr(stages.component, 0.0))};
  ComplexEmitter c{e.builder, e.loc};
  return Pair{c.re(*value), c.im(*value)};
}

/// Stores number i of a line of the result.
void FourierLines::put(Pair x, Line line, Value i) const {
  Value result = op.getResult(), memory = e.memoryOf(result);
  Type type = typeOf(result).getElementType();
  if (!isToReal())
    return e.store(ComplexEmitter{e.builder, e.loc}.make(x.re, x.im), memory,
                   type, position(result, line, i));
  Value at = form.isPaired ? e.mul(i, 2) : i;
  e.store(x.re, memory, type, position(result, line, at));
  if (form.isPaired)
    e.store(x.im, memory, type,
            position(result, line, e.add(at, e.constant(1))));
}

/// Builds code that runs if the condition holds.
template <typename Body>
void FourierLines::openIf(Value condition, Body body) const {
  Value times = arith::ExtUIOp::create(e.builder, e.loc, e.builder.getI64Type(),
                                       condition);
  e.each(e.constant(0), times, [&](Value) { body(); });
}

//===----------------------------------------------------------------------===//
// Rows: [line][position]
//===----------------------------------------------------------------------===//

FourierLines::Row FourierLines::rowOf(Value tensor) const {
  RankedTensorType type = typeOf(tensor);
  int64_t size = type.getDimSize(op.getDim());
  if (isa<ComplexType>(type.getElementType()))
    return {2 * size, 1};
  return {size, form.isPaired ? 1 : 2};
}

/// The first component of a lane's row, if the first lane's row is at `begin`.
/// Lanes after the last line repeat it.
Value FourierLines::rowBegin(Value begin, Value lane, int64_t apart) const {
  if (!begin)
    return e.mul(lane, apart);
  if (limit() % lanes == 0)
    return e.add(begin, e.mul(lane, apart));
  return e.mul(lineOf(lane).outer, apart);
}

/// Builds the loop over squares of as many components as there are lanes. The
/// last square overlaps the one before it where lanes do not divide a row;
/// shorter rows have no square but components one by one, of which
/// `body` gets the lane.
template <typename Body>
void FourierLines::eachSquare(Row row, Body body) const {
  if (row.components < lanes)
    return e.each(lanes, [&](Value lane) {
      e.each(row.components, [&](Value at) { body(at, lane); });
    });
  e.each(llvm::divideCeil(row.components, lanes), [&](Value number) {
    Value at = e.mul(number, lanes);
    if (row.components % lanes != 0)
      at = arith::MinUIOp::create(e.builder, e.loc, at,
                                  e.constant(row.components - lanes));
    body(at, Value());
  });
}

/// Copies rows that are `apart` components apart; without `begin` these are
/// rows of the working memory.
void FourierLines::readRows(Value from, Value begin, int64_t apart, Row row,
                            Value to) const {
  int64_t between = row.step * lanes;
  eachSquare(row, [&](Value at, Value lane) {
    Value target = e.mul(at, between);
    if (lane) {
      Value x = e.load(from, stages.component,
                       e.add(rowBegin(begin, lane, apart), at));
      return e.store(x, to, stages.component, e.add(target, lane));
    }
    SmallVector<Value> rows;
    for (int64_t i = 0; i < lanes; ++i)
      rows.push_back(stages.loadVector(
          from, e.add(rowBegin(begin, e.constant(i), apart), at)));
    rows = transposedVectors(e.builder, e.loc, rows, bytesOf(stages.component));
    for (auto [i, column] : llvm::enumerate(rows))
      stages.storeVector(column, to,
                         e.add(target, e.constant(int64_t(i) * between)));
  });
}

void FourierLines::writeRows(Value memory, Row row, double factor) const {
  int64_t between = row.step * lanes, apart = row.components;
  Value result = e.memoryOf(op.getResult()), begin = e.mul(first, apart);
  eachSquare(row, [&](Value at, Value lane) {
    Value source = e.mul(at, between);
    if (lane) {
      Value x = e.load(memory, stages.component, e.add(source, lane));
      FourierStages scalar(e, stages.component, 1);
      return e.store(scalar.multiply(x, scalar.number(factor)), result,
                     stages.component, e.add(rowBegin(begin, lane, apart), at));
    }
    SmallVector<Value> columns;
    for (int64_t i = 0; i < lanes; ++i) {
      Value x =
          stages.loadVector(memory, e.add(source, e.constant(i * between)));
      columns.push_back(
          factor == 1 ? x : stages.multiply(x, stages.number(factor)));
    }
    columns =
        transposedVectors(e.builder, e.loc, columns, bytesOf(stages.component));
    for (auto [i, x] : llvm::enumerate(columns))
      stages.storeVector(
          x, result, e.add(rowBegin(begin, e.constant(int64_t(i)), apart), at));
  });
}

/// Computes the elements of each line as a row of numbers.
LogicalResult FourierLines::fillRows(Value rows) const {
  FourierStages scalar(e, stages.component, 1);
  return e.loop(lanes, [&](Value lane) {
    Line line = lineOf(lane);
    return e.loop(numbersRead(), [&](Value i) -> LogicalResult {
      e.markParallel();
      FailureOr<Pair> x = numberAt(line, i);
      if (failed(x))
        return failure();
      scalar.store(*x, rows, e.add(e.mul(lane, form.numbers), i));
      return success();
    });
  });
}

//===----------------------------------------------------------------------===//
// Columns: [position][line]
//===----------------------------------------------------------------------===//

/// Computes the elements of each line where its lane is in memory.
LogicalResult FourierLines::fillLanes(Value memory) const {
  return e.loop(numbersRead(), [&](Value i) {
    return e.loop(lanes, [&](Value lane) -> LogicalResult {
      e.markParallel();
      FailureOr<Pair> x = numberAt(lineOf(lane), i);
      if (failed(x))
        return failure();
      Value at = e.add(e.mul(i, 2 * lanes), lane);
      e.store(x->re, memory, stages.component, at);
      e.store(x->im, memory, stages.component, e.add(at, e.constant(lanes)));
      return success();
    });
  });
}

void FourierLines::readColumns(Value memory) const {
  Value input = op.getInput(), pointer = e.memoryOf(input);
  Line line{outer, first};
  stages.each(0, numbersRead(), [&](Value i) {
    if (isFromReal()) {
      Value at = form.isPaired ? e.mul(i, 2) : i;
      Value re = stages.loadVector(pointer, position(input, line, at));
      Value im =
          form.isPaired
              ? stages.loadVector(
                    pointer, position(input, line, e.add(at, e.constant(1))))
              : stages.number(0);
      return stages.store({re, im}, memory, i);
    }
    Value at = e.mul(position(input, line, i), 2);
    stages.store(stages.loadAdjacent(pointer, at), memory, i);
  });
}

void FourierLines::writeColumns(Value memory, double factor) const {
  Value result = op.getResult(), pointer = e.memoryOf(result);
  Line line{outer, first};
  stages.each(0, numbersWritten(), [&](Value i) {
    Pair x = stages.load(memory, i);
    if (factor != 1)
      x = stages.scaled(x, factor);
    if (isToReal()) {
      Value at = form.isPaired ? e.mul(i, 2) : i;
      stages.storeVector(x.re, pointer, position(result, line, at));
      if (form.isPaired)
        stages.storeVector(x.im, pointer,
                           position(result, line, e.add(at, e.constant(1))));
      return;
    }
    Value at = e.mul(position(result, line, i), 2);
    stages.storeAdjacent(x, pointer, at);
  });
}

/// Stores numbers one by one, of lanes that have a line of their own.
void FourierLines::writeLanes(Value memory, double factor) const {
  FourierStages scalar(e, stages.component, 1);
  Value rest =
      arith::SubIOp::create(e.builder, e.loc, e.constant(limit()), first);
  Value lines =
      arith::MinUIOp::create(e.builder, e.loc, rest, e.constant(lanes));
  e.each(numbersWritten(), [&](Value i) {
    e.each(e.constant(0), lines, [&](Value lane) {
      Value at = e.add(e.mul(i, 2 * lanes), lane);
      Pair x{e.load(memory, stages.component, at),
             e.load(memory, stages.component, e.add(at, e.constant(lanes)))};
      put(scalar.scaled(x, factor), lineOf(lane), i);
    });
  });
}

/// Builds code for groups whose lanes all have a line, and for others.
template <typename Whole, typename Part>
void FourierLines::byColumns(Whole whole, Part part) const {
  if (form.inner % lanes == 0)
    return whole();
  auto is = [&](arith::CmpIPredicate predicate) -> Value {
    return arith::CmpIOp::create(e.builder, e.loc, predicate, first,
                                 e.constant(form.inner - lanes));
  };
  openIf(is(arith::CmpIPredicate::sle), whole);
  openIf(is(arith::CmpIPredicate::sgt), part);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

LogicalResult FourierLines::read(Scratch memory) const {
  Value pointer = e.memoryOf(op.getInput());
  LogicalResult result = success();
  if (lanes == 1) {
    Line line = lineOf(e.constant(0));
    stages.each(0, numbersRead(), [&](Value i) {
      FailureOr<Pair> x = numberAt(line, i);
      result = success(succeeded(x));
      if (succeeded(x))
        stages.store(*x, memory.here, i);
    });
    return result;
  }
  if (form.isAlongInner()) {
    if (!pointer)
      return fillLanes(memory.here);
    byColumns([&] { readColumns(memory.here); },
              [&] { result = fillLanes(memory.here); });
    return result;
  }
  Row row = rowOf(op.getInput());
  if (pointer && form.inner == 1) {
    readRows(pointer, e.mul(first, row.components), row.components, row,
             memory.here);
    if (row.step == 2)
      stages.each(0, numbersRead(), [&](Value i) {
        stages.store({stages.load(memory.here, i).re, stages.number(0)},
                     memory.here, i);
      });
    return success();
  }
  if (failed(fillRows(memory.there)))
    return failure();
  readRows(memory.there, {}, 2 * form.numbers, {2 * numbersRead(), 1},
           memory.here);
  return success();
}

void FourierLines::write(Value memory, double factor) const {
  if (lanes == 1) {
    Line line = lineOf(e.constant(0));
    stages.each(0, numbersWritten(), [&](Value i) {
      Pair x = stages.load(memory, i);
      put(factor == 1 ? x : stages.scaled(x, factor), line, i);
    });
  } else if (form.isAlongInner()) {
    byColumns([&] { writeColumns(memory, factor); },
              [&] { writeLanes(memory, factor); });
  } else if (form.inner == 1) {
    writeRows(memory, rowOf(op.getResult()), factor);
  } else {
    writeLanes(memory, factor);
  }
}

} // namespace weft::elements
