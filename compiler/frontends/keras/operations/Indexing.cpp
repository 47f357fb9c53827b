//===- Indexing.cpp - parts of tensors, by numbers and by indices ---------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Kind = Argument::Kind;
using Sizes = SmallVector<int64_t>;

namespace {
/// Applies x[key], entry by entry.
class ItemReader {
public:
  ItemReader(OperationCall &a [[clang::lifetimebound]], Tensor x)
      : a(a), t(a.t), x(x) {}
  Tensor read(std::vector<Argument> keys);

private:
  void takePosition(int64_t index);
  void takeRange(const Argument &slice);
  bool bound(const Argument &argument, int64_t &out);

  OperationCall &a;
  Tensors &t;
  Tensor x;
  int64_t dim = 0; ///< the next dimension of x
  Sizes shape;     ///< the shape of the result so far
};
} // namespace

void ItemReader::takePosition(int64_t index) {
  int64_t size = t.size(x, dim);
  if (!a.check(index >= -size && index < size,
               "index " + std::to_string(index) + " lies outside of axis " +
                   std::to_string(dim) + " of " + shapeText(t.shape(x))))
    return;
  index = index < 0 ? index + size : index;
  x = t.slice(x, dim++, index, index + 1);
}

bool ItemReader::bound(const Argument &argument, int64_t &out) {
  if (argument.kind == Kind::Integer)
    out = argument.integer;
  return a.check(!argument.isGiven() || argument.kind == Kind::Integer,
                 "slices by " + argument.written + "; use integers");
}

/// Applies a slice, clipped to the dimension like Python's slice.indices.
void ItemReader::takeRange(const Argument &slice) {
  int64_t size = t.size(x, dim), step = 1;
  if (!bound(slice.items[2], step) ||
      !a.check(step != 0 && std::abs(step) < int64_t(1) << 53,
               "slices by steps of " + slice.items[2].written))
    return;
  int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  int64_t begin = step > 0 ? 0 : most, end = step > 0 ? size : least;
  for (auto [argument, place] :
       {std::pair(&slice.items[0], &begin), std::pair(&slice.items[1], &end)}) {
    if (!bound(*argument, *place))
      return;
    if (!argument->isGiven())
      continue;
    if (*place < 0)
      *place = std::max(*place, -size - 1) + size;
    *place = std::min(std::max(*place, least), most);
  }
  int64_t count = step > 0 ? (end - begin + step - 1) / step
                           : (begin - end - step - 1) / -step;
  if (!a.check(count > 0, "slice " + slice.written + " of " +
                              shapeText(t.shape(x)) + " gives no elements"))
    return;
  int64_t last = begin + step * (count - 1);
  Sizes start(t.rank(x), 0), limit(t.shape(x)), stride(t.rank(x), 1);
  start[dim] = std::min(begin, last);
  limit[dim] = std::max(begin, last) + 1;
  stride[dim] = std::abs(step);
  if (count < size)
    x = t.make<SliceOp>(x, start, limit, stride);
  if (step < 0)
    x = t.make<ReverseOp>(x, ArrayRef<int64_t>{dim});
  shape.push_back(count);
  ++dim;
}

Tensor ItemReader::read(std::vector<Argument> keys) {
  int64_t taken = 0, dots = 0;
  for (const Argument &key : keys) {
    taken += key.kind == Kind::Integer || key.kind == Kind::Slice;
    dots += key.kind == Kind::Ellipsis;
  }
  if (!a.check(taken <= t.rank(x) && dots <= 1,
               "has too many indices for " + shapeText(t.shape(x))))
    return x;
  if (!dots) {
    keys.emplace_back();
    keys.back().kind = Kind::Ellipsis;
  }
  int64_t elided = t.rank(x) - taken;
  for (const Argument &key : keys) {
    if (key.kind == Kind::Integer)
      takePosition(key.integer);
    else if (key.kind == Kind::Slice)
      takeRange(key);
    else if (key.kind == Kind::Nothing)
      shape.push_back(1);
    else if (key.kind == Kind::Ellipsis)
      for (int64_t i = 0; i < elided; ++i)
        shape.push_back(t.size(x, dim++));
    else
      a.check(false, "is indexed with " + key.written +
                         "; use integers, slices, None and ..., or "
                         "keras.ops.take");
  }
  int64_t count = 1, wanted = 1;
  for (int64_t size : t.shape(x))
    count *= size;
  for (int64_t size : shape)
    wanted *= size;
  return count == wanted ? t.reshape(x, shape)
                         : x; // an error has been reported
}

