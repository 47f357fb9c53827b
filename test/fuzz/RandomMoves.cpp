//===- RandomMoves.cpp - steps that move elements --------------------------===//

#include "weft/test/fuzz/ProgramGenerator.h"

#include <algorithm>

namespace weft {

void ProgramGenerator::clamp() {
  RandomValue low = any(), x = partner(low), high = partner(low);
  std::string type = typeOf(x.shape);
  emit("weft.clamp " + low.name + ", " + x.name + ", " + high.name + " : " +
           type + ", " + type + ", " + type + " -> " + type,
       x.shape, std::max({low.bound, x.bound, high.bound}));
}

void ProgramGenerator::reverse() {
  RandomValue x = any();
  std::vector<int64_t> dims;
  for (size_t dim = 0; dim < x.shape.size(); ++dim)
    if (below(2))
      dims.push_back(static_cast<int64_t>(dim));
  emit("weft.reverse " + x.name + " dims " + list(dims) + " : " +
           typeOf(x.shape),
       x.shape, x.bound);
}

void ProgramGenerator::roll() {
  RandomValue x = any();
  std::vector<int64_t> shift;
  for (int64_t size : x.shape)
    shift.push_back(below(3 * size + 1) - size);
  emit("weft.roll " + x.name + " by " + list(shift) + " : " + typeOf(x.shape),
       x.shape, x.bound);
}

std::string ProgramGenerator::randomStart() {
  RandomValue x = any();
  std::string n = std::to_string(starts++);
  std::vector<int64_t> dims;
  for (size_t dim = 0; dim < x.shape.size(); ++dim)
    dims.push_back(static_cast<int64_t>(dim));
  body += "  %max" + n + " = weft.reduce max " + x.name + " dims " + list(dims) +
          " : " + typeOf(x.shape) + " -> tensor<f32>\n  %start" + n +
          " = weft.convert %max" + n + " : tensor<f32> -> tensor<i32>\n";
  return "%start" + n;
}

void ProgramGenerator::dynamicSlice() {
  RandomValue x = any();
  Shape shape;
  std::string at, types = typeOf(x.shape);
  for (int64_t size : x.shape) {
    at += (shape.empty() ? "" : ", ") + randomStart();
    types += ", tensor<i32>";
    shape.push_back(below(3) == 0 ? size : 1 + below(size));
  }
  emit("weft.dynamic_slice " + x.name + " at (" + at + ") : (" + types +
           ") -> " + typeOf(shape),
       shape, x.bound);
}

void ProgramGenerator::dynamicUpdateSlice() {
  RandomValue x = any();
  std::vector<RandomValue> fitting;
  for (const RandomValue &value : values) {
    bool fits = value.shape.size() == x.shape.size();
    for (size_t dim = 0; fits && dim < x.shape.size(); ++dim)
      fits = value.shape[dim] <= x.shape[dim];
    if (fits)
      fitting.push_back(value);
  }
  RandomValue update = fitting[below(fitting.size())];
  std::string at, types = typeOf(x.shape) + ", " + typeOf(update.shape);
  for (size_t dim = 0; dim < x.shape.size(); ++dim) {
    at += (dim ? ", " : "") + randomStart();
    types += ", tensor<i32>";
  }
  emit("weft.dynamic_update_slice " + x.name + ", " + update.name + " at (" +
           at + ") : (" + types + ") -> " + typeOf(x.shape),
       x.shape, std::max(x.bound, update.bound));
}

} // namespace weft
