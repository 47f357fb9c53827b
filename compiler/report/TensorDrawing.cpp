//===- TensorDrawing.cpp - one tensor with its shards ---------------------===//
//
// A drawing has a block for each shard of two dimensions, and sheets at the
// back for copies; 784x200 over model=4 of a 2x4 mesh has four blocks from left
// to right. A dimension with more than 32 shards is one hatched block. Each
// block has the ids of its devices. The padding of an uneven last shard is
// drawn dashed, and so are shards without an element.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/report/Html.h"

#include "weft/base/Text.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::html;

static constexpr double kWidth = 200, kHeight = 120, kLeast = 34;
static constexpr int64_t kMostShards = 32;

bool html::devicesCanBePicked(const Mesh &mesh) {
  return mesh.size() > 1 && mesh.size() <= 64;
}

/// The number of devices with each shard.
static int64_t copiesOf(const Mesh &mesh, const Layout &layout) {
  int64_t shards = shardCount(layout.partial);
  for (const SubAxes &dim : layout.dims)
    shards *= shardCount(dim);
  return mesh.size() / std::max<int64_t>(shards, 1);
}

namespace {

/// A dimension of the drawing.
struct Side {
  int64_t dim = -1; ///< -1 for none
  int64_t size = 1, shards = 1;
  double length = 0;
  bool isCollapsed() const { return shards > kMostShards; }
  int64_t blocks() const { return isCollapsed() ? 1 : shards; }
  int64_t held() const {
    return isCollapsed() ? size : shardSize(size, shards);
  }
  /// The coordinate of an element; a block's range includes its padding.
  double at(int64_t element) const {
    return length * element / std::max<int64_t>(blocks() * held(), 1);
  }
  Interval valid(int64_t block) const {
    return isCollapsed() ? Interval{0, size}
                         : shardInterval(size, shards, block);
  }
};

class TensorDrawing {
public:
  TensorDrawing(const Mesh &mesh [[clang::lifetimebound]],
                const TensorLayout &tensor [[clang::lifetimebound]])
      : mesh(mesh), tensor(tensor), copies(copiesOf(mesh, tensor.layout)) {
    chooseSides();
    chooseLengths();
    placeDevices();
  }
  std::string draw() const;

private:
  void chooseSides();
  void chooseLengths();
  void placeDevices();
  int64_t shardAt(const Side &side, int64_t position) const {
    return side.dim < 0 || side.isCollapsed()
               ? 0
               : coordinate(mesh, position, tensor.layout.dims[side.dim]);
  }
  Side sideOf(int64_t dim) const {
    return {dim, tensor.shape[dim], shardCount(tensor.layout.dims[dim])};
  }
  std::string block(int64_t row, int64_t column) const;
  std::string label(double x, double y, double w, double h,
                    llvm::ArrayRef<int64_t> ids) const;
  std::string sheets() const;
  std::string edges() const;

  const Mesh &mesh;
  const TensorLayout &tensor;
  int64_t copies;
  Side rows, columns;
  std::map<std::pair<int64_t, int64_t>, llvm::SmallVector<int64_t>> devices;
  /// Room for the sheets of copies and for the sizes.
  static constexpr double left = 34, top = 12;
};

} // namespace

/// Chooses two dimensions: those that are split, then the largest.
void TensorDrawing::chooseSides() {
  int64_t rank = tensor.shape.size();
  llvm::SmallVector<int64_t> order;
  for (int64_t d = 0; d < rank; ++d)
    order.push_back(d);
  auto shards = [&](int64_t d) { return shardCount(tensor.layout.dims[d]); };
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    if ((shards(a) > 1) != (shards(b) > 1))
      return shards(a) > 1;
    return shards(a) == 1 && tensor.shape[a] > tensor.shape[b];
  });
  order.resize(std::min<size_t>(order.size(), 2));
  std::sort(order.begin(), order.end());
  if (!order.empty())
    columns = sideOf(order.back());
  if (order.size() == 2)
    rows = sideOf(order.front());
}

