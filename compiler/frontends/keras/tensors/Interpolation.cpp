//===- Interpolation.cpp - images of another size -------------------------===//

#include "weft/compiler/frontends/keras/tensors/Interpolation.h"

#include <cmath>
#include <limits>
#include <numbers>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The weight of an element at this distance from a position.
using Kernel = float (*)(float);

static float triangle(float x) { return std::max(0.0f, 1 - x); }
/// The cubic kernel of Keys, with a = -0.5.
static float cubic(float x) {
  if (x >= 2)
    return 0;
  return x >= 1 ? ((-0.5f * x + 2.5f) * x - 4) * x + 2
                : ((1.5f * x - 2.5f) * x) * x + 1;
}
template <int radius> static float lanczos(float x) {
  if (x > radius)
    return 0;
  float angle = std::numbers::pi_v<float> * x;
  return x > 1e-3f ? radius * std::sin(angle) * std::sin(angle / radius) /
                         (angle * angle)
                   : 1;
}

namespace {
struct Interpolation {
  const char *name;
  Kernel kernel; ///< null: the nearest element's value
};
} // namespace
static constexpr Interpolation kInterpolations[] = {{"nearest", nullptr},
                                                    {"bilinear", triangle},
                                                    {"bicubic", cubic},
                                                    {"lanczos3", lanczos<3>},
                                                    {"lanczos5", lanczos<5>}};

const std::vector<const char *> &weft::keras::interpolations() {
  static const std::vector<const char *> names = [] {
    std::vector<const char *> out;
    for (const Interpolation &each : kInterpolations)
      out.push_back(each.name);
    return out;
  }();
  return names;
}

/// The matrix whose entry [i, j] is the weight of old element i in new element
/// j.
static std::vector<float> weightsOf(int64_t in, int64_t out, Kernel kernel,
                                    bool antialias) {
  std::vector<float> weights(in * out);
  float inverse = float(in) / float(out);
  float width = antialias ? std::max(inverse, 1.0f) : 1;
  for (int64_t j = 0; j < out; ++j) {
    float place = (float(j) + 0.5f) * inverse - 0.5f, total = 0;
    if (!kernel) {
      weights[int64_t(std::floor((float(j) + 0.5f) * inverse)) * out + j] = 1;
      continue;
    }
    for (int64_t i = 0; i < in; ++i)
      total += weights[i * out + j] =
          kernel(std::abs(place - float(i)) / width);
    bool isInside =
        place >= -0.5f && place <= float(in) - 0.5f &&
        std::abs(total) > 1000 * std::numeric_limits<float>::epsilon();
    for (int64_t i = 0; i < in; ++i)
      weights[i * out + j] = isInside ? weights[i * out + j] / total : 0;
  }
  return weights;
}

std::string weft::keras::resizeComplaint(int64_t from, int64_t to) {
  constexpr int64_t most = 1 << 26;
  if (from == to || from <= most / std::max<int64_t>(to, 1))
    return "";
  return "resizes " + std::to_string(from) + " elements to " +
         std::to_string(to) + "; the product of both is at most " +
         std::to_string(most) + ", resize to fewer";
}

Tensor weft::keras::resized(Tensors &t, Tensor x, int64_t dim, int64_t size,
                            const std::string &interpolation, bool antialias) {
  int64_t in = t.size(x, dim);
  if (in == size)
    return x;
  Kernel kernel = nullptr;
  for (const Interpolation &each : kInterpolations)
    if (interpolation == each.name)
      kernel = each.kernel;
  Tensor matrix = t.castLike(
      t.constant(weightsOf(in, size, kernel, antialias), {in, size}), x);
  Tensor mixed = t.make<DotOp>(x, matrix, llvm::ArrayRef<int64_t>{dim},
                               llvm::ArrayRef<int64_t>{0});
  llvm::SmallVector<int64_t> order; // the new dimension is the last one
  for (int64_t i = 0; i < t.last(x); ++i)
    order.push_back(i);
  order.insert(order.begin() + dim, t.last(x));
  return t.transpose(mixed, order);
}