/// Takes rows of dimension `dim` by indices, like jnp.take. Negative indices
/// count from the end; indices outside give NaN, or the least integer.
static Tensor taken(OperationCall &a, Tensor x, Tensor indices, int64_t dim) {
  Tensors &t = a.t;
  Sizes order = {dim}, rest, shape(t.shape(indices)), back;
  for (int64_t i = 0; i < t.rank(x); ++i)
    if (i != dim) {
      order.push_back(i);
      rest.push_back(t.size(x, i));
    }
  shape.append(rest);
  if (!a.fits(shape))
    return x;
  int64_t width = 1, rank = t.rank(indices);
  for (int64_t size : rest)
    width *= size;
  Tensor rows = t.reshape(t.transpose(x, order), {t.size(x, dim), width});
  Tensor found = t.reshape(t.take(rows, t.toInteger(indices)), shape);
  for (int64_t i = 0; i < dim; ++i)
    back.push_back(rank + i);
  for (int64_t i = 0; i < rank; ++i)
    back.push_back(i);
  for (int64_t i = rank + dim; i < int64_t(shape.size()); ++i)
    back.push_back(i);
  return t.transpose(found, back);
}
static Tensor take(OperationCall &a) {
  Tensor x = a.tensor("x"), indices = a.tensor("indices");
  if (!a.check(!isFloat(indices) && !isBool(indices),
               "takes by floats; \"indices\" must be integers"))
    return x;
  int64_t count = 1;
  for (int64_t size : a.t.shape(x))
    count *= size;
  if (!a.given("axis") || a.t.rank(x) == 0)
    return taken(a, a.t.reshape(x, {count}), indices, 0);
  return taken(a, x, indices, a.dim("axis", a.t.rank(x)));
}
static Tensor getItem(OperationCall &a) {
  Tensor x = a.tensor("x");
  const Argument &key = a.argument("key");
  return ItemReader(a, x).read(
      key.kind == Kind::List ? key.items : std::vector<Argument>{key});
}

/// The element that the index names, at each position of the other dimensions.
static Tensor takeAlongAxis(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x"), indices = a.t.toInteger(a.tensor("indices"));
  if (!a.given("axis")) {
    for (Tensor *each : {&x, &indices}) {
      int64_t count = 1;
      for (int64_t size : t.shape(*each))
        count *= size;
      *each = t.reshape(*each, {count});
    }
  }
  int64_t rank = t.rank(x), dim = a.given("axis") ? a.dim("axis", rank) : 0;
  bool fits = t.rank(indices) == rank && rank > 0;
  for (int64_t i = 0; fits && i < rank; ++i)
    fits = i == dim || t.size(x, i) == t.size(indices, i);
  if (!a.check(fits, "\"indices\" have the shape " +
                         shapeText(t.shape(indices)) + ", the tensor " +
                         shapeText(t.shape(x)) +
                         "; they may differ along the axis only"))
    return x;
  double size = double(t.size(x, dim));
  Tensor isNegative = indices < 0;
  indices = select(isNegative, indices + size, indices);
  Tensor isInside = (indices >= 0) & (indices < size);
  Sizes batch, ones(rank, 1), column(t.shape(indices));
  for (int64_t i = 0; i < rank; ++i)
    if (i != dim)
      batch.push_back(i);
  column.push_back(1);
  int64_t at[] = {dim};
  auto type = tensorType(x).clone(t.shape(indices));
  Tensor found = t.make<GatherOp>(
      type, x, t.reshape(indices, column), ArrayRef<int64_t>(),
      ArrayRef<int64_t>(at), ArrayRef<int64_t>(batch), ArrayRef<int64_t>(batch),
      ArrayRef<int64_t>(at), uint64_t(rank), ArrayRef<int64_t>(ones));
  double absent = isFloat(x) ? std::numeric_limits<double>::quiet_NaN()
                             : double(std::numeric_limits<int32_t>::min());
  return select(isInside, found, absent);
}

