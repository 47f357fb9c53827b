//===- CollectiveGraph.h - layouts joined by collectives --------*- C++ -*-===//
//
// CollectiveGraph computes the optimum that plans are compared with. It uses
// only the definitions of the collectives, nothing of the planner. A node is a
// layout, given by the cells of all buffers; a cell is an element and the set
// of summands that it contains. For 4 elements on x=2, summed over x:
//
//   [-]+sum(x)   device 0: 0{a} 1{a} 2{a} 3{a}     device 1: 0{b} 1{b} ...
//   [x]          device 0: 0{ab} 1{ab}             device 1: 2{ab} 3{ab}
//
// Two nodes are joined by an edge if one collective over some digits of the
// mesh computes every valid cell of the second node from the first, here a
// reduce_scatter. Its digits move from the end of one dimension's list of axes
// to the end of another's. A permute is any bijection of blocks.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_COLLECTIVEGRAPH_H
#define WEFT_TEST_UNIT_COLLECTIVEGRAPH_H

#include "weft/test/unit/EveryLayout.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>

namespace weft {

class CollectiveGraph {
public:
  static constexpr int64_t never = std::numeric_limits<int64_t>::max();
  using Shape = std::vector<int64_t>;
  struct Cell {
    int64_t element = -1; ///< -1: padding
    uint32_t summands = 0;
    auto operator<=>(const Cell &) const = default;
  };
  using Block = std::vector<Cell>;
  struct Node {
    Layout dims;        ///< without partial axes
    SubAxes left, made; ///< partial axes of the source, of the target
    Shape local;
    std::vector<Block> blocks; ///< one for each device
  };

  /// Builds the graph from a tensor that is partial over `summands` to layouts
  /// that are partial over some of `mayMake`. With `kindsDiffer` the two have
  /// different reductions, so no node is partial over both.
  CollectiveGraph(const Mesh &mesh [[clang::lifetimebound]],
                  llvm::ArrayRef<int64_t> shape,
                  llvm::ArrayRef<SubAxis> summands = {},
                  llvm::ArrayRef<SubAxis> mayMake = {},
                  bool kindsDiffer = false)
      : mesh(mesh), shape(shape.begin(), shape.end()),
        summands(summands.begin(), summands.end()) {
    digits = everyDigit(mesh, true);
    listDigits({});
    for (const Layout &dims : everyLayout(mesh, shape.size()))
      for (const SubAxes &left : subsets(summands))
        for (const SubAxes &made : subsets(mayMake))
          if (!kindsDiffer || left.empty() || made.empty())
            addNode(dims, left, made);
    edges.resize(nodes.size());
    for (size_t a = 0; a < nodes.size(); ++a)
      for (size_t b = 0; b < nodes.size(); ++b)
        if (a != b)
          if (int64_t elements = cheapest(nodes[a], nodes[b]);
              elements != never)
            edges[a].push_back({b, elements});
  }

  /// Distances from a node, by Dijkstra's algorithm: the number of elements
  /// that a device receives in the best chain to each node, and the node before
  /// it in the chain.
  struct Distances {
    std::vector<int64_t> elements;
    std::vector<size_t> before;
  };
  Distances distances(size_t from) const {
    Distances result{std::vector<int64_t>(nodes.size(), never),
                     std::vector<size_t>(nodes.size(), from)};
    std::vector<int64_t> &best = result.elements;
    std::priority_queue<std::pair<int64_t, size_t>,
                        std::vector<std::pair<int64_t, size_t>>, std::greater<>>
        open;
    open.push({best[from] = 0, from});
    while (!open.empty()) {
      auto [cost, at] = open.top();
      open.pop();
      if (cost > best[at])
        continue;
      for (auto [to, elements] : edges[at])
        if (cost + elements < best[to]) {
          result.before[to] = at;
          open.push({best[to] = cost + elements, to});
        }
    }
    return result;
  }
  const std::vector<Node> &all() const { return nodes; }
  /// Returns the layouts on the best chain, the last first.
  std::string chain(size_t from, size_t to, const Distances &distances) const {
    std::string text;
    for (; to != from; to = distances.before[to])
      text += " <- " + std::to_string(distances.elements[to]) + " " +
              toCommandText(mesh, layout(to));
    return text;
  }
  bool isSource(size_t node) const {
    return nodes[node].left.size() == summands.size() &&
           nodes[node].made.empty();
  }
  Layout layout(size_t node, ReduceKind leftKind = ReduceKind::Sum,
                ReduceKind madeKind = ReduceKind::Sum) const {
    Layout result = nodes[node].dims;
    result.partial = nodes[node].left;
    llvm::append_range(result.partial, nodes[node].made);
    result.reduce = nodes[node].made.empty() ? leftKind : madeKind;
    return normalise(mesh, result);
  }

private:
  /// Appends to `lists` every list of digits without overlaps that begins with
  /// `list`, in every order of the other digits.
  void listDigits(SubAxes list) {
    for (const SubAxis &digit : digits) {
      if (llvm::any_of(list,
                       [&](const SubAxis &x) { return overlaps(x, digit); }))
        continue;
      SubAxes next = list;
      next.push_back(digit);
      if (normalise(mesh, next) == next)
        lists.push_back(next);
      listDigits(next);
    }
  }
  static std::vector<SubAxes> subsets(llvm::ArrayRef<SubAxis> axes) {
    std::vector<SubAxes> result;
    for (unsigned mask = 0; mask < 1u << axes.size(); ++mask) {
      SubAxes subset;
      for (unsigned i = 0; i < axes.size(); ++i)
        if (mask >> i & 1)
          subset.push_back(axes[i]);
      result.push_back(subset);
    }
    return result;
  }

