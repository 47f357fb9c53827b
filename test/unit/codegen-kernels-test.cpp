// Kernels are compiled to machine code, run, and compared with plain loops.
#include "weft/test/unit/codegen-kernels.h"
#include "weft/test/unit/distance.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <regex>

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;

namespace {

int32_t ulps(float a, float b) {
  if (a == b || (std::isnan(a) && std::isnan(b)))
    return 0;
  int32_t x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  return (x < 0) != (y < 0) ? std::numeric_limits<int32_t>::max()
                            : std::abs(x - y);
}

} // namespace

TEST_CASE("unary ops agree with libm") {
  struct Case {
    const char *op;
    std::function<double(double)> meaning;
    float low, high;
    int allowed;
  };
  const Case cases[] = {
      {"neg", [](double x) { return -x; }, -9, 9, 0},
      {"abs", [](double x) { return std::fabs(x); }, -9, 9, 0},
      {"sign", [](double x) { return x > 0   ? 1
                                     : x < 0 ? -1
                                             : 0; }, -9, 9, 0},
      {"exp", [](double x) { return std::exp(x); }, -80, 80, 2},
      {"expm1", [](double x) { return std::expm1(x); }, -3, 3, 4},
      {"log", [](double x) { return std::log(x); }, 0.001f, 90, 2},
      {"log1p", [](double x) { return std::log1p(x); }, -0.9f, 90, 4},
      {"sqrt", [](double x) { return std::sqrt(x); }, 0, 90, 0},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.001f, 90, 1},
      {"tanh", [](double x) { return std::tanh(x); }, -10, 10, 6},
      {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }, -30, 30, 4},
      {"erf", [](double x) { return std::erf(x); }, -4, 4, 8},
      {"floor", [](double x) { return std::floor(x); }, -9, 9, 0},
      {"relu", [](double x) { return x > 0 ? x : 0; }, -9, 9, 0},
  };
  for (const char *target : {weft::test::testTarget(), "cpu:generic"})
    for (const Case &c : cases) {
      Kernels kernels(
          function(
              "elementwise", "(%x: tensor<7x143xf32>) -> tensor<7x143xf32>",
              "%0 = weft." + std::string(c.op) +
                  " %x : tensor<7x143xf32>\nreturn %0 : tensor<7x143xf32>\n"),
          target);
      Buffer<float> x(1001, c.low, c.high), y(1001);
      kernels.run("k", {x.data, y.data});
      int32_t worst = 0;
      for (int i = 0; i < 1001; ++i)
        worst = std::max(worst, ulps(y[i], float(c.meaning(x[i]))));
      INFO(target << " " << c.op << ": off by " << worst
                  << " units in the last place");
      CHECK(worst <= c.allowed);
    }
}