void TensorDrawing::chooseLengths() {
  double ratio = rows.dim < 0 ? kWidth / kLeast
                              : static_cast<double>(columns.size) /
                                    std::max<int64_t>(rows.size, 1);
  double least = std::min(kHeight, std::max(kLeast, 16.0 * rows.blocks()));
  columns.length = ratio >= 1 ? kWidth : std::max(110.0, kWidth * ratio);
  rows.length =
      std::clamp(columns.length / std::max(ratio, 0.01), least, kHeight);
  if (rows.dim < 0)
    rows.length = kLeast;
}

void TensorDrawing::placeDevices() {
  for (int64_t p = 0; p < mesh.size(); ++p)
    devices[{shardAt(rows, p), shardAt(columns, p)}].push_back(
        deviceAt(mesh, p));
  for (auto &[place, ids] : devices)
    llvm::sort(ids);
}

static std::string rect(double x, double y, double w, double h,
                        const std::string &attributes) {
  return "<rect x=\"" + px(x) + "\" y=\"" + px(y) + "\" width=\"" + px(w) +
         "\" height=\"" + px(h) + "\" " + attributes + "/>";
}

/// The text of a block: the device ids if they fit, else their number, else
/// nothing.
std::string TensorDrawing::label(double x, double y, double w, double h,
                                 llvm::ArrayRef<int64_t> ids) const {
  std::string text = deviceList(ids);
  if (text.size() * 6.6 > w - 4)
    text = grouped(ids.size()) + (ids.size() == 1 ? " device" : " devices");
  if (text.size() * 6.6 > w - 4 || h < 12)
    return "";
  return "<text x=\"" + px(x + w / 2) + "\" y=\"" + px(y + h / 2 + 4) +
         "\" class=\"id\">" + text + "</text>";
}

/// The text "dimension 0: 0 to 784, dimension 1: 0 to 50".
static std::string rangeText(const Side &rows, const Side &columns, int64_t row,
                             int64_t column) {
  std::string text;
  for (auto [side, index] :
       {std::pair(&rows, row), std::pair(&columns, column)})
    if (side->dim >= 0) {
      Interval range = side->valid(index);
      text += (text.empty() ? "" : ", ") + std::string("dimension ") +
              std::to_string(side->dim) + ": " + grouped(range.begin) + " to " +
              grouped(range.end);
    }
  return text;
}

std::string TensorDrawing::block(int64_t row, int64_t column) const {
  Interval down = rows.valid(row), right = columns.valid(column);
  double x = left + columns.at(column * columns.held());
  double y = top + rows.at(row * rows.held());
  double fullW = columns.at(columns.held()), fullH = rows.at(rows.held());
  double w = columns.at(right.size()), h = rows.at(down.size());
  bool isEmpty = right.size() == 0 || down.size() == 0;
  bool isPadded = w < fullW - 0.1 || h < fullH - 0.1;
  auto found = devices.find({row, column});
  llvm::ArrayRef<int64_t> ids;
  if (found != devices.end())
    ids = found->second;
  std::string title =
      isEmpty ? "nothing, on " : rangeText(rows, columns, row, column);
  if (!isEmpty)
    title += title.empty() ? "on " : ", on ";
  title += (ids.size() == 1 ? "device " : "devices ") +
           shortened(deviceList(ids), 120);
  std::string text = "<g class=\"b\"";
  if (devicesCanBePicked(mesh)) {
    text += " data-d=\"";
    for (int64_t id : ids)
      text += (id == ids.front() ? "" : " ") + std::to_string(id);
    text += "\"";
  }
  text += "><title>" + title + "</title>";
  if (isPadded || isEmpty)
    text += rect(x, y, fullW, fullH, "class=\"pad\"");
  if (isEmpty)
    return text + label(x, y, fullW, fullH, ids) + "</g>";
  bool isFull = rows.blocks() * columns.blocks() == 1 && !rows.isCollapsed() &&
                !columns.isCollapsed();
  text += rect(x, y, w, h, isFull ? "class=\"shard full\"" : "class=\"shard\"");
  if (rows.isCollapsed())
    text += rect(x, y, w, h, "fill=\"url(#rows)\"");
  if (columns.isCollapsed())
    text += rect(x, y, w, h, "fill=\"url(#columns)\"");
  if (tensor.layout.isPartial())
    text += rect(x, y, w, h, "fill=\"url(#partial)\"");
  return text + label(x, y, w, h, ids) + "</g>";
}