static Tensor oneHot(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.t.toInteger(a.tensor("x"));
  int64_t classes = a.integer("num_classes");
  int64_t dim = a.dim("axis", t.rank(x) + 1);
  Sizes shape(t.shape(x));
  shape.insert(shape.begin() + dim, classes);
  if (!a.check(classes > 0, "\"num_classes\" must be positive") ||
      !a.fits(shape))
    return x;
  auto type = RankedTensorType::get(shape, t.builder.getF32Type());
  return a.cast(t.make<OneHotOp>(type, x, uint64_t(dim), Tensor()), "dtype");
}

/// The row of an op that keeps the elements of x for which `kind` holds between
/// column - row and k, and sets the others to 0.
static OperationRow triangle(const char *name, CompareKind kind) {
  return operation(name, {"x"}, {{"k", "0"}}, [kind](OperationCall &a) {
    Tensors &t = a.t;
    Tensor x = a.tensor("x");
    if (!a.check(t.rank(x) >= 2, "takes tensors of two dimensions or more"))
      return x;
    auto type =
        RankedTensorType::get(t.shape(x).take_back(2), t.builder.getI32Type());
    auto count = [&](int64_t dim) {
      return t.make<IotaOp>(type, t.builder.getI64IntegerAttr(dim), Tensor());
    };
    double most = double(std::numeric_limits<int32_t>::max() / 2);
    double k = std::clamp(double(a.integer("k")), -most, most);
    Tensor inside = (count(1) - count(0)).compare(kind, k);
    return select(t.stretch(inside, t.shape(x)), x, 0);
  });
}

static Tensor slice(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("inputs");
  Sizes starts = a.integers("start_indices"), sizes = a.integers("shape");
  bool isGood =
      int64_t(starts.size()) == t.rank(x) && int64_t(sizes.size()) == t.rank(x);
  Sizes limits;
  for (int64_t i = 0; isGood && i < t.rank(x); ++i) {
    int64_t size = t.size(x, i);
    isGood = sizes[i] > 0 && sizes[i] <= size && starts[i] > -size;
    if (isGood && starts[i] < 0)
      starts[i] += size;
    starts[i] = std::min(starts[i], size - sizes[i]);
    limits.push_back(starts[i] + sizes[i]);
  }
  if (!a.check(isGood, "cannot take " + a.argument("shape").written + " at " +
                           a.argument("start_indices").written + " of " +
                           shapeText(t.shape(x))))
    return x;
  return t.make<SliceOp>(x, starts, limits, Sizes(t.rank(x), 1));
}

std::vector<OperationRow> weft::keras::indexingOperations() {
  return {
      operation("GetItem", {"x", "key"}, {}, getItem),
      operation("OneHot", {"x"},
                {{"num_classes"},
                 {"axis", "-1"},
                 {"dtype"},
                 {"sparse", "false", "sparse tensors"}},
                oneHot),
      operation("Slice", {"inputs", "start_indices"}, {{"shape"}}, slice),
      operation("Take", {"x", "indices"}, {{"axis"}}, take),
      operation("TakeAlongAxis", {"x", "indices"}, {{"axis"}}, takeAlongAxis),
      triangle("Tril", CompareKind::LE),
      triangle("Triu", CompareKind::GE)};
}