TEST_CASE("binary ops, comparison, selection and conversion") {
  Kernels kernels(function(
      "elementwise",
      "(%a: tensor<100xf32>, %b: tensor<100xf32>, %i: tensor<100xi32>, %u: "
      "tensor<100xui32>) -> (tensor<100xf32>, tensor<100xf32>, "
      "tensor<100xi32>, tensor<100xi1>, tensor<100xui32>, tensor<100xf32>)",
      R"(
    %0 = weft.sub %a, %b : tensor<100xf32>
    %1 = weft.max %a, %b : tensor<100xf32>
    %2 = weft.mul %0, %1 : tensor<100xf32>
    %3 = weft.compare lt %a, %b : tensor<100xf32>, tensor<100xf32> -> tensor<100xi1>
    %4 = weft.select %3, %a, %2 : tensor<100xi1>, tensor<100xf32>, tensor<100xf32> -> tensor<100xf32>
    %5 = weft.constant dense<3> : tensor<100xi32>
    %6 = weft.div %i, %5 : tensor<100xi32>
    %7 = weft.constant dense<9> : tensor<100xui32>
    %8 = weft.shift_right_logical %u, %7 : tensor<100xui32>
    %9 = weft.convert %i : tensor<100xi32> -> tensor<100xf32>
    return %2, %4, %6, %3, %8, %9 : tensor<100xf32>, tensor<100xf32>, tensor<100xi32>, tensor<100xi1>, tensor<100xui32>, tensor<100xf32>
  )"));
  Buffer<float> a(100), b(100), r0(100), r1(100), r5(100);
  Buffer<int32_t> i(100, -1000, 1000), r2(100);
  Buffer<uint32_t> u(100, 0, 4e9f), r4(100);
  Buffer<int8_t> r3(100);
  kernels.run("k", {a.data, b.data, i.data, u.data, r0.data, r1.data, r2.data,
                    r3.data, r4.data, r5.data});
  for (int k = 0; k < 100; ++k) {
    float product = (a[k] - b[k]) * std::max(a[k], b[k]);
    CHECK(r0[k] == product);
    CHECK(r1[k] == (a[k] < b[k] ? a[k] : product));
    CHECK(r2[k] == i[k] / 3);
    CHECK(r3[k] == (a[k] < b[k]));
    CHECK(r4[k] == u[k] >> 9);
    CHECK(r5[k] == float(i[k]));
  }
}

TEST_CASE("ops that move elements") {
  Kernels kernels(function("general",
                           "(%x: tensor<4x6xf32>) -> (tensor<6x4xf32>, "
                           "tensor<3x8xf32>, tensor<2x2xf32>, tensor<7x8xf32>, "
                           "tensor<4x12xf32>, tensor<4x6xi32>, tensor<3xf32>)",
                           R"(
    %0 = weft.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
    %1 = weft.reshape %x : tensor<4x6xf32> -> tensor<3x8xf32>
    %2 = weft.slice %x from [1, 1] to [4, 5] by [2, 3] : tensor<4x6xf32> -> tensor<2x2xf32>
    %3 = weft.pad %x low [0, 1] high [0, 1] interior [1, 0] : tensor<4x6xf32> -> tensor<7x8xf32>
    %4 = weft.neg %x : tensor<4x6xf32>
    %5 = weft.concatenate %x, %4 dim 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
    %6 = weft.iota dim 1 : tensor<4x6xi32>
    %7 = weft.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
    %8 = weft.add %7, %7 : tensor<3xf32>
    return %0, %1, %2, %3, %5, %6, %8 : tensor<6x4xf32>, tensor<3x8xf32>, tensor<2x2xf32>, tensor<7x8xf32>, tensor<4x12xf32>, tensor<4x6xi32>, tensor<3xf32>
  )"));
  Buffer<float> x(24), transposed(24), reshaped(24), sliced(4), padded(56),
      joined(48), doubled(3);
  Buffer<int32_t> counted(24);
  kernels.run("k", {x.data, transposed.data, reshaped.data, sliced.data,
                    padded.data, joined.data, counted.data, doubled.data});
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 6; ++j) {
      CHECK(transposed[j * 4 + i] == x[i * 6 + j]);
      CHECK(reshaped[i * 6 + j] == x[i * 6 + j]);
      CHECK(padded[2 * i * 8 + j + 1] == x[i * 6 + j]);
      CHECK(joined[i * 12 + j] == x[i * 6 + j]);
      CHECK(joined[i * 12 + 6 + j] == -x[i * 6 + j]);
      CHECK(counted[i * 6 + j] == j);
    }
  for (int j = 0; j < 8; ++j)
    CHECK(padded[8 + j] == 0);
  CHECK(padded[0] == 0);
  CHECK(padded[7] == 0);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      CHECK(sliced[i * 2 + j] == x[(1 + 2 * i) * 6 + 1 + 3 * j]);
  CHECK(doubled[2] == 8);
}

TEST_CASE("positions that wrap around, and those that are clamped") {
  Kernels kernels(function("general",
                           "(%x: tensor<4x6xf32>, %at: tensor<3x1xi32>) -> "
                           "(tensor<4x6xf32>, tensor<3x6xf32>)",
                           R"(
    %0 = weft.roll %x by [1, -2] : tensor<4x6xf32>
    %1 = weft.gather %x at %at {collapsed_slice_dims = array<i64: 0>, index_vector_dim = 1 : i64, offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>} : tensor<4x6xf32>, tensor<3x1xi32> -> tensor<3x6xf32>
    return %0, %1 : tensor<4x6xf32>, tensor<3x6xf32>
  )"));
  Buffer<float> x(24), rolled(24), gathered(18);
  Buffer<int32_t> at(3);
  int32_t asked[] = {-2, 2, 9}, found[] = {0, 2, 3};
  std::copy(asked, asked + 3, at.data);
  kernels.run("k", {x.data, at.data, rolled.data, gathered.data});
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < 4; ++i)
      CHECK(rolled[(i + 1) % 4 * 6 + (j + 4) % 6] == x[i * 6 + j]);
    for (int i = 0; i < 3; ++i)
      CHECK(gathered[i * 6 + j] == x[found[i] * 6 + j]);
  }
}

