//===- RandomManual.cpp - per-device code ---------------------------------===//
//
//   %m = weft.manual(%x) from [#...] to [#...] : ... {
//   ^bb0(%b0: tensor<4xf32>):
//     %b1 = coll.collective_permute %b0 sources [1, 0] over #mesh ["a"] : ...
//     %b2 = coll.all_reduce max %b1 over #mesh ["b"] : ...
//     weft.yield %b2 : ...
//   }
//
// Before the end blocks are made equal along all axes over which the result is
// not sharded. Some axes may be left free: collectives use the other ones,
// constraints and a nested weft.manual the free ones.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

using Axis = std::pair<std::string, int64_t>;
using Axes = std::vector<Axis>;

static std::string layoutText(const std::vector<std::string> &dims) {
  std::string text = "#weft.layout<#mesh, [";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", {" : "{") + dims[i] + "}";
  return text + "]>";
}

static void addAxis(std::string &dim, const std::string &axis) {
  dim += (dim.empty() ? "\"" : ", \"") + axis + "\"";
}

static std::string freeText(const Axes &axes) {
  std::string names;
  for (const auto &[axis, size] : axes)
    addAxis(names, axis);
  return axes.empty() ? "" : " free [" + names + "]";
}

/// The region while it is generated: one block, which every step replaces.
class ProgramGenerator::BlockProgram {
public:
  BlockProgram(ProgramGenerator &g, RandomValue block, Axes bound, Axes free)
      : block(std::move(block)), g(g), bound(std::move(bound)),
        free(std::move(free)) {
    this->block.name = "%b0";
  }

  void steps(int64_t count) {
    static constexpr void (BlockProgram::*kinds[])() = {
        &BlockProgram::maskByCoordinate,
        &BlockProgram::permute,
        &BlockProgram::allReduce,
        &BlockProgram::allGather,
        &BlockProgram::reduceScatter,
        &BlockProgram::allToAll,
        &BlockProgram::slice};
    static constexpr void (BlockProgram::*onFree[])() = {
        &BlockProgram::constrain, &BlockProgram::constrain,
        &BlockProgram::reverse, &BlockProgram::accumulate,
        &BlockProgram::another};
    for (int64_t i = 0; i < count; ++i)
      if (free.empty() || g.oneIn(2))
        (this->*kinds[g.below(std::size(kinds))])();
      else
        (this->*onFree[g.below(std::size(onFree))])();
  }
  /// Makes blocks equal along an axis.
  void level(const std::string &axis) {
    add("coll.all_reduce " + select() + " " + block.name + over(axis) + " : " +
            typeOf(block),
        block);
  }

  RandomValue block;

private:
  const Axis &randomAxis() { return bound[g.below(bound.size())]; }
  static std::string over(const std::string &axis) {
    return " over #mesh [\"" + axis + "\"]";
  }
  /// A random reduction that makes no element larger.
  std::string select() {
    return block.isBool() ? (g.oneIn(2) ? "and" : "or")
                          : (g.oneIn(2) ? "max" : "min");
  }
  void add(const std::string &text, RandomValue next) {
    std::string name = "%b" + std::to_string(++count);
    g.line("  " + name + " = " + text);
    block = std::move(next);
    block.name = name;
  }
  /// The block with another size along a dimension.
  RandomValue resized(int64_t dim, int64_t size) const {
    RandomValue next = block;
    next.shape[dim] = size;
    return next;
  }
  void move(const std::string &text, const std::string &axis,
            const RandomValue &next) {
    if (!g.isTooLarge(next))
      add(text + over(axis) + " : " + typeOf(block) + " -> " + typeOf(next),
          next);
  }

  void maskByCoordinate() {
    if (block.isBool() || (block.isFloat() && block.element->largest < 16))
      return;
    std::string c = "%at" + std::to_string(count),
                type = std::string(block.element->name);
    g.line("  " + c + " = coll.coordinate" + over(randomAxis().first) +
           " : tensor<i64>");
    g.line("  " + c + "x = weft.convert " + c + " : tensor<i64> -> tensor<" +
           type + ">");
    g.line("  " + c + "y = weft.broadcast " + c + "x dims [] : tensor<" + type +
           "> -> " + typeOf(block));
    RandomValue next = block;
    next.bound = std::max(next.bound, 8.0);
    add(std::string(g.oneIn(2) ? "weft.max " : "weft.min ") + block.name +
            ", " + c + "y : " + typeOf(block),
        next);
  }
  void permute() {
    const auto &[axis, size] = randomAxis();
    std::vector<int64_t> sources(size);
    for (int64_t &source : sources)
      source = g.below(size);
    move("coll.collective_permute " + block.name + " sources " + list(sources),
         axis, block);
  }
  void allReduce() {
    const auto &[axis, size] = randomAxis();
    RandomValue sum = g.sumLike(block, block.shape, static_cast<double>(size));
    if (!g.canSum(block) || g.isTooLarge(sum))
      return level(axis);
    add("coll.all_reduce sum " + block.name + over(axis) + " : " +
            typeOf(block),
        sum);
  }
  void allGather() {
    const auto &[axis, size] = randomAxis();
    if (block.shape.empty())
      return;
    int64_t dim = g.dimOf(block);
    move("coll.all_gather " + block.name + " dim " + std::to_string(dim), axis,
         resized(dim, block.shape[dim] * size));
  }
  /// A dimension that this many devices can share, or -1.
  int64_t dividedDim(int64_t size) {
    for (int64_t attempt = 0; attempt < 4 && !block.shape.empty(); ++attempt)
      if (int64_t dim = g.dimOf(block); block.shape[dim] % size == 0)
        return dim;
    return -1;
  }
  void reduceScatter() {
    const auto &[axis, size] = randomAxis();
    if (int64_t dim = dividedDim(size); dim >= 0)
      move("coll.reduce_scatter " + select() + " " + block.name + " dim " +
               std::to_string(dim),
           axis, resized(dim, block.shape[dim] / size));
  }
  void slice() {
    const auto &[axis, size] = randomAxis();
    if (int64_t dim = dividedDim(size); dim >= 0)
      move("coll.slice " + block.name + " dim " + std::to_string(dim), axis,
           resized(dim, block.shape[dim] / size));
  }
  void allToAll() {
    const auto &[axis, size] = randomAxis();
    int64_t split = dividedDim(size);
    if (split < 0)
      return;
    int64_t concat = g.dimOf(block);
    if (concat == split)
      return;
    RandomValue next = resized(split, block.shape[split] / size);
    next.shape[concat] *= size;
    move("coll.all_to_all " + block.name + " split " + std::to_string(split) +
             " concat " + std::to_string(concat),
         axis, next);
  }

