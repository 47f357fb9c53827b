//===- Shapes.cpp - functions that move elements --------------------------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/layout/Sizes.h"

#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Sizes = SmallVector<int64_t>;

static int64_t elementCount(ArrayRef<int64_t> shape) {
  return tensorBytes(shape, 1);
}
static Sizes counted(int64_t count) {
  Sizes out(size_t(std::max<int64_t>(count, 0)));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

static Tensor reshape(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes shape = a.integers("newshape");
  int64_t known = 1, unknown = -1, count = elementCount(a.t.shape(x));
  bool isGood = true;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == -1) {
      isGood &= unknown < 0;
      unknown = int64_t(i);
    } else {
      isGood &= size > 0;
      known = saturatingMultiply(known, std::max<int64_t>(size, 1));
    }
  }
  isGood &= unknown < 0 ? known == count : count % known == 0;
  if (!a.check(isGood, "cannot reshape " + shapeText(a.t.shape(x)) + " to " +
                           a.argument("newshape").written))
    return x;
  if (unknown >= 0)
    shape[unknown] = count / known;
  return a.t.reshape(x, shape);
}
static Tensor ravel(OperationCall &a) {
  Tensor x = a.tensor("x");
  return a.t.reshape(x, {elementCount(a.t.shape(x))});
}

static Tensor transpose(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes order = counted(a.t.rank(x));
  std::reverse(order.begin(), order.end());
  if (a.given("axes")) {
    order = a.integers("axes");
    for (int64_t &dim : order)
      dim = a.checkedDim(dim, a.t.rank(x));
  }
  Sizes sorted = order;
  llvm::sort(sorted);
  if (!a.check(sorted == counted(a.t.rank(x)),
               "\"axes\" " + a.argument("axes").written +
                   " are no order of the dimensions of " +
                   shapeText(a.t.shape(x))))
    return x;
  return a.t.transpose(x, order);
}
static Tensor swapAxes(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes order = counted(a.t.rank(x));
  if (!a.check(a.t.rank(x) > 0, "takes no scalar"))
    return x;
  std::swap(order[a.dim("axis1", a.t.rank(x))],
            order[a.dim("axis2", a.t.rank(x))]);
  return a.t.transpose(x, order);
}
static Tensor moveAxis(OperationCall &a) {
  Tensor x = a.tensor("x");
  int64_t rank = a.t.rank(x);
  Sizes from = a.integers("source"), to = a.integers("destination");
  Sizes order(size_t(rank), -1);
  std::vector<bool> isMoved(rank, false);
  bool isGood = from.size() == to.size() && rank > 0;
  for (size_t i = 0; isGood && i < from.size(); ++i) {
    int64_t source = a.checkedDim(from[i], rank),
            target = a.checkedDim(to[i], rank);
    isGood = order[target] < 0 && !isMoved[source];
    order[target] = source;
    isMoved[source] = true;
  }
  if (!a.check(isGood, "\"source\" and \"destination\" must name as many "
                       "different axes"))
    return x;
  int64_t next = 0;
  for (int64_t &dim : order) {
    while (dim < 0 && isMoved[next])
      ++next;
    if (dim < 0)
      dim = next++;
  }
  return a.t.transpose(x, order);
}

static Tensor expandDims(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes axes = a.integers("axis"), shape(a.t.shape(x));
  int64_t rank = a.t.rank(x) + int64_t(axes.size());
  for (int64_t &axis : axes)
    axis = a.checkedDim(axis, rank);
  llvm::sort(axes);
  if (!a.check(std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
               "\"axis\" " + a.argument("axis").written +
                   " names an axis twice"))
    return x;
  for (int64_t axis : axes)
    shape.insert(shape.begin() + axis, 1);
  return a.t.reshape(x, shape);
}
static Tensor squeeze(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes dims = a.dims("axis", x), shape;
  for (int64_t i = 0; i < a.t.rank(x); ++i) {
    bool isNamed = llvm::is_contained(dims, i), isOne = a.t.size(x, i) == 1;
    if (!a.check(!a.given("axis") || !isNamed || isOne,
                 "\"axis\" " + a.argument("axis").written + " of " +
                     shapeText(a.t.shape(x)) + " has no size of 1"))
      return x;
    if (!isNamed || !isOne)
      shape.push_back(a.t.size(x, i));
  }
  return a.t.reshape(x, shape);
}
static Tensor broadcastTo(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes shape = a.integers("shape");
  int64_t missing = int64_t(shape.size()) - a.t.rank(x);
  bool isGood = missing >= 0;
  for (int64_t i = 0; isGood && i < int64_t(shape.size()); ++i) {
    int64_t own = i < missing ? 1 : a.t.size(x, i - missing);
    if (shape[i] == -1) // -1 keeps the input's size
      shape[i] = own;
    isGood = shape[i] > 0 && (own == 1 || own == shape[i]);
  }
  if (!a.check(isGood, "cannot stretch " + shapeText(a.t.shape(x)) + " to " +
                           a.argument("shape").written) ||
      !a.fits(shape))
    return x;
  return a.t.stretch(x, shape);
}