TEST_CASE("reductions over any dimensions") {
  Kernels kernels(function(
      "reduce",
      "(%x: tensor<5x6x37xf32>, %i: tensor<40xi32>) -> (tensor<5x6xf32>, "
      "tensor<6x37xf32>, tensor<37xf32>, tensor<f32>, tensor<i32>)",
      R"(
    %0 = weft.reduce sum %x dims [2] : tensor<5x6x37xf32> -> tensor<5x6xf32>
    %1 = weft.reduce max %x dims [0] : tensor<5x6x37xf32> -> tensor<6x37xf32>
    %2 = weft.reduce sum %x dims [0, 1] : tensor<5x6x37xf32> -> tensor<37xf32>
    %3 = weft.reduce min %x dims [0, 1, 2] : tensor<5x6x37xf32> -> tensor<f32>
    %4 = weft.reduce max %i dims [0] : tensor<40xi32> -> tensor<i32>
    return %0, %1, %2, %3, %4 : tensor<5x6xf32>, tensor<6x37xf32>, tensor<37xf32>, tensor<f32>, tensor<i32>
  )"));
  Buffer<float> x(5 * 6 * 37), r0(30), r1(6 * 37), r2(37), r3(1);
  Buffer<int32_t> i(40, -900, 900), r4(1);
  kernels.run("k",
              {x.data, i.data, r0.data, r1.data, r2.data, r3.data, r4.data});
  auto at = [&](int a, int b, int c) { return x[(a * 6 + b) * 37 + c]; };
  float smallest = 99;
  for (int b = 0; b < 6; ++b)
    for (int c = 0; c < 37; ++c) {
      float largest = -99;
      for (int a = 0; a < 5; ++a) {
        largest = std::max(largest, at(a, b, c));
        smallest = std::min(smallest, at(a, b, c));
      }
      CHECK(r1[b * 37 + c] == largest);
    }
  CHECK(r3[0] == smallest);
  CHECK(r4[0] == *std::max_element(i.data, i.data + 40));
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 6; ++b) {
      double sum = 0;
      for (int c = 0; c < 37; ++c)
        sum += at(a, b, c);
      CHECK(r0[a * 6 + b] == Approx(sum).margin(1e-5));
    }
  for (int c = 0; c < 37; ++c) {
    double sum = 0;
    for (int ab = 0; ab < 30; ++ab)
      sum += x[ab * 37 + c];
    CHECK(r2[c] == Approx(sum).margin(1e-5));
  }
}

