//===- Images.cpp - functions of images and of grids of positions ---------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/compiler/frontends/keras/tensors/Colors.h"
#include "weft/compiler/frontends/keras/tensors/Interpolation.h"
#include "weft/compiler/frontends/keras/tensors/Windows.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Sizes = SmallVector<int64_t>;

static bool isFirst(OperationCall &a) {
  return a.text("data_format", "channels_last") == "channels_first";
}

/// Broadcasts each of several vectors along a dimension of its own, to one
/// shape.
static SmallVector<Tensor> meshgrid(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Tensor> parts;
  Sizes shape, dims;
  for (const char *name : {"x1", "x2", "x3", "x4"}) {
    if (!a.given(name))
      break;
    Tensor x = a.tensor(name);
    if (!a.check(t.rank(x) <= 1, "takes vectors, but is called with a tensor "
                                 "of shape " +
                                     shapeText(t.shape(x))))
      return {x};
    parts.push_back(t.rank(x) ? x : t.reshape(x, {1}));
    dims.push_back(int64_t(shape.size()));
    shape.push_back(t.size(parts.back(), 0));
  }
  if (!a.check(!parts.empty(), "takes a vector as its first argument"))
    return {a.tensor("x1")};
  if (a.text("indexing", "xy") == "xy" && parts.size() > 1) {
    std::swap(shape[0], shape[1]);
    std::swap(dims[0], dims[1]);
  }
  if (!a.fits(shape))
    return parts;
  for (auto [part, dim] : llvm::zip_equal(parts, dims))
    part = t.make<BroadcastOp>(part, shape, ArrayRef<int64_t>{dim});
  return parts;
}

/// The largest size of a tensor's dimension.
static constexpr int64_t kMost = int64_t(1) << 40;

/// Moves the diagonal elements x[.., i, i + offset, ..] of two dimensions to
/// the last dimension.
static Tensor diagonal(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.tensor("x");
  if (!a.check(t.rank(x) > 1, "takes tensors of two dimensions or more"))
    return x;
  int64_t first = a.checkedDim(a.integer("axis1"), t.rank(x)),
          second = a.checkedDim(a.integer("axis2", 1), t.rank(x)),
          offset = std::clamp<int64_t>(a.integer("offset"), -kMost, kMost);
  int64_t row = std::max<int64_t>(-offset, 0),
          column = std::max<int64_t>(offset, 0);
  int64_t count = std::min(t.size(x, first) - row, t.size(x, second) - column);
  if (!a.check(first != second && count > 0,
               "has no diagonal at \"offset\" " + std::to_string(offset) +
                   " along axes " + std::to_string(first) + " and " +
                   std::to_string(second) + " of shape " +
                   shapeText(t.shape(x))))
    return x;
  Sizes order;
  for (int64_t dim = 0; dim < t.rank(x); ++dim)
    if (dim != first && dim != second)
      order.push_back(dim);
  order.append({first, second});
  x = t.transpose(x, order);
  int64_t last = t.last(x);
  x = t.slice(t.slice(x, last - 1, row, row + count), last, column,
              column + count);
  auto numbers = tensorType(x).clone(t.builder.getI32Type());
  auto along = [&](int64_t dim) {
    return t.make<IotaOp>(numbers, t.builder.getI64IntegerAttr(dim), Tensor());
  };
  Tensor isOn = along(last - 1) == along(last);
  return t.make<ReduceOp>(ReduceKind::Sum, select(isOn, x, 0),
                          ArrayRef<int64_t>{last - 1});
}
static Tensor trace(OperationCall &a) {
  Tensor x = diagonal(a);
  return a.t.reduce(ReduceKind::Sum, x, {a.t.last(x)});
}

/// The row of an op for images of rank 4, in either data format. With `inward`
/// it moves square blocks of positions to features, else features to blocks.
static OperationRow squares(const char *name, bool inward) {
  return operation(
      name, {"x"}, {{"block_size"}, {"data_format", "\"channels_last\""}},
      [inward](OperationCall &a) {
        Tensors &t = a.t;
        Tensor x = a.tensor("x");
        int64_t block = a.integer("block_size", 1);
        bool first = isFirst(a);
        bool isGood = t.rank(x) == 4 && block > 0 && block < 1 << 15;
        int64_t c = isGood ? t.size(x, first ? 1 : 3) : 1;
        int64_t h = isGood ? t.size(x, first ? 2 : 1) : 1,
                w = isGood ? t.size(x, first ? 3 : 2) : 1;
        isGood = isGood && (inward ? h % block == 0 && w % block == 0
                                   : c % (block * block) == 0);
        if (!a.check(isGood, "\"block_size\" " + std::to_string(block) +
                                 " does not divide images of shape " +
                                 shapeText(t.shape(x))))
          return x;
        int64_t n = t.size(x, 0), b = block;
        if (inward && first) {
          x = t.reshape(x, {n, c, h / b, b, w / b, b});
          x = t.transpose(x, {0, 1, 3, 5, 2, 4});
          return t.reshape(x, {n, c * b * b, h / b, w / b});
        }
        if (inward) {
          x = t.reshape(x, {n, h / b, b, w / b, b, c});
          x = t.transpose(x, {0, 1, 3, 2, 4, 5});
          return t.reshape(x, {n, h / b, w / b, c * b * b});
        }
        int64_t rest = c / (b * b);
        if (first) {
          x = t.reshape(x, {n, rest, b, b, h, w});
          x = t.transpose(x, {0, 1, 4, 2, 5, 3});
          return t.reshape(x, {n, rest, h * b, w * b});
        }
        x = t.reshape(x, {n, h, w, b, b, rest});
        x = t.transpose(x, {0, 1, 3, 2, 4, 5});
        return t.reshape(x, {n, h * b, w * b, rest});
      });
}