/// Draws sheets behind the tensor for its copies, at most three.
std::string TensorDrawing::sheets() const {
  std::string text;
  for (int64_t i = std::min<int64_t>(copies - 1, 3); i > 0; --i)
    text += rect(left + 3.0 * i, top - 3.0 * i, columns.length, rows.length,
                 "class=\"sheet\"");
  return text;
}

/// Draws the sizes along the sides.
std::string TensorDrawing::edges() const {
  std::string text;
  if (columns.dim >= 0)
    text += "<text class=\"edge\" x=\"" + px(left + columns.length / 2) +
            "\" y=\"" + px(top + rows.length + 12) + "\">" +
            grouped(columns.size) + "</text>";
  if (rows.dim >= 0)
    text += "<text class=\"edge end\" x=\"" + px(left - 5) + "\" y=\"" +
            px(top + rows.length / 2 + 4) + "\">" + grouped(rows.size) +
            "</text>";
  return text;
}

std::string TensorDrawing::draw() const {
  double width = left + kWidth + 12, height = top + rows.length + 16;
  std::string text = "<svg class=\"tensor\" width=\"" + px(width) +
                     "\" height=\"" + px(height) + "\" viewBox=\"0 0 " +
                     px(width) + " " + px(height) +
                     "\" role=\"img\" aria-label=\"" +
                     escaped(tensor.name + ": " + layoutWords(mesh, tensor)) +
                     "\">" + sheets();
  for (int64_t r = 0; r < rows.blocks(); ++r)
    for (int64_t c = 0; c < columns.blocks(); ++c)
      text += block(r, c);
  return text + edges() + "</svg>";
}

std::string html::drawTensor(const Mesh &mesh, const TensorLayout &tensor) {
  return TensorDrawing(mesh, tensor).draw();
}

//===----------------------------------------------------------------------===//
// In words
//===----------------------------------------------------------------------===//

static std::string axesText(const Mesh &mesh, llvm::ArrayRef<SubAxis> axes) {
  std::string text;
  for (const SubAxis &axis : axes)
    text += (text.empty() ? "" : ", ") + mesh.axes[axis.axis].name;
  return text;
}

/// The text "; the last shard has 1 instead of 3" or "; 2 devices hold nothing:
/// 3,7"; empty if all shards are full.
static std::string unevenText(const Mesh &mesh, const TensorLayout &tensor) {
  if (isEven(tensor.layout, tensor.shape))
    return "";
  auto empty = emptyDevices(mesh, tensor.layout, tensor.shape);
  if (!empty.empty())
    return "; " + counted(empty.size(), "device") +
           (empty.size() == 1 ? " holds" : " hold") +
           " nothing: " + shortened(deviceList(empty), 60);
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t shards = shardCount(tensor.layout.dims[d]), n = tensor.shape[d];
    if (shards > 1 && n % shards != 0)
      return "; the last shard has " +
             grouped(shardInterval(n, shards, shards - 1).size()) +
             " instead of " + grouped(shardSize(n, shards));
  }
  return "";
}

std::string html::layoutWords(const Mesh &mesh, const TensorLayout &tensor) {
  const Layout &layout = tensor.layout;
  int64_t copies = copiesOf(mesh, layout);
  std::string text;
  for (size_t d = 0; d < layout.dims.size(); ++d)
    if (int64_t shards = shardCount(layout.dims[d]); shards > 1)
      text += (text.empty() ? "split: dimension " : ", dimension ") +
              std::to_string(d) + " in " + grouped(shards) + " over " +
              axesText(mesh, layout.dims[d]);
  if (layout.isPartial())
    text += (text.empty() ? "" : "; ") +
            std::string("each device holds a summand (") +
            std::string(stringifyReduceKind(layout.reduce)) + " over " +
            axesText(mesh, layout.partial) + ")";
  if (text.empty())
    return mesh.size() == 1
               ? "whole, on the only device"
               : "whole on each of the " + counted(mesh.size(), "device");
  text += unevenText(mesh, tensor);
  return text + (copies == 1
                     ? "; no copies"
                     : "; " + grouped(copies) + " copies of each shard");
}