TEST_CASE("softmax rows with an internal scratch") {
  Kernels kernels(
      function("general", "(%x: tensor<16x10xf32>) -> tensor<16x10xf32>", R"(
    %0 = weft.reduce max %x dims [1] : tensor<16x10xf32> -> tensor<16xf32>
    %1 = weft.broadcast %0 dims [0] : tensor<16xf32> -> tensor<16x10xf32>
    %2 = weft.sub %x, %1 : tensor<16x10xf32>
    %3 = weft.exp %2 : tensor<16x10xf32>
    %4 = weft.reduce sum %3 dims [1] : tensor<16x10xf32> -> tensor<16xf32>
    %5 = weft.broadcast %4 dims [0] : tensor<16xf32> -> tensor<16x10xf32>
    %6 = weft.div %3, %5 : tensor<16x10xf32>
    return %6 : tensor<16x10xf32>
  )"));
  Buffer<float> x(160), y(160);
  kernels.run("k", {x.data, y.data});
  for (int i = 0; i < 16; ++i) {
    double sum = 0;
    for (int j = 0; j < 10; ++j)
      sum += std::exp(double(x[i * 10 + j]));
    for (int j = 0; j < 10; ++j)
      CHECK(y[i * 10 + j] ==
            Approx(std::exp(double(x[i * 10 + j])) / sum).epsilon(1e-5));
  }
}

TEST_CASE("contractions of every orientation") {
  for (auto [m, n, k] : {std::array<int, 3>{16, 200, 784},
                         {128, 10, 200},
                         {7, 33, 5},
                         {1, 37, 19},
                         {13, 1, 64},
                         {784, 128, 16},
                         {65, 31, 130}})
    for (int lhsTransposed : {0, 1})
      for (int rhsTransposed : {0, 1})
        for (const char *target : {weft::test::testTarget(), "cpu:avx2"}) {
          auto type = [](int a, int b) {
            return "tensor<" + std::to_string(a) + "x" + std::to_string(b) +
                   "xf32>";
          };
          std::string lhs = lhsTransposed ? type(k, m) : type(m, k),
                      rhs = rhsTransposed ? type(n, k) : type(k, n);
          std::string bias = "tensor<" + std::to_string(n) + "xf32>";
          Kernels kernels(
              function("dot",
                       "(%a: " + lhs + ", %b: " + rhs + ", %c: " + bias +
                           ") -> " + type(m, n),
                       "%0 = weft.dot %a, %b contract [" +
                           std::to_string(1 - lhsTransposed) + "] x [" +
                           std::to_string(rhsTransposed) + "] : " + lhs + ", " +
                           rhs + " -> " + type(m, n) +
                           "\n%1 = weft.broadcast %c dims [1] : " + bias +
                           " -> " + type(m, n) + "\n%2 = weft.add %0, %1 : " +
                           type(m, n) + "\n%3 = weft.relu %2 : " + type(m, n) +
                           "\nreturn %3 : " + type(m, n) + "\n"),
              target);
          Buffer<float> a(size_t(m) * k), b(size_t(k) * n), c(n),
              r(size_t(m) * n);
          kernels.run("k", {a.data, b.data, c.data, r.data});
          double worst = 0;
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
              double sum = c[j];
              for (int p = 0; p < k; ++p)
                sum += double(lhsTransposed ? a[p * m + i] : a[i * k + p]) *
                       double(rhsTransposed ? b[j * k + p] : b[p * n + j]);
              worst = std::max(worst, weft::test::distance(std::max(sum, 0.0),
                                                           r[i * n + j]));
            }
          INFO(target << " " << m << "x" << k << "x" << n << " transposed "
                      << lhsTransposed << rhsTransposed);
          CHECK(worst < 1e-5 * k + 1e-5);
        }
}

TEST_CASE("batched contraction of integers and floats") {
  Kernels kernels(function(
      "dot",
      "(%a: tensor<3x2x5xi32>, %b: tensor<5x3x4xi32>) -> tensor<3x2x4xi32>", R"(
    %0 = weft.dot %a, %b batch [0] x [1] contract [2] x [0] : tensor<3x2x5xi32>, tensor<5x3x4xi32> -> tensor<3x2x4xi32>
    return %0 : tensor<3x2x4xi32>
  )"));
  Buffer<int32_t> a(30, -9, 9), b(60, -9, 9), r(24);
  kernels.run("k", {a.data, b.data, r.data});
  for (int g = 0; g < 3; ++g)
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) {
        int sum = 0;
        for (int p = 0; p < 5; ++p)
          sum += a[(g * 2 + i) * 5 + p] * b[(p * 3 + g) * 4 + j];
        CHECK(r[(g * 2 + i) * 4 + j] == sum);
      }
}

