// Loops that end where a concatenation or a pad changes, tiles of transposes,
// and the search for the largest elements, compared with plain loops.
#include "weft/test/unit/codegen-kernels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;

namespace {

/// Runs a kernel of f32 and returns the elements that differ from `expected`.
int64_t differences(const std::string &text, std::vector<Buffer<float> *> in,
                    int64_t size, std::function<float(int64_t)> expected) {
  int64_t different = 0;
  for (const char *target :
       {weft::test::testTarget(), "cpu:avx2", "cpu:generic"}) {
    Kernels kernels(text, target);
    INFO(kernels.error);
    auto kernel = reinterpret_cast<weft_kernel_fn>(kernels.find("k"));
    REQUIRE(kernel);
    Buffer<float> out(size_t(size), 7, 8);
    std::vector<void *> buffers;
    for (Buffer<float> *each : in)
      buffers.push_back(each->data);
    buffers.push_back(out.data);
    int64_t coordinate = 0;
    kernel(buffers.data(), &coordinate);
    for (int64_t i = 0; i < size; ++i)
      different += out[size_t(i)] != expected(i);
  }
  return different;
}

} // namespace

TEST_CASE("loops end where elements come from elsewhere") {
  Buffer<float> a(70 * 40), b(70 * 37), c(70 * 3);
  CHECK(differences(
            function("general",
                     "(%a: tensor<70x40xf32>, %b: tensor<70x37xf32>, %c: "
                     "tensor<70x3xf32>) -> tensor<70x80xf32>",
                     "%0 = weft.concatenate %a, %b, %c dim 1 : "
                     "(tensor<70x40xf32>, tensor<70x37xf32>, tensor<70x3xf32>) "
                     "-> tensor<70x80xf32>\n%1 = weft.add %0, %0 : "
                     "tensor<70x80xf32>\nreturn %1 : tensor<70x80xf32>\n"),
            {&a, &b, &c}, 70 * 80, [&](int64_t i) {
              size_t row = size_t(i / 80), at = size_t(i % 80);
              return 2 * (at < 40   ? a[row * 40 + at]
                          : at < 77 ? b[row * 37 + at - 40]
                                    : c[row * 3 + at - 77]);
            }) == 0);
  Buffer<float> x(60 * 61);
  CHECK(differences(
            function("general", "(%x: tensor<60x61xf32>) -> tensor<63x68xf32>",
                     "%0 = weft.pad %x low [2, 3] high [1, 4] interior [0, 0] "
                     ": tensor<60x61xf32> -> tensor<63x68xf32>\nreturn %0 : "
                     "tensor<63x68xf32>\n"),
            {&x}, 63 * 68, [&](int64_t i) {
              int64_t row = i / 68 - 2, at = i % 68 - 3;
              bool inside = row >= 0 && row < 60 && at >= 0 && at < 61;
              return inside ? x[size_t(row * 61 + at)] : 0;
            }) == 0);
  Buffer<float> r(70 * 80);
  CHECK(differences(
            function("general", "(%x: tensor<70x80xf32>) -> tensor<70x80xf32>",
                     "%0 = weft.roll %x by [3, -7] : tensor<70x80xf32>\n"
                     "return %0 : tensor<70x80xf32>\n"),
            {&r}, 70 * 80, [&](int64_t i) {
              int64_t row = (i / 80 + 67) % 70, at = (i % 80 + 7) % 80;
              return r[size_t(row * 80 + at)];
            }) == 0);
}

TEST_CASE("tiles of transposes at every remainder") {
  Buffer<float> x(65 * 33 * 70), y(65 * 33 * 70);
  CHECK(differences(
            function("general",
                     "(%x: tensor<33x70x65xf32>, %y: tensor<65x33x70xf32>) -> "
                     "tensor<65x33x70xf32>",
                     "%0 = weft.transpose %x [2, 0, 1] : "
                     "tensor<33x70x65xf32> -> tensor<65x33x70xf32>\n%1 = "
                     "weft.sub %0, %y : tensor<65x33x70xf32>\nreturn %1 : "
                     "tensor<65x33x70xf32>\n"),
            {&x, &y}, 65 * 33 * 70, [&](int64_t i) {
              int64_t a = i / (33 * 70), b = i / 70 % 33, c = i % 70;
              return x[size_t((b * 70 + c) * 65 + a)] - y[size_t(i)];
            }) == 0);
}

TEST_CASE("the largest elements, equal ones in order") {
  constexpr size_t rows = 5, n = 333;
  for (int64_t k : {1, 7, 333}) {
    std::string x = "tensor<5x333xi32>",
                to = "tensor<5x" + std::to_string(k) + "xi32>";
    Kernels kernels(
        function("general", "(%x: " + x + ") -> (" + to + ", " + to + ")",
                 "%v, %i = weft.top_k %x dim 1 : " + x + " -> " + to + ", " +
                     to + "\nreturn %v, %i : " + to + ", " + to + "\n"));
    Buffer<int32_t> in(rows * n), values(rows * size_t(k)),
        positions(rows * size_t(k));
    std::minstd_rand random(3);
    for (size_t i = 0; i < rows * n; ++i) // the least integer is an element
      in[i] = i % 7 ? int32_t(random() % 20) - 10 : INT32_MIN;
    kernels.run("k", {in.data, values.data, positions.data});
    for (size_t row = 0; row < rows; ++row) {
      std::vector<int32_t> order(n);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return in[row * n + size_t(a)] > in[row * n + size_t(b)];
      });
      int different = 0;
      for (size_t i = 0; i < size_t(k); ++i) {
        size_t at = row * size_t(k) + i;
        different += positions[at] != order[i] ||
                     values[at] != in[row * n + size_t(order[i])];
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("the first of the largest and of the smallest elements") {
  constexpr size_t rows = 6, n = 301;
  Buffer<float> x(rows * n);
  std::minstd_rand random(3);
  for (size_t i = 0; i < rows * n; ++i)
    x[i] = float(int(random() % 40) - 20);
  x[n + 7] = x[n + 9] = NAN; // a NaN wins in both
  for (size_t i = 0; i < n; ++i) {
    x[2 * n + i] = -INFINITY;
    x[3 * n + i] = INFINITY;
    x[4 * n + i] = i % 2 ? 0.0f : -0.0f; // equal
  }
  for (bool largest : {true, false}) {
    std::string type = "tensor<6x301xf32>";
    Kernels kernels(function("general", "(%x: " + type + ") -> tensor<6xi32>",
                             std::string("%0 = weft.arg_") +
                                 (largest ? "max" : "min") +
                                 " %x dim 1 : " + type +
                                 " -> tensor<6xi32>\nreturn %0 : "
                                 "tensor<6xi32>\n"));
    Buffer<int32_t> found(rows);
    kernels.run("k", {x.data, found.data});
    for (size_t row = 0; row < rows; ++row) {
      int32_t best = 0;
      for (int32_t i = 1; i < int32_t(n); ++i) {
        float value = x[row * n + size_t(i)], held = x[row * n + size_t(best)];
        if (!std::isnan(held) &&
            (std::isnan(value) || (largest ? value > held : value < held)))
          best = i;
      }
      INFO("row " << row << (largest ? ", largest" : ", smallest"));
      CHECK(found[row] == best);
    }
  }
}
