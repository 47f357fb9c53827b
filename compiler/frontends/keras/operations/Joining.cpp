//===- Joining.cpp - several tensors as one, and one as several -----------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Sizes = SmallVector<int64_t>;

static Tensor joined(OperationCall &a, ArrayRef<Tensor> parts, int64_t axis) {
  Tensors &t = a.t;
  Tensor first = parts[0];
  if (!a.check(t.rank(first) > 0, "cannot join scalars; use stack"))
    return first;
  int64_t dim = a.checkedDim(axis, t.rank(first));
  Sizes shape(t.shape(first));
  shape[dim] = 0;
  for (Tensor part : parts) {
    Sizes other(t.shape(part));
    bool isGood = other.size() == shape.size();
    if (isGood) {
      shape[dim] += other[dim];
      other[dim] = shape[dim];
    }
    if (!a.check(isGood && other == shape,
                 "cannot join tensors of shapes " + shapeText(t.shape(first)) +
                     " and " + shapeText(t.shape(part)) + " along axis " +
                     std::to_string(axis)))
      return first;
  }
  if (!a.fits(shape))
    return first;
  return t.concatenate(parts, dim);
}
static Tensor concatenate(OperationCall &a) {
  SmallVector<Tensor> parts = a.tensors("xs");
  if (a.given("axis"))
    return joined(a, parts, a.integer("axis"));
  for (Tensor &part : parts) {
    int64_t count = 1;
    for (int64_t size : a.t.shape(part))
      count *= size;
    part = a.t.reshape(part, {count});
  }
  return joined(a, parts, 0);
}
static Tensor append(OperationCall &a) {
  SmallVector<Tensor> both = {a.tensor("x1"), a.tensor("x2")};
  Type type = promoted(elementOf(both[0]), elementOf(both[1]));
  for (Tensor &part : both) {
    part = castTo(a.t, part, type);
    int64_t count = 1;
    for (int64_t size : a.t.shape(part))
      count *= size;
    if (!a.given("axis"))
      part = a.t.reshape(part, {count});
  }
  return joined(a, both, a.integer("axis"));
}
/// Adds a dimension of size 1.
static Tensor widened(Tensors &t, Tensor x, int64_t dim) {
  Sizes shape(t.shape(x));
  shape.insert(shape.begin() + dim, 1);
  return t.reshape(x, shape);
}
static Tensor stack(OperationCall &a) {
  SmallVector<Tensor> parts = a.tensors("x");
  int64_t dim = a.dim("axis", a.t.rank(parts[0]) + 1);
  for (Tensor &part : parts) {
    if (!a.check(a.t.shape(part) == a.t.shape(parts[0]) || part.is(parts[0]) ||
                     a.t.rank(part) + 1 > dim,
                 "cannot stack tensors of different ranks"))
      return parts[0];
    part = widened(a.t, part, dim);
  }
  return joined(a, parts, dim);
}
/// The row of Vstack (dim 0) or Hstack (dim 1). Vectors are stacked as rows by
/// Vstack, and joined along dimension 0 by Hstack.
static OperationRow stackAlong(const char *name, int64_t dim) {
  return operation(name, {"xs"}, {}, [dim](OperationCall &a) {
    SmallVector<Tensor> parts = a.tensors("xs");
    bool isFlat = false;
    for (Tensor &part : parts) {
      isFlat |= a.t.rank(part) < 2;
      if (dim == 0 && a.t.rank(part) == 1)
        part = widened(a.t, part, 0);
    }
    return joined(a, parts, isFlat ? 0 : dim);
  });
}

/// The parts of x that end at the positions `ends`.
static SmallVector<Tensor> cut(OperationCall &a, Tensor x, int64_t dim,
                               ArrayRef<int64_t> ends) {
  SmallVector<Tensor> out;
  int64_t begin = 0, size = a.t.size(x, dim);
  for (int64_t end : ends) {
    if (!a.check(end > begin && end <= size,
                 "parts up to " + shapeText(ends) + " of a size of " +
                     std::to_string(size) + " are empty or lie outside"))
      return {x};
    out.push_back(a.t.slice(x, dim, begin, end));
    begin = end;
  }
  return out;
}
static SmallVector<Tensor> splitAlong(OperationCall &a, Tensor x,
                                      int64_t axis) {
  if (!a.check(a.t.rank(x) > 0, "takes no scalar"))
    return {x};
  int64_t dim = a.checkedDim(axis, a.t.rank(x)), size = a.t.size(x, dim);
  Sizes ends = a.integers("indices_or_sections");
  if (a.argument("indices_or_sections").kind != Argument::Kind::Integer) {
    for (int64_t &end : ends)
      end = end < 0 ? end + size : end;
    ends.push_back(size);
    return cut(a, x, dim, ends);
  }
  int64_t count = ends[0];
  if (!a.check(count > 0 && size % count == 0,
               "cannot split a size of " + std::to_string(size) + " into " +
                   std::to_string(count) + " equal parts"))
    return {x};
  ends.clear();
  for (int64_t i = 1; i <= count; ++i)
    ends.push_back(i * (size / count));
  return cut(a, x, dim, ends);
}
static SmallVector<Tensor> split(OperationCall &a) {
  return splitAlong(a, a.tensor("x"), a.integer("axis"));
}
static OperationRow splitOf(const char *name, int64_t axis) {
  return {name, {"x"}, {{"indices_or_sections"}}, [axis](OperationCall &a) {
            Tensor x = a.tensor("x");
            return splitAlong(a, x, a.t.rank(x) == 1 ? 0 : axis);
          }};
}
static SmallVector<Tensor> unstack(OperationCall &a) {
  Tensor x = a.tensor("x");
  if (!a.check(a.t.rank(x) > 0, "takes no scalar"))
    return {x};
  int64_t dim = a.dim("axis", a.t.rank(x)), size = a.t.size(x, dim);
  if (!a.check(a.integer("num", size) == size,
               "\"num\" is " + a.argument("num").written +
                   ", but the size of the axis is " + std::to_string(size)))
    return {x};
  Sizes ends, shape(a.t.shape(x));
  for (int64_t i = 1; i <= size; ++i)
    ends.push_back(i);
  shape.erase(shape.begin() + dim);
  SmallVector<Tensor> out = cut(a, x, dim, ends);
  for (Tensor &part : out)
    part = a.t.reshape(part, shape);
  return out;
}

std::vector<OperationRow> weft::keras::joiningOperations() {
  return {operation("Append", {"x1", "x2"}, {{"axis"}}, append),
          operation("Concatenate", {"xs"}, {{"axis", "0"}}, concatenate),
          splitOf("Hsplit", 1),
          stackAlong("Hstack", 1),
          {"Split", {"x"}, {{"indices_or_sections"}, {"axis", "0"}}, split},
          operation("Stack", {"x"}, {{"axis", "0"}}, stack),
          {"Unstack", {"x"}, {{"num"}, {"axis", "0"}}, unstack},
          splitOf("Vsplit", 0),
          stackAlong("Vstack", 0)};
}