TEST_CASE("threefry bits are those of JAX") {
  // The expected values are jax.random.bits(jax.random.key(0), (4,)): the
  // partitionable form is threefry2x32((0, 0), (0, i)), out0 ^ out1.
  Kernels kernels(
      function("elementwise", "(%k: tensor<2xui32>) -> tensor<2x2xui32>", R"(
    %0 = weft.rng_bits %k : tensor<2xui32> -> tensor<2x2xui32>
    return %0 : tensor<2x2xui32>
  )"));
  Buffer<uint32_t> key{0, 0}, r(4);
  kernels.run("k", {key.data, r.data});
  // The expected words are Random123's known answer for threefry2x32-20, key 0,
  // counter 0.
  CHECK(r[0] == (0x6b200159u ^ 0x99ba4efeu));
}

TEST_CASE("coordinates choose the local block") {
  std::string group = "over #weft.mesh<\"x\"=2, \"y\"=4> [\"y\"]";
  Kernels kernels(function(
      "general",
      "(%x: tensor<7xf32>) -> (tensor<2xf32>, tensor<7xf32>, tensor<i64>)",
      "%0 = coll.slice %x dim 0 " + group + R"( : tensor<7xf32> -> tensor<2xf32>
    %1 = coll.make_partial sum %x )" +
          group + R"( : tensor<7xf32>
    %2 = coll.coordinate )" +
          group + R"( : tensor<i64>
    return %0, %1, %2 : tensor<2xf32>, tensor<7xf32>, tensor<i64>
  )"));
  Buffer<float> x(7), block(2), partial(7);
  Buffer<int64_t> coordinate(1);
  kernels.run("k", {x.data, block.data, partial.data, coordinate.data}, {1, 2});
  CHECK(block[0] == x[4]);
  CHECK(block[1] == x[5]);
  CHECK(partial[3] == 0);
  CHECK(coordinate[0] == 2);
  kernels.run("k", {x.data, block.data, partial.data, coordinate.data}, {1, 0});
  CHECK(partial[3] == x[3]);
}