  /// Constrains the block over free axes, evenly or not.
  void constrain() {
    std::vector<std::string> dims(block.shape.size());
    for (const auto &[axis, size] : free)
      if (!dims.empty() && !g.oneIn(3))
        addAxis(dims[g.dimOf(block)], axis);
    std::string open =
        g.oneIn(3) && !dims.empty() ? " {weft.open = array<i64: 0>}" : "";
    add("weft.constrain " + block.name + " to " + layoutText(dims) + open +
            " : " + typeOf(block) + " -> " + typeOf(block),
        block);
  }
  void reverse() {
    if (!block.shape.empty())
      add("weft.reverse " + block.name + " dims [" +
              std::to_string(g.dimOf(block)) + "] : " + typeOf(block),
          block);
  }
  void accumulate() {
    if (!block.shape.empty() && !block.isBool())
      add("weft.cumulative " + select() + " " + block.name + " dim " +
              std::to_string(g.dimOf(block)) + " : " + typeOf(block),
          block);
  }
  /// Generates a nested region over a free axis, which may leave the next ones
  /// free.
  void another() {
    size_t at = g.below(free.size());
    const auto &[axis, size] = free[at];
    int64_t dim = dividedDim(size);
    if (dim < 0)
      return;
    RandomValue part = resized(dim, block.shape[dim] / size);
    std::vector<std::string> dims(block.shape.size());
    addAxis(dims[dim], axis);
    Axes rest(free.begin() + at + 1, free.end());
    std::string type = typeOf(block), layout = layoutText(dims),
                sources = list({size - 1});
    std::string name = "%b" + std::to_string(++count);
    for (int64_t i = 1; i < size; ++i)
      sources = sources.substr(0, sources.size() - 1) + ", " +
                std::to_string(g.below(size)) + "]";
    g.line("  " + name + " = weft.manual(" + block.name + ") from [" + layout +
           "] to [" + layout + "]" + freeText(rest) + " : (" + type + ") -> " +
           type + " {");
    g.line("  ^bb0(%n: " + typeOf(part) + "):");
    g.line("    %p = coll.collective_permute %n sources " + sources +
           over(axis) + " : " + typeOf(part) + " -> " + typeOf(part));
    g.line("    weft.yield %p : " + typeOf(part));
    g.line("  }");
    block.name = name;
  }

  ProgramGenerator &g;
  Axes bound, free;
  int64_t count = 0;
};

void ProgramGenerator::manual() {
  if (inCallee || inLoss)
    return;
  auto x = pick([](const RandomValue &v) { return v.isFinite(); });
  if (!x)
    return;
  const RandomValue &input = *x;
  RandomValue block = *x;
  std::vector<std::string> from(block.shape.size());
  Axes bound, free;
  for (const Axis &axis : axes)
    (axis.second > 1 && oneIn(3) ? free : bound).push_back(axis);
  if (bound.empty())
    std::swap(bound, free);
  for (const auto &[axis, size] : bound) {
    int64_t dim = block.shape.empty() ? -1 : dimOf(block);
    if (dim < 0 || block.shape[dim] % size || oneIn(4))
      continue;
    addAxis(from[dim], axis);
    block.shape[dim] /= size;
  }
  // The op's first line is generated after its region, on which it depends.
  std::string before = std::move(body);
  body.clear();
  std::string first = typeOf(block);
  BlockProgram program(*this, block, bound, free);
  program.steps(1 + below(4));
  std::vector<std::string> to(program.block.shape.size());
  Shape shape = program.block.shape;
  for (const auto &[axis, size] : bound) {
    bool level = to.empty() || oneIn(3);
    int64_t dim = level ? 0 : dimOf(program.block);
    level = level || elements(shape) * size > 2048;
    if (level) {
      program.level(axis);
      continue;
    }
    addAxis(to[dim], axis);
    shape[dim] *= size;
  }
  RandomValue result = program.block;
  result.shape = shape;
  std::string region = std::move(body), name = fresh("manual");
  body = std::move(before);
  line(name + " = weft.manual(" + input.name + ") from [" + layoutText(from) +
       "] to [" + layoutText(to) + "]" + freeText(free) + " : (" +
       typeOf(input) + ") -> " + typeOf(result) + " {");
  line("^bb0(%b0: " + first + "):");
  body += region;
  line("  weft.yield " + program.block.name + " : " + typeOf(program.block));
  line("}");
  define(name, result);
}

} // namespace weft
