//===- RandomIndexing.cpp - steps that look up, scan and order -------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

RandomValue ProgramGenerator::randomIndices() {
  RandomValue x = any();
  std::string name = "%ids" + std::to_string(starts++);
  body += "  " + name + " = weft.convert " + x.name + " : " + typeOf(x.shape) +
          " -> " + typeOf(x.shape, "i32") + "\n";
  return {name, x.shape, x.bound};
}

static Shape rowsOf(const RandomValue &x, const RandomValue &indices) {
  Shape shape = indices.shape;
  shape.insert(shape.end(), x.shape.begin() + 1, x.shape.end());
  return shape;
}

static std::string dimsFrom(const std::string &name, int64_t first, int64_t n) {
  std::string text = name + " = array<i64";
  for (int64_t i = 0; i < n; ++i)
    text += (i ? ", " : ": ") + std::to_string(first + i);
  return text + ">";
}

void ProgramGenerator::gather() {
  RandomValue x = any();
  if (!x.shape.empty())
    gatherRows(x, randomIndices());
}

void ProgramGenerator::gatherRows(const RandomValue &x,
                                  const RandomValue &ids) {
  Shape shape = rowsOf(x, ids);
  int64_t batch = static_cast<int64_t>(ids.shape.size());
  int64_t rest = static_cast<int64_t>(x.shape.size()) - 1;
  std::string sizes = "slice_sizes = array<i64: 1";
  for (size_t dim = 1; dim < x.shape.size(); ++dim)
    sizes += ", " + std::to_string(x.shape[dim]);
  emit("weft.gather " + x.name + " at " + ids.name + " {" +
           dimsFrom("offset_dims", batch, rest) +
           ", collapsed_slice_dims = array<i64: 0>, start_index_map = "
           "array<i64: 0>, index_vector_dim = " +
           std::to_string(batch) + " : i64, " + sizes + ">" +
           (below(2) ? ", zero_outside" : "") + "} : " + typeOf(x.shape) +
           ", " + typeOf(ids.shape, "i32") + " -> " + typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::scatter() {
  static const char *kinds[] = {"sum", "max", "min", "set"};
  // Updates are rows, gathered from another place.
  RandomValue x = any();
  if (x.shape.empty())
    return;
  RandomValue ids = randomIndices();
  size_t before = values.size();
  gatherRows(x, ids);
  if (values.size() == before)
    return;
  RandomValue updates = values.back();
  x = partner(x);
  int64_t batch = static_cast<int64_t>(ids.shape.size());
  int64_t rest = static_cast<int64_t>(x.shape.size()) - 1;
  int64_t kind = below(4);
  double bound = kind == 0 ? x.bound + updates.bound * static_cast<double>(elements(ids.shape))
                           : std::max(x.bound, updates.bound);
  emit(std::string("weft.scatter ") + kinds[kind] + " " + x.name + " at " +
           ids.name + " with " + updates.name + " {" +
           dimsFrom("update_window_dims", batch, rest) +
           ", inserted_window_dims = array<i64: 0>, "
           "scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = " +
           std::to_string(batch) + " : i64} : " + typeOf(x.shape) + ", " +
           typeOf(ids.shape, "i32") + ", " + typeOf(updates.shape) + " -> " +
           typeOf(x.shape),
       x.shape, bound);
}

void ProgramGenerator::oneHot() {
  RandomValue ids = randomIndices();
  int64_t dim = below(static_cast<int64_t>(ids.shape.size()) + 1);
  Shape shape = ids.shape;
  shape.insert(shape.begin() + dim, 1 + below(8));
  if (shape.size() > 4)
    return;
  emit("weft.one_hot " + ids.name + " dim " + std::to_string(dim) + " : " +
           typeOf(ids.shape, "i32") + " -> " + typeOf(shape),
       shape, 1);
}

void ProgramGenerator::cumulative() {
  static const char *kinds[] = {"sum", "max", "min"};
  RandomValue x = any();
  if (x.shape.empty())
    return;
  int64_t dim = below(static_cast<int64_t>(x.shape.size())), kind = below(3);
  // An exclusive largest would begin with an infinity.
  bool exclusive = kind == 0 && below(2);
  emit(std::string("weft.cumulative ") + kinds[kind] + " " + x.name + " dim " +
           std::to_string(dim) + (below(2) ? " reverse" : "") +
           (exclusive ? " exclusive" : "") + " : " + typeOf(x.shape),
       x.shape,
       kind == 0 ? x.bound * static_cast<double>(x.shape[dim]) : x.bound);
}

void ProgramGenerator::argument() {
  RandomValue x = any();
  if (x.shape.empty())
    return;
  int64_t dim = below(static_cast<int64_t>(x.shape.size()));
  Shape shape = x.shape;
  shape.erase(shape.begin() + dim);
  std::string name = "%arg" + std::to_string(starts++);
  body += "  " + name + " = weft.arg_" + (below(2) ? "max " : "min ") + x.name +
          " dim " + std::to_string(dim) + " : " + typeOf(x.shape) + " -> " +
          typeOf(shape, "i32") + "\n";
  emit("weft.convert " + name + " : " + typeOf(shape, "i32") + " -> " +
           typeOf(shape),
       shape, static_cast<double>(x.shape[dim]));
}

void ProgramGenerator::topK() {
  RandomValue x = any();
  if (x.shape.empty())
    return;
  int64_t dim = below(static_cast<int64_t>(x.shape.size()));
  Shape shape = x.shape;
  shape[dim] = 1 + below(shape[dim]);
  std::string name = "%top" + std::to_string(starts++);
  body += "  " + name + ":2 = weft.top_k " + x.name + " dim " +
          std::to_string(dim) + " : " + typeOf(x.shape) + " -> " +
          typeOf(shape) + ", " + typeOf(shape, "i32") + "\n";
  values.push_back({name + "#0", shape, x.bound});
  emit("weft.convert " + name + "#1 : " + typeOf(shape, "i32") + " -> " +
           typeOf(shape),
       shape, static_cast<double>(x.shape[dim]));
}

void ProgramGenerator::sort() {
  RandomValue x = any(), y = partner(x);
  if (x.shape.empty())
    return;
  std::string name = "%sorted" + std::to_string(starts++), type = typeOf(x.shape);
  body += "  " + name + ":2 = weft.sort " + x.name + ", " + y.name + " dim " +
          std::to_string(below(static_cast<int64_t>(x.shape.size()))) +
          " keys " + std::to_string(1 + below(2)) +
          (below(2) ? " descending" : "") + " : (" + type + ", " + type +
          ") -> (" + type + ", " + type + ")\n";
  values.push_back({name + "#0", x.shape, x.bound});
  values.push_back({name + "#1", x.shape, y.bound});
}

} // namespace weft