  template <typename F>
  static void forEach(llvm::ArrayRef<int64_t> extents, F visit) {
    Shape index(extents.size(), 0);
    int64_t count = size(extents);
    for (int64_t i = 0; i < count; ++i) {
      visit(index, i);
      for (size_t d = extents.size(); d-- > 0;) {
        if (++index[d] < extents[d])
          break;
        index[d] = 0;
      }
    }
  }
  static int64_t size(llvm::ArrayRef<int64_t> extents) {
    int64_t result = 1;
    for (int64_t n : extents)
      result *= n;
    return result;
  }

  void addNode(const Layout &dims, const SubAxes &left, const SubAxes &made) {
    Layout whole = dims;
    whole.partial = left;
    llvm::append_range(whole.partial, made);
    if (!invalidReason(mesh, whole, shape.size()).empty())
      return;
    Node node{dims, left, made, localShape(dims, shape), {}};
    uint32_t full = (1u << shardCount(summands)) - 1;
    for (int64_t device = 0; device < mesh.size(); ++device) {
      uint32_t held = 0;
      for (int64_t other = 0; other < mesh.size(); ++other)
        if (coordinate(mesh, other, left) == coordinate(mesh, device, left))
          held |= 1u << coordinate(mesh, other, summands);
      if (coordinate(mesh, device, made) != 0)
        held = 0;
      Box box = own(mesh, dims, shape, device);
      Block block(size(node.local));
      forEach(node.local, [&](Shape index, int64_t i) {
        int64_t element = 0;
        for (size_t d = 0; d < index.size(); ++d) {
          index[d] += box[d].begin;
          if (index[d] >= box[d].end)
            return;
          element = element * shape[d] + index[d];
        }
        block[i] = {element, held & full};
      });
      node.blocks.push_back(std::move(block));
    }
    nodes.push_back(std::move(node));
  }

  /// Returns the device whose coordinate on the axes is k, and whose other
  /// digits are those of `device`.
  int64_t member(int64_t device, llvm::ArrayRef<SubAxis> axes,
                 int64_t k) const {
    for (const SubAxis &sub : llvm::reverse(axes)) {
      int64_t stride = mesh.axes[sub.axis].size / sub.skip / sub.size;
      for (unsigned a = sub.axis + 1; a < mesh.axes.size(); ++a)
        stride *= mesh.axes[a].size;
      device += (k % sub.size - coordinate(mesh.axes, device, sub)) * stride;
      k /= sub.size;
    }
    return device;
  }

