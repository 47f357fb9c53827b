//===- RandomIndexing.cpp - steps that look up and scan -------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>
#include <cmath>

namespace weft {

std::optional<RandomValue> ProgramGenerator::randomIndices() {
  auto x = pick([](const RandomValue &v) {
    return v.isNumber() && v.isFinite() && canJump(v) && v.shape.size() < 3;
  });
  if (!x || (!x->isFloat() && x->element->width > 8))
    return x;
  RandomValue ids = *x;
  ids.element = &elementKind(oneIn(4) ? "i64" : "i32");
  ids.name = fresh("ids");
  line(ids.name + " = weft.convert " + x->name + " : " + typeOf(*x) + " -> " +
       typeOf(ids));
  return ids;
}

static Shape rowsOf(const RandomValue &x, const RandomValue &indices) {
  Shape shape = indices.shape;
  shape.insert(shape.end(), x.shape.begin() + 1, x.shape.end());
  return shape;
}

void ProgramGenerator::gather() {
  auto x = pick([](const RandomValue &v) { return !v.shape.empty(); });
  auto ids = randomIndices();
  if (x && ids)
    gatherRows(*x, *ids);
}

std::optional<RandomValue>
ProgramGenerator::gatherRows(const RandomValue &x, const RandomValue &ids) {
  RandomValue result = like(x, rowsOf(x, ids));
  int64_t batch = static_cast<int64_t>(ids.shape.size());
  Shape sizes = x.shape;
  sizes[0] = 1;
  bool added = emit(
      "weft.gather " + x.name + " at " + ids.name + " {" +
          arrayAttribute("offset_dims", counted(x.shape.size() - 1, batch)) +
          ", " + arrayAttribute("collapsed_slice_dims", {0}) + ", " +
          arrayAttribute("start_index_map", {0}) +
          ", index_vector_dim = " + std::to_string(batch) + " : i64, " +
          arrayAttribute("slice_sizes", sizes) +
          (oneIn(2) ? ", zero_outside" : "") + "} : " + typeOf(x) + ", " +
          typeOf(ids) + " -> " + typeOf(result),
      result, {{x, static_cast<double>(elements(ids.shape))}});
  return added ? std::optional(values.back()) : std::nullopt;
}

void ProgramGenerator::scatter() {
  static const char *kinds[] = {"sum", "set", "max", "min", "prod"};
  // Updates are rows of x, gathered at the same indices.
  auto x = pick(
      [](const RandomValue &v) { return !v.shape.empty() && v.isNumber(); });
  auto ids = randomIndices();
  auto updates = x && ids ? gatherRows(*x, *ids) : std::nullopt;
  if (!updates)
    return;
  x = partner(*x);
  const char *kind = kinds[below(inLoss ? 2 : 5)];
  bool sums = kind == kinds[0], multiplies = kind == kinds[4];
  if ((sums || multiplies) && !(canSum(*x) && canSum(*updates)))
    return;
  double n = static_cast<double>(elements(ids->shape));
  RandomValue result = like(*x);
  join(result, *updates);
  result.bound = sums ? x->bound + updates->bound * n
                 : multiplies
                     ? x->bound * std::pow(std::max(1.0, updates->bound), n)
                     : std::max(x->bound, updates->bound);
  if ((sums || multiplies) && !result.integral)
    result.depth = x->depth + n * (1 + updates->depth);
  int64_t batch = static_cast<int64_t>(ids->shape.size());
  emit(std::string("weft.scatter ") + kind + " " + x->name + " at " +
           ids->name + " with " + updates->name + " {" +
           arrayAttribute("update_window_dims",
                          counted(x->shape.size() - 1, batch)) +
           ", " + arrayAttribute("inserted_window_dims", {0}) + ", " +
           arrayAttribute("scatter_dims_to_operand_dims", {0}) +
           ", index_vector_dim = " + std::to_string(batch) +
           " : i64} : " + typeOf(*x) + ", " + typeOf(*ids) + ", " +
           typeOf(*updates) + " -> " + typeOf(*x),
       result, {{*x}, {*updates}});
}

void ProgramGenerator::oneHot() {
  auto ids = randomIndices();
  if (!ids)
    return;
  int64_t dim = below(static_cast<int64_t>(ids->shape.size()) + 1);
  RandomValue result = like(*ids);
  result.element = &randomElement();
  result.unit = result.element->unit;
  result.shape.insert(result.shape.begin() + dim, 1 + below(8));
  result.bound = 1;
  emit("weft.one_hot " + ids->name + " dim " + std::to_string(dim) + " : " +
           typeOf(*ids) + " -> " + typeOf(result),
       result);
}

void ProgramGenerator::cumulative() {
  static const char *kinds[] = {"sum", "sum",  "max",
                                "min", "prod", "logsumexp"};
  const char *kind = kinds[below(inLoss ? 4 : 6)];
  bool sums = kind[0] == 's', extends = kind[0] == 'm';
  auto x = pick([&](const RandomValue &v) {
    return v.isNumber() && !v.shape.empty() &&
           (extends ? canBend(v) : canSum(v)) &&
           (kind[0] != 'l' || (options.reals && v.isFloat()));
  });
  if (!x)
    return;
  int64_t dim = dimOf(*x);
  double n = static_cast<double>(x->shape[dim]);
  // An exclusive max, or sum of exponentials, begins with an infinity.
  bool exclusive = (sums || kind[0] == 'p') && oneIn(2);
  RandomValue result = sums ? sumLike(*x, x->shape, n) : like(*x);
  if (kind[0] == 'p') {
    result.bound = std::pow(std::max(x->bound, 1.0), n);
    if (!x->integral)
      result.depth = n * (1 + x->depth);
  } else if (kind[0] == 'l') {
    result.bound += std::log(n) + 1;
    result.depth += 8 * n;
    result.integral = false;
  }
  emit(std::string("weft.cumulative ") + kind + " " + x->name + " dim " +
           std::to_string(dim) + (oneIn(2) ? " reverse" : "") +
           (exclusive ? " exclusive" : "") + " : " + typeOf(*x),
       result, {{*x, extends || sums ? n : 1e40}});
}

} // namespace weft