/// An option with a number for each spatial dimension; empty if it does not
/// fit.
static std::vector<int64_t> spatial(OperationCall &a, const char *name,
                                    int64_t rank) {
  Sizes given = a.integers(name);
  if (given.size() == 1)
    given.assign(size_t(rank), given[0]);
  bool isGood = int64_t(given.size()) == rank;
  for (int64_t size : given)
    isGood &= size > 0 && size < int64_t(1) << 31;
  a.check(isGood, "\"" + std::string(name) +
                      "\" must be a positive integer, or "
                      "one for each of " +
                      std::to_string(rank) + " dimensions");
  return isGood ? std::vector<int64_t>(given.begin(), given.end())
                : std::vector<int64_t>();
}
static OperationRow pooling(const char *name, bool isMax) {
  return operation(
      name, {"inputs"},
      {{"pool_size"}, {"strides"}, {"padding", "\"valid\""}, {"data_format"}},
      [isMax](OperationCall &a) {
        Tensors &t = a.t;
        Tensor x = a.floats("inputs");
        int64_t rank = t.rank(x) - 2;
        std::string padding = a.text("padding", "valid");
        if (!a.check(rank > 0 && rank < 4 &&
                         (padding == "valid" || padding == "same"),
                     "takes images of 1 to 3 dimensions, with \"padding\" "
                     "\"valid\" or \"same\""))
          return x;
        bool first = isFirst(a);
        std::vector<int64_t> size = spatial(a, "pool_size", rank);
        std::vector<int64_t> strides =
            a.given("strides") ? spatial(a, "strides", rank) : size;
        if (size.empty() || strides.empty())
          return x;
        SpatialWindow window =
            paddedWindow(x, first, size, strides,
                         std::vector<int64_t>(size_t(rank), 1), padding);
        for (int64_t left : window.over(spatialSizes(x, first)))
          if (!a.check(left > 0, "its windows do not fit in images of shape " +
                                     shapeText(t.shape(x))))
            return x;
        if (isMax)
          return pool(t, ReduceKind::Max, x, window, first);
        Tensor total = pool(t, ReduceKind::Sum, x, window, first);
        if (padding == "same")
          return total / countsOf(t, x, total, window, first);
        double count = 1;
        for (int64_t each : size)
          count *= double(each);
        return total / count;
      });
}

static Tensor resize(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("images");
  std::vector<int64_t> size = spatial(a, "size", 2);
  std::string how = a.text("interpolation", "bilinear");
  bool isKnown = false;
  for (const char *each : interpolations())
    isKnown |= how == each;
  if (!a.check(isKnown, "\"interpolation\" \"" + how + "\" is not known") ||
      !a.check(t.rank(x) == 3 || t.rank(x) == 4,
               "takes images of rank 3 or 4") ||
      size.empty())
    return x;
  int64_t height = t.rank(x) - (isFirst(a) ? 2 : 3);
  for (int64_t i = 0; i < 2; ++i) {
    Sizes shape(t.shape(x));
    shape[height + i] = size[i];
    std::string complaint =
        resizeComplaint(t.size(x, height + i), shape[height + i]);
    if (!a.fits(shape) || !a.check(complaint.empty(), complaint))
      return x;
    x = castTo(
        t,
        resized(t, t.toFloat(x), height + i, size[i], how, a.flag("antialias")),
        elementOf(x));
  }
  return x;
}

static Tensor grayscale(OperationCall &a) {
  Tensors &t = a.t;
  Tensor x = a.floats("images");
  bool isImage = t.rank(x) == 3 || t.rank(x) == 4;
  int64_t dim = isImage ? t.rank(x) - (isFirst(a) ? 3 : 1) : 0;
  if (!a.check(isImage && (t.size(x, dim) == 3 || t.size(x, dim) == 1),
               "takes images of 1 or 3 colours, not of shape " +
                   shapeText(t.shape(x))))
    return x;
  if (t.size(x, dim) == 1)
    return x;
  return grayOf(t, x, dim);
}

std::vector<OperationRow> weft::keras::imageOperations() {
  return {pooling("AveragePool", false),
          squares("DepthToSpace", false),
          operation("Diagonal", {"x"},
                    {{"offset", "0"}, {"axis1", "0"}, {"axis2", "1"}},
                    diagonal),
          pooling("MaxPool", true),
          {"Meshgrid",
           {"x1", "x2", "x3", "x4"},
           {{"indexing", "\"xy\""}},
           meshgrid},
          operation("RGBToGrayscale", {"images"}, {{"data_format"}}, grayscale),
          operation("Resize", {"images"},
                    {{"size"},
                     {"interpolation", "\"bilinear\""},
                     {"antialias", "false"},
                     {"crop_to_aspect_ratio", "false", "images that are cut"},
                     {"pad_to_aspect_ratio", "false", "images that are padded"},
                     {"fill_mode", "\"constant\"", "other borders"},
                     {"fill_value", "0.0", "borders"},
                     {"data_format"}},
                    resize),
          squares("SpaceToDepth", true),
          operation("Trace", {"x"},
                    {{"offset", "0"}, {"axis1", "0"}, {"axis2", "1"}}, trace)};
}
