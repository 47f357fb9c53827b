//===- DrawShards.cpp - the shards of a tensor as labelled boxes ----------===//

#include "weft/tools/weft/compiler/DrawShards.h"

#include "weft/compiler/explain/TensorLayouts.h"

#include <algorithm>

using namespace weft;

namespace {

/// A drawn dimension: its non-empty shards in order, and their extents in
/// characters.
struct Side {
  int64_t dim = -1; ///< -1: nothing is split along this side
  llvm::SmallVector<Interval> shards;
  llvm::SmallVector<unsigned> extents;
};

/// A side of about `length` characters: full shards have one size, the last in
/// proportion, and the smallest has room for `least`.
Side makeSide(const Layout &layout, llvm::ArrayRef<int64_t> shape, int64_t dim,
              unsigned length, unsigned least) {
  Side side;
  side.dim = dim;
  int64_t n = dim < 0 ? 1 : shape[dim];
  int64_t count = dim < 0 ? 1 : shardCount(layout.dims[dim]);
  int64_t smallest = n;
  for (int64_t i = 0; i < count; ++i) {
    Interval shard = shardInterval(n, count, i);
    if (shard.size() == 0)
      continue;
    side.shards.push_back(shard);
    smallest = std::min(smallest, shard.size());
  }
  if (n == 0)
    return side;
  int64_t full = shardSize(n, count);
  int64_t extent =
      std::max<int64_t>({1, (length * full + n / 2) / n,
                         (least * full + smallest - 1) / smallest});
  for (const Interval &shard : side.shards)
    side.extents.push_back(static_cast<unsigned>(
        std::max<int64_t>(1, (extent * shard.size() + full / 2) / full)));
  return side;
}

class Drawing {
public:
  Drawing(const Mesh &mesh [[clang::lifetimebound]],
          const Layout &layout [[clang::lifetimebound]],
          llvm::ArrayRef<int64_t> shape)
      : mesh(mesh), layout(layout), shape(shape) {
    llvm::SmallVector<int64_t> split;
    for (size_t d = 0; d < layout.dims.size(); ++d)
      if (shardCount(layout.dims[d]) > 1)
        split.push_back(static_cast<int64_t>(d));
    // A single split dimension is drawn across, unless it is the first of
    // several.
    bool across = split.size() == 1 && (split[0] > 0 || shape.size() == 1);
    int64_t down = split.empty() || across ? -1 : split[0];
    int64_t right = across ? split[0] : split.size() > 1 ? split[1] : -1;
    for (size_t i = 2; i < split.size(); ++i)
      hidden.push_back(split[i]);
    rows = makeSide(layout, shape, down, down < 0 ? 1 : 8, 1);
    unsigned least = 1;
    for (int64_t p = 0; p < mesh.size(); ++p)
      least =
          std::max<unsigned>(least, label(own(mesh, layout, shape, p)).size());
    columns = makeSide(layout, shape, right, 40, least + 2);
  }

  unsigned width() const {
    unsigned sum = 1;
    for (unsigned extent : columns.extents)
      sum += extent + 1;
    return sum;
  }

  std::string draw() const {
    std::string text = rule("┌", "┬", "┐");
    for (size_t r = 0; r < rows.shards.size(); ++r) {
      if (r)
        text += rule("├", "┼", "┤");
      for (unsigned line = 0; line < rows.extents[r]; ++line)
        text += contentLine(r, line == (rows.extents[r] - 1) / 2);
    }
    text += rule("└", "┴", "┘");
    for (int64_t dim : hidden)
      text += "dimension " + std::to_string(dim) + " is split " +
              std::to_string(shardCount(layout.dims[dim])) +
              " ways as well (not drawn)\n";
    return text;
  }

private:
  std::string label(llvm::ArrayRef<Interval> box) const {
    llvm::SmallVector<int64_t> ids;
    for (int64_t p = 0; p < mesh.size(); ++p) {
      Box held = own(mesh, layout, shape, p);
      bool same = holds(mesh, layout, p);
      for (int64_t dim : {rows.dim, columns.dim})
        same &= dim < 0 || held[dim] == box[dim];
      if (same && volume(held) > 0)
        ids.push_back(deviceAt(mesh, p));
    }
    std::sort(ids.begin(), ids.end());
    return deviceList(ids);
  }

  std::string rule(const char *left, const char *middle,
                   const char *right) const {
    std::string text = left;
    for (size_t c = 0; c < columns.extents.size(); ++c) {
      if (c)
        text += middle;
      for (unsigned i = 0; i < columns.extents[c]; ++i)
        text += "─";
    }
    return text + right + "\n";
  }

  std::string contentLine(size_t row, bool labelled) const {
    std::string text;
    for (size_t c = 0; c < columns.shards.size(); ++c) {
      text += "│";
      Box box;
      for (int64_t n : shape)
        box.push_back({0, n});
      if (rows.dim >= 0)
        box[rows.dim] = rows.shards[row];
      if (columns.dim >= 0)
        box[columns.dim] = columns.shards[c];
      std::string name = labelled ? label(box) : "";
      unsigned space = columns.extents[c] -
                       std::min<unsigned>(columns.extents[c], name.size());
      text += std::string(space / 2, ' ') + name +
              std::string(space - space / 2, ' ');
    }
    return text + "│\n";
  }

  const Mesh &mesh;
  const Layout &layout;
  llvm::ArrayRef<int64_t> shape;
  Side rows, columns;
  llvm::SmallVector<int64_t> hidden;
};

} // namespace

/// Lists the first 16 blocks as lines such as "  [0:4, 0:784] on 0-3".
static std::string listBlocks(const std::vector<HeldBlock> &blocks) {
  constexpr size_t most = 16;
  std::string text;
  for (const HeldBlock &block : llvm::ArrayRef(blocks).take_front(most)) {
    std::string ranges;
    for (const Interval &side : block.box)
      ranges += (ranges.empty() ? "" : ", ") + std::to_string(side.begin) +
                ":" + std::to_string(side.end);
    text += "  [" + ranges + "] on " + deviceList(block.devices) + "\n";
  }
  if (blocks.size() > most)
    text += "  and " + std::to_string(blocks.size() - most) + " blocks more\n";
  return text;
}

static std::string emptyText(llvm::ArrayRef<int64_t> empty) {
  if (empty.empty())
    return "";
  return (empty.size() == 1 ? "device " : "devices ") + deviceList(empty) +
         (empty.size() == 1 ? " holds nothing\n" : " hold nothing\n");
}

std::string weft::drawShards(const Mesh &mesh, const Layout &layout,
                             llvm::ArrayRef<int64_t> shape, unsigned width) {
  std::vector<HeldBlock> blocks = heldBlocks(mesh, layout, shape);
  std::string below = emptyText(emptyDevices(mesh, layout, shape));
  if (blocks.empty())
    return below;
  if (mesh.size() > 256)
    return listBlocks(blocks) + below;
  Drawing drawing(mesh, layout, shape);
  return (drawing.width() > width ? listBlocks(blocks) : drawing.draw()) +
         below;
}