  /// Whether `cell(device, index)` gives every valid cell of `b`.
  template <typename F> bool gives(const Node &b, F cell) const {
    bool same = true;
    for (int64_t device = 0; device < mesh.size() && same; ++device)
      forEach(b.local, [&](const Shape &index, int64_t i) {
        const Cell &wanted = b.blocks[device][i];
        same = same && (wanted.element < 0 || cell(device, index) == wanted);
      });
    return same;
  }
  static Cell read(const Node &node, int64_t device, const Shape &index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] >= node.local[d])
        return {};
      at = at * node.local[d] + index[d];
    }
    return node.blocks[device][at];
  }
  static bool onlyDiffer(const Node &a, const Node &b, int64_t d1, int64_t d2) {
    for (int64_t d = 0; d < static_cast<int64_t>(a.local.size()); ++d)
      if (d != d1 && d != d2 && a.local[d] != b.local[d])
        return false;
    return true;
  }

  /// Whether a's layout becomes b's if the digits `over` move from the end of
  /// dimension `from`'s list to the end of `to`'s; -1 is no list.
  bool fits(const Node &a, const Node &b, const SubAxes &over, int64_t from,
            int64_t to) const {
    Layout moved = a.dims;
    if (from >= 0) {
      // Writes a's list as b's list and the moved digits: a normalised sub-axis
      // may join the two.
      Layout kept = b.dims;
      moved.dims[from] = kept.dims[from];
      llvm::append_range(moved.dims[from], over);
      if (!(normalise(mesh, moved) == a.dims))
        return false;
      moved.dims[from] = kept.dims[from];
    }
    if (to >= 0)
      llvm::append_range(moved.dims[to], over);
    return normalise(mesh, moved) == b.dims;
  }
  /// Whether a slice (`from` < 0), all-gather (`to` < 0) or all-to-all leads
  /// from `a` to `b`.
  bool moves(const Node &a, const Node &b, const SubAxes &over, int64_t from,
             int64_t to) const {
    int64_t p = shardCount(over);
    if (!onlyDiffer(a, b, from, to) || !fits(a, b, over, from, to) ||
        (from >= 0 && a.local[from] != shardSize(b.local[from], p)) ||
        (to >= 0 && b.local[to] != shardSize(a.local[to], p)))
      return false;
    return gives(b, [&](int64_t device, Shape index) {
      if (to >= 0)
        index[to] += coordinate(mesh, device, over) * b.local[to];
      int64_t source = device;
      if (from >= 0) {
        source = member(device, over, index[from] / a.local[from]);
        index[from] %= a.local[from];
      }
      return read(a, source, index);
    });
  }
  /// Whether an all-reduce (`to` < 0) or reduce-scatter leads from `a` to `b`.
  bool reduces(const Node &a, const Node &b, const SubAxes &over,
               int64_t to) const {
    int64_t p = shardCount(over);
    if (!onlyDiffer(a, b, to, -1) || !fits(a, b, over, -1, to) ||
        (to >= 0 && b.local[to] != shardSize(a.local[to], p)))
      return false;
    return gives(b, [&](int64_t device, Shape index) {
      if (to >= 0)
        index[to] += coordinate(mesh, device, over) * b.local[to];
      Cell sum = read(a, device, index);
      for (int64_t k = 0; k < p; ++k) {
        int64_t other = member(device, over, k);
        Cell cell = read(a, other, index);
        if (other == device)
          continue;
        if (cell.element != sum.element || (cell.summands & sum.summands))
          return Cell{-2, 0}; // other elements, or a summand counted twice
        sum.summands |= cell.summands;
      }
      return sum;
    });
  }
  bool makesPartial(const Node &a, const Node &b, const SubAxes &over) const {
    return a.dims == b.dims &&
           gives(b, [&](int64_t device, const Shape &index) {
             Cell cell = read(a, device, index);
             if (coordinate(mesh, device, over) != 0)
               cell.summands = 0;
             return cell;
           });
  }
  /// Whether a permutation of the devices' blocks leads from `a` to `b`: as
  /// many devices hold each block before as after.
  bool permutes(const Node &a, const Node &b) const {
    if (a.local != b.local)
      return false;
    std::map<Block, int> balance;
    for (const Block &block : a.blocks)
      ++balance[block];
    for (const Block &block : b.blocks)
      --balance[block];
    return llvm::all_of(balance, [](auto &entry) { return entry.second == 0; });
  }

  /// Returns the number of elements that a device receives in the cheapest
  /// collective from `a` to `b`, by the ring formulas; `never` if there is
  /// none.
  int64_t cheapest(const Node &a, const Node &b) const {
    int64_t best = never, rank = shape.size();
    int64_t before = size(a.local), after = size(b.local);
    auto offer = [&](int64_t elements, auto fits) {
      if (elements < best && fits())
        best = elements;
    };
    for (const SubAxes &over : lists) {
      int64_t p = shardCount(over), others = p - 1;
      if (b.made.size() > a.made.size())
        offer(0, [&] { return makesPartial(a, b, over); });
      bool mayReduce =
          b.left.size() + b.made.size() < a.left.size() + a.made.size();
      bool mayMove = a.left == b.left && a.made == b.made;
      if (mayReduce)
        offer((2 * others * before + p - 1) / p,
              [&] { return reduces(a, b, over, -1); });
      for (int64_t d = 0; d < rank; ++d) {
        if (mayReduce)
          offer(others * after, [&] { return reduces(a, b, over, d); });
        if (!mayMove)
          continue;
        offer(0, [&] { return moves(a, b, over, -1, d); });
        offer(others * before, [&] { return moves(a, b, over, d, -1); });
        for (int64_t to = 0; to < rank; ++to)
          if (to != d)
            offer((others * std::max(before, after) + p - 1) / p,
                  [&] { return moves(a, b, over, d, to); });
      }
    }
    if (a.left == b.left && a.made == b.made)
      offer(before, [&] { return permutes(a, b); });
    return best;
  }

  const Mesh &mesh;
  Shape shape;
  SubAxes summands;
  std::vector<SubAxis> digits;
  std::vector<SubAxes> lists;
  std::vector<Node> nodes;
  std::vector<std::vector<std::pair<size_t, int64_t>>> edges;
};

} // namespace weft

#endif // WEFT_TEST_UNIT_COLLECTIVEGRAPH_H