TEST_CASE("an elementwise kernel works in place") {
  Kernels kernels(
      function("elementwise",
               "(%p: tensor<1000xf32>, %m: tensor<1000xf32>, %g: "
               "tensor<1000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>)",
               R"(
    %0 = weft.add %m, %g : tensor<1000xf32>
    %1 = weft.sub %p, %0 : tensor<1000xf32>
    return %1, %0 : tensor<1000xf32>, tensor<1000xf32>
  )"));
  Buffer<float> p(1000), m(1000), g(1000), before(1000), moment(1000);
  std::copy(p.data, p.data + 1000, before.data);
  std::copy(m.data, m.data + 1000, moment.data);
  kernels.run("k", {p.data, m.data, g.data, p.data, m.data});
  for (int i = 0; i < 1000; ++i) {
    CHECK(m[i] == moment[i] + g[i]);
    CHECK(p[i] == before[i] - m[i]);
  }
}

TEST_CASE("the same kernels give the same bytes, cached or not") {
  std::string text =
      function("elementwise", "(%x: tensor<9xf32>) -> tensor<9xf32>",
               "%0 = weft.exp %x : tensor<9xf32>\nreturn %0 : tensor<9xf32>\n");
  char folder[] = "/tmp/weft-cache-XXXXXX";
  REQUIRE(mkdtemp(folder));
  weft::CodegenOptions options;
  options.cacheDir = folder;
  Kernels first(text, weft::test::testTarget(), options),
      second(text, weft::test::testTarget(), options), third(text);
  CHECK(first.image == second.image);
  CHECK(first.image == third.image);
  for (const auto &file : std::filesystem::directory_iterator(folder))
    if (file.path().filename().string().starts_with("llvmcache-"))
      std::filesystem::resize_file(file, 100);
  Kernels damaged(text, weft::test::testTarget(), options);
  CHECK(first.image == damaged.image);
  CHECK(std::filesystem::remove_all(folder) > 1);
}

TEST_CASE("a body that cannot be compiled is an error on the kernel") {
  Kernels kernels(function(
      "elementwise", "(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<f32>)", R"(
    %0 = weft.exp %x : tensor<9xf32>
    %1 = weft.constant dense<0.0> : tensor<f32>
    return %0, %1 : tensor<9xf32>, tensor<f32>
  )"));
  CHECK(kernels.error.find("kernel 'k' is called elementwise but needs 2 loop "
                           "nests instead of 1") != std::string::npos);
  Kernels small(function("general", "(%x: tensor<9xi3>) -> tensor<9xi3>", R"(
    %0 = weft.neg %x : tensor<9xi3>
    return %0 : tensor<9xi3>
  )"));
  CHECK(small.error.find("elements of 'i3' have no CPU code; convert them to "
                         "i2, i4, i8 or a float of 4, 8, 16, 32 or 64 bits") !=
        std::string::npos);
}

// This case is not part of the test run: `codegen-kernels-test [speed]` prints
// figures.
TEST_CASE("speed of kernels", "[.speed]") {
  auto seconds = [](const std::function<void()> &run) {
    run();
    double best = 1e9;
    for (int i = 0; i < 30; ++i) {
      auto start = std::chrono::steady_clock::now();
      for (int j = 0; j < 20; ++j)
        run();
      best = std::min(best, std::chrono::duration<double>(
                                std::chrono::steady_clock::now() - start)
                                    .count() /
                                20);
    }
    return best;
  };
  struct Dot {
    size_t m, k, n;
    bool lhsTransposed, rhsTransposed;
  };
  for (Dot d : {Dot{16, 784, 200, false, false},
                {128, 784, 128, false, false},
                {784, 16, 128, true, false},
                {784, 16, 200, true, false},
                {16, 200, 784, false, true},
                {128, 128, 128, false, true},
                {16, 200, 10, false, false},
                {512, 512, 512, false, false}}) {
    auto type = [](int a, int b) {
      return "tensor<" + std::to_string(a) + "x" + std::to_string(b) + "xf32>";
    };
    std::string lhs = d.lhsTransposed ? type(d.k, d.m) : type(d.m, d.k),
                rhs = d.rhsTransposed ? type(d.n, d.k) : type(d.k, d.n);
    Kernels kernels(function(
        "dot", "(%a: " + lhs + ", %b: " + rhs + ") -> " + type(d.m, d.n),
        "%0 = weft.dot %a, %b contract [" +
            std::to_string(1 - d.lhsTransposed) + "] x [" +
            std::to_string(d.rhsTransposed) + "] : " + lhs + ", " + rhs +
            " -> " + type(d.m, d.n) + "\nreturn %0 : " + type(d.m, d.n) +
            "\n"));
    Buffer<float> a(d.m * d.k), b(d.k * d.n), r(d.m * d.n);
    double time = seconds([&] { kernels.run("k", {a.data, b.data, r.data}); });
    printf("dot %zux%zux%zu%s%s: %.1f GFLOP/s\n", d.m, d.k, d.n,
           d.lhsTransposed ? " lhs transposed" : "",
           d.rhsTransposed ? " rhs transposed" : "",
           2e-9 * d.m * d.k * d.n / time);
  }
  std::string text =
      function("elementwise",
               "(%p: T, %m: T, %v: T, %g: T, %a: tensor<f32>) -> (T, T, T)", R"(
    %b1 = weft.constant dense<0.1> : T
    %b2 = weft.constant dense<0.001> : T
    %e = weft.constant dense<1.0e-7> : T
    %0 = weft.sub %g, %m : T
    %1 = weft.mul %0, %b1 : T
    %2 = weft.add %m, %1 : T
    %3 = weft.mul %g, %g : T
    %4 = weft.sub %3, %v : T
    %5 = weft.mul %4, %b2 : T
    %6 = weft.add %v, %5 : T
    %7 = weft.sqrt %6 : T
    %8 = weft.add %7, %e : T
    %9 = weft.broadcast %a dims [] : tensor<f32> -> T
    %10 = weft.mul %2, %9 : T
    %11 = weft.div %10, %8 : T
    %12 = weft.sub %p, %11 : T
    return %12, %2, %6 : T, T, T
  )");
  Kernels adam(
      std::regex_replace(text, std::regex("\\bT\\b"), "tensor<156800xf32>"));
  INFO(adam.error);
  Buffer<float> p(156800), m(156800), v(156800, 0, 1), g(156800), rate{0.001f};
  double time = seconds([&] {
    adam.run("k", {p.data, m.data, v.data, g.data, rate.data, p.data, m.data,
                   v.data});
  });
  printf("adam of 784x200 in place: %.1f GB/s\n", 7e-9 * 156800 * 4 / time);
}
