// Reversed operands are views that contractions and convolutions read
// backwards. Each form of both is compared with a run on operands that were
// reversed in memory. Elements are small integers, so that sums in any order
// are equal.
#include "weft/test/unit/codegen-kernels.h"

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;

namespace {

using Sizes = std::vector<int64_t>;

std::string typeOf(const Sizes &sizes, const char *element) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t countOf(const Sizes &sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Returns the position in memory of an element when the dimensions with a bit
/// in `reversed` run backwards.
int64_t placeOf(int64_t position, const Sizes &sizes, unsigned reversed) {
  int64_t place = 0, stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0;) {
    int64_t at = position % sizes[dim];
    position /= sizes[dim];
    place += (reversed >> dim & 1 ? sizes[dim] - 1 - at : at) * stride;
    stride *= sizes[dim];
  }
  return place;
}

/// An op of %x and %w, either of which may be reversed, and the sizes of its
/// operands and result.
struct Case {
  Sizes x, w, result;
  std::string op;

  std::string kernel(unsigned xDims, unsigned wDims) const {
    std::string to = typeOf(result, "f32");
    std::string from = typeOf(x, "f32"), with = typeOf(w, "f32");
    return function("general", "(%a: " + from + ", %b: " + with + ") -> " + to,
                    reversed("%x", "%a", x, xDims) +
                        reversed("%w", "%b", w, wDims) + "%0 = weft." + op +
                        " : " + from + ", " + with + " -> " + to +
                        "\nreturn %0 : " + to + "\n");
  }

private:
  static std::string reversed(const char *to, const char *from,
                              const Sizes &sizes, unsigned dims) {
    std::string list;
    for (size_t dim = 0; dim < sizes.size(); ++dim)
      if (dims >> dim & 1)
        list += (list.empty() ? "" : ", ") + std::to_string(dim);
    return std::string(to) + " = weft.reverse " + from + " dims [" + list +
           "] : " + typeOf(sizes, "f32") + "\n";
  }
};

std::vector<float> run(const Case &c, unsigned xDims, unsigned wDims,
                       bool inMemory, const char *target) {
  Kernels kernels(inMemory ? c.kernel(0, 0) : c.kernel(xDims, wDims), target);
  INFO(kernels.error);
  REQUIRE(kernels.error.empty());
  Buffer<float> x(countOf(c.x)), w(countOf(c.w)), result(countOf(c.result));
  auto fill = [&](Buffer<float> &buffer, const Sizes &sizes, unsigned dims) {
    for (int64_t i = 0; i < countOf(sizes); ++i)
      buffer.data[placeOf(i, sizes, inMemory ? dims : 0)] =
          float((i * 7 + i / 5) % 11 - 5);
  };
  fill(x, c.x, xDims);
  fill(w, c.w, wDims);
  kernels.run("k", {x.data, w.data, result.data});
  return {result.data, result.data + countOf(c.result)};
}

std::string convolution(int64_t low, int64_t base) {
  auto both = [](int64_t n) {
    return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">";
  };
  return "convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = "
         "array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, "
         "strides = array<i64: 1, 1>, low = " +
         both(low) + ", high = " + both(low) +
         ", base_dilation = " + both(base) +
         ", window_dilation = array<i64: 1, 1>}";
}

} // namespace

TEST_CASE("a reversed operand is a view") {
  const Case cases[] = {
      {{7, 13}, {13, 21}, {7, 21}, "dot %x, %w contract [1] x [0]"},
      {{7, 37}, {9, 37}, {7, 9}, "dot %x, %w contract [1] x [1]"},
      {{11, 37}, {37}, {11}, "dot %x, %w contract [1] x [0]"},
      {{131, 70}, {70, 601}, {131, 601}, "dot %x, %w contract [1] x [0]"},
      {{2, 9, 9, 5}, {3, 3, 5, 17}, {2, 9, 9, 17}, convolution(1, 1)},
      {{2, 6, 6, 20}, {4, 4, 20, 5}, {2, 14, 14, 5}, convolution(3, 2)}};
  for (const char *target : {weft::test::testTarget(), "cpu:generic"})
    for (const Case &c : cases)
      for (auto [xDims, wDims] :
           {std::pair(1u, 0u), {0u, 1u}, {2u, 0u}, {0u, 3u}, {1u, 1u}}) {
        if (wDims >> c.w.size())
          continue;
        INFO(target << "\n" << c.kernel(xDims, wDims));
        CHECK(run(c, xDims, wDims, false, target) ==
              run(c, xDims, wDims, true, target));
      }
}