static Tensor flip(OperationCall &a) {
  Tensor x = a.tensor("x");
  return a.t.make<ReverseOp>(x, a.dims("axis", x));
}
static OperationRow flipOf(const char *name, int64_t dim) {
  return operation(name, {"x"}, {}, [dim](OperationCall &a) {
    Tensor x = a.tensor("x");
    if (!a.check(a.t.rank(x) > dim, "takes tensors of more dimensions"))
      return x;
    return a.t.make<ReverseOp>(x, ArrayRef<int64_t>{dim});
  });
}
static Tensor roll(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes shifts = a.integers("shift"), all(a.t.rank(x), 0);
  if (!a.given("axis")) {
    if (!a.check(shifts.size() == 1, "\"shift\" has no axes"))
      return x;
    Tensor flat = a.t.reshape(x, {elementCount(a.t.shape(x))});
    return a.t.reshape(a.t.make<RollOp>(flat, shifts), a.t.shape(x));
  }
  Sizes axes = a.integers("axis");
  if (shifts.size() == 1)
    shifts.resize(axes.size(), shifts[0]);
  if (!a.check(shifts.size() == axes.size() && a.t.rank(x) > 0,
               "\"shift\" and \"axis\" must be as many"))
    return x;
  for (auto [axis, shift] : llvm::zip_equal(axes, shifts)) {
    int64_t dim = a.checkedDim(axis, a.t.rank(x));
    all[dim] = (all[dim] + shift % a.t.size(x, dim)) % a.t.size(x, dim);
  }
  return a.t.make<RollOp>(x, all);
}

static Tensor repeat(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes times = a.integers("repeats");
  int64_t dim = 0;
  if (a.given("axis") && a.t.rank(x) > 0)
    dim = a.dim("axis", a.t.rank(x));
  else
    x = a.t.reshape(x, {elementCount(a.t.shape(x))});
  if (!a.check(times.size() == 1 && times[0] > 0,
               "\"repeats\" must be one positive integer, not " +
                   a.argument("repeats").written))
    return x;
  Sizes shape(a.t.shape(x));
  shape[dim] = saturatingMultiply(shape[dim], times[0]);
  return a.fits(shape) ? a.t.repeat(x, dim, times[0]) : x;
}
/// Repeats x along each dimension, as NumPy's tile.
static Tensor tile(OperationCall &a) {
  Tensor x = a.tensor("x");
  Sizes times = a.integers("repeats"), shape(a.t.shape(x));
  while (times.size() < shape.size())
    times.insert(times.begin(), 1);
  while (shape.size() < times.size())
    shape.insert(shape.begin(), 1);
  x = a.t.reshape(x, shape);
  Sizes wide, dims, joined;
  for (auto [size, count] : llvm::zip_equal(shape, times)) {
    if (!a.check(count > 0, "\"repeats\" must be positive"))
      return x;
    if (count > 1)
      wide.push_back(count);
    dims.push_back(int64_t(wide.size()));
    wide.push_back(size);
    joined.push_back(saturatingMultiply(size, count));
  }
  if (!a.fits(joined) || wide.size() == shape.size())
    return x;
  return a.t.reshape(a.t.make<BroadcastOp>(x, wide, dims), joined);
}

/// Reads the numbers of elements to add before and after each dimension; a
/// single pair is for all dimensions.
static bool padding(OperationCall &a, Tensor x, Sizes &low, Sizes &high) {
  const Argument &width = a.argument("pad_width");
  using Kind = Argument::Kind;
  std::vector<Argument> items(width.items);
  if (width.kind == Kind::Integer)
    items = {width};
  bool isPair = items.size() == 2 && items[0].kind == Kind::Integer;
  for (int64_t i = 0; i < a.t.rank(x); ++i) {
    size_t at = items.size() == 1 || isPair ? 0 : size_t(i);
    Argument entry = isPair              ? width
                     : at < items.size() ? items[at]
                                         : Argument();
    std::vector<Argument> two = entry.items;
    if (entry.kind == Kind::Integer)
      two = {entry, entry};
    if (two.size() == 1)
      two.push_back(two[0]);
    bool isGood = two.size() == 2;
    for (const Argument &side : two)
      isGood &= side.kind == Kind::Integer && side.integer >= 0;
    if (!a.check(isGood, "\"pad_width\" " + width.written +
                             " is no list of pairs for " +
                             shapeText(a.t.shape(x))))
      return false;
    low.push_back(two[0].integer);
    high.push_back(two[1].integer);
  }
  return a.check(items.size() == 1 || isPair ||
                     int64_t(items.size()) == a.t.rank(x),
                 "\"pad_width\" must have a pair for each dimension of " +
                     shapeText(a.t.shape(x)));
}
/// Mirrors the elements next to an edge; `skipped` is 1 if the edge itself is
/// not repeated.
static Tensor mirrored(Tensors &t, Tensor x, int64_t dim, int64_t low,
                       int64_t high, int64_t skipped) {
  int64_t size = t.size(x, dim), dims[] = {dim};
  SmallVector<Tensor> parts;
  if (low)
    parts.push_back(
        t.make<ReverseOp>(t.slice(x, dim, skipped, skipped + low), dims));
  parts.push_back(x);
  if (high)
    parts.push_back(t.make<ReverseOp>(
        t.slice(x, dim, size - skipped - high, size - skipped), dims));
  return t.concatenate(parts, dim);
}
/// Repeats the edge elements.
static Tensor edged(Tensors &t, Tensor x, int64_t dim, int64_t low,
                    int64_t high) {
  int64_t size = t.size(x, dim);
  SmallVector<Tensor> parts;
  if (low)
    parts.push_back(t.repeat(t.slice(x, dim, 0, 1), dim, low));
  parts.push_back(x);
  if (high)
    parts.push_back(t.repeat(t.slice(x, dim, size - 1, size), dim, high));
  return t.concatenate(parts, dim);
}
static Tensor pad(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x");
  Sizes low, high, shape(t.shape(x));
  std::string mode = a.text("mode", "constant");
  if (!padding(a, x, low, high))
    return x;
  for (auto [size, before, after] : llvm::zip_equal(shape, low, high))
    size = saturatingAdd(size, saturatingAdd(before, after));
  if (!a.fits(shape))
    return x;
  if (mode == "constant") {
    auto type = RankedTensorType::get({}, elementOf(x));
    return t.make<PadOp>(x, low, high, Sizes(shape.size(), 0),
                         t.splat(a.number("constant_values"), type));
  }
  int64_t skipped = mode == "reflect";
  if (!a.check(skipped || mode == "symmetric" || mode == "edge",
               "\"mode\" is \"" + mode +
                   "\"; use constant, reflect, symmetric or edge"))
    return x;
  for (int64_t dim = 0; dim < t.rank(x); ++dim) {
    if (low[dim] + high[dim] == 0)
      continue;
    if (mode == "edge") {
      x = edged(t, x, dim, low[dim], high[dim]);
      continue;
    }
    if (!a.check(std::max(low[dim], high[dim]) + skipped <= t.size(x, dim),
                 "\"pad_width\" " + a.argument("pad_width").written +
                     " is wider than " + shapeText(t.shape(x))))
      return x;
    x = mirrored(t, x, dim, low[dim], high[dim], skipped);
  }
  return x;
}

std::vector<OperationRow> weft::keras::shapeOperations() {
  return {operation("BroadcastTo", {"x"}, {{"shape"}}, broadcastTo),
          operation("ExpandDims", {"x"}, {{"axis"}}, expandDims),
          operation("Flip", {"x"}, {{"axis"}}, flip),
          flipOf("Fliplr", 1),
          flipOf("Flipud", 0),
          operation("Moveaxis", {"x"}, {{"source"}, {"destination"}}, moveAxis),
          operation("Pad", {"x", "constant_values"},
                    {{"pad_width"}, {"mode", "\"constant\""}}, pad),
          operation("Ravel", {"x"}, {}, ravel),
          operation("Repeat", {"x"}, {{"repeats"}, {"axis"}}, repeat),
          operation("Reshape", {"x"}, {{"newshape"}}, reshape),
          operation("Roll", {"x"}, {{"shift"}, {"axis"}}, roll),
          operation("Squeeze", {"x"}, {{"axis"}}, squeeze),
          operation("Swapaxes", {"x"}, {{"axis1"}, {"axis2"}}, swapAxes),
          operation("Tile", {"x"}, {{"repeats"}}, tile),
          operation("Transpose", {"x"}, {{"axes"}}, transpose)};
}
