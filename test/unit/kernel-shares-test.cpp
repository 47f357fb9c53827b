// The shares of a kernel, as workers run them, give the same bits as one call.
#include "weft/test/unit/codegen-kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;

namespace {

struct Case {
  std::string name, text;
  std::vector<size_t> arguments, results; ///< sizes in bytes
  bool inPlace = false; ///< result i has the memory of argument i
};

std::string type(int64_t rows, int64_t columns, const char *element = "f32") {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "x" + element + ">";
}

/// Returns a kernel of relu(a b + c) that also stores the sum before relu.
Case dotWithEpilogue(int64_t m, int64_t k, int64_t n, bool lhsTransposed,
                     bool rhsTransposed) {
  std::string lhs = lhsTransposed ? type(k, m) : type(m, k),
              rhs = rhsTransposed ? type(n, k) : type(k, n), to = type(m, n);
  std::string bias = "tensor<" + std::to_string(n) + "xf32>";
  std::string body =
      "%0 = weft.dot %a, %b contract [" + std::to_string(1 - lhsTransposed) +
      "] x [" + std::to_string(rhsTransposed) + "] : " + lhs + ", " + rhs +
      " -> " + to + "\n%1 = weft.broadcast %c dims [1] : " + bias + " -> " +
      to + "\n%2 = weft.add %0, %1 : " + to + "\n%3 = weft.relu %2 : " + to +
      "\nreturn %3, %2 : " + to + ", " + to + "\n";
  return {"dot " + std::to_string(m) + "x" + std::to_string(k) + "x" +
              std::to_string(n) + (lhsTransposed ? " lhs transposed" : "") +
              (rhsTransposed ? " rhs transposed" : ""),
          function("dot",
                   "(%a: " + lhs + ", %b: " + rhs + ", %c: " + bias + ") -> (" +
                       to + ", " + to + ")",
                   body),
          {size_t(m * k * 4), size_t(k * n * 4), size_t(n * 4)},
          {size_t(m * n * 4), size_t(m * n * 4)}};
}

Case dotOf(const char *element, size_t bytes, int64_t m, int64_t k, int64_t n) {
  std::string lhs = type(m, k, element), rhs = type(k, n, element),
              to = type(m, n, element);
  return {std::string("dot of ") + element,
          function("dot", "(%a: " + lhs + ", %b: " + rhs + ") -> " + to,
                   "%0 = weft.dot %a, %b contract [1] x [0] : " + lhs + ", " +
                       rhs + " -> " + to + "\nreturn %0 : " + to + "\n"),
          {m * k * bytes, k * n * bytes},
          {m * n * bytes}};
}

/// A product whose sums of f32 wait for the second block of the contraction in
/// planned memory, which comes after the result.
Case narrowedDot(int64_t n) {
  std::string shortOnes = type(n, n, "bf16"), sums = type(n, n);
  size_t bytes = size_t(n * n * 2);
  return {
      "dot of bf16 whose sums are f32",
      function("dot",
               "(%a: " + shortOnes + ", %b: " + shortOnes + ") -> " + shortOnes,
               "%0 = weft.dot %a, %b contract [1] x [0] : " + shortOnes + ", " +
                   shortOnes + " -> " + sums +
                   "\n%1 = weft.convert %0 : " + sums + " -> " + shortOnes +
                   "\nreturn %1 : " + shortOnes + "\n"),
      {bytes, bytes},
      {bytes, 2 * bytes}};
}

Case flat(int64_t n) {
  std::string t = "tensor<" + std::to_string(n) + "xf32>";
  size_t bytes = size_t(n * 4);
  return {"flat " + std::to_string(n),
          function("elementwise",
                   "(%p: " + t + ", %m: " + t + ", %g: " + t + ") -> (" + t +
                       ", " + t + ")",
                   "%0 = weft.add %m, %g : " + t + "\n%1 = weft.exp %0 : " + t +
                       "\n%2 = weft.sub %p, %1 : " + t +
                       "\nreturn %2, %0 : " + t + ", " + t + "\n"),
          {bytes, bytes, bytes},
          {bytes, bytes},
          /*inPlace=*/true};
}

Case rows(int64_t m, int64_t n) {
  std::string t = type(m, n), bias = "tensor<" + std::to_string(n) + "xf32>";
  return {"rows " + std::to_string(m) + "x" + std::to_string(n),
          function("elementwise", "(%x: " + t + ", %b: " + bias + ") -> " + t,
                   "%0 = weft.broadcast %b dims [1] : " + bias + " -> " + t +
                       "\n%1 = weft.tanh %x : " + t +
                       "\n%2 = weft.mul %1, %0 : " + t + "\nreturn %2 : " + t +
                       "\n"),
          {size_t(m * n * 4), size_t(n * 4)},
          {size_t(m * n * 4)}};
}

/// Returns a softmax, whose rows are shared in blocks.
Case softmax(int64_t m, int64_t n) {
  std::string x = type(m, n), r = "tensor<" + std::to_string(m) + "xf32>",
              to = " : " + r + " -> " + x + "\n", from = x + " -> " + r + "\n";
  return {
      "softmax " + std::to_string(m) + "x" + std::to_string(n),
      function("general", "(%x: " + x + ") -> " + x,
               "%0 = weft.reduce max %x dims [1] : " + from +
                   "%1 = weft.broadcast %0 dims [0]" + to +
                   "%2 = weft.sub %x, %1 : " + x + "\n%3 = weft.exp %2 : " + x +
                   "\n%4 = weft.reduce sum %3 dims [1] : " + from +
                   "%5 = weft.broadcast %4 dims [0]" + to +
                   "%6 = weft.div %3, %5 : " + x + "\nreturn %6 : " + x + "\n"),
      {size_t(m * n * 4)},
      {size_t(m * n * 4)}};
}

/// Returns sums over the first dimension, whose columns are shared.
Case columnSums(int64_t m, int64_t n) {
  std::string x = type(m, n), r = "tensor<" + std::to_string(n) + "xf32>";
  return {"sums of columns",
          function("reduce", "(%x: " + x + ") -> " + r,
                   "%0 = weft.reduce sum %x dims [0] : " + x + " -> " + r +
                       "\n%1 = weft.mul %0, %0 : " + r + "\nreturn %1 : " + r +
                       "\n"),
          {size_t(m * n * 4)},
          {size_t(n * 4)}};
}

/// Returns a product of tensors that is shared by the batch, or by columns.
Case product(const std::string &lhs, const std::string &rhs,
             const std::string &dims, const std::string &to,
             std::vector<size_t> arguments, size_t bytes) {
  return {"product " + lhs + " " + rhs,
          function("dot", "(%a: " + lhs + ", %b: " + rhs + ") -> " + to,
                   "%0 = weft.dot %a, %b " + dims + " : " + lhs + ", " + rhs +
                       " -> " + to + "\nreturn %0 : " + to + "\n"),
          std::move(arguments),
          {bytes}};
}

Case transposed(int64_t m, int64_t n) {
  std::string x = type(m, n), y = type(n, m);
  return {"a transpose",
          function("general", "(%x: " + x + ", %y: " + y + ") -> " + y,
                   "%0 = weft.transpose %x [1, 0] : " + x + " -> " + y +
                       "\n%1 = weft.add %0, %y : " + y + "\nreturn %1 : " + y +
                       "\n"),
          {size_t(m * n * 4), size_t(m * n * 4)},
          {size_t(m * n * 4)}};
}

/// Returns a kernel of an op with loops of its own, `op : types`; it has one
/// result of that type.
Case oneOp(const std::string &name, const std::string &signature,
           const std::string &op, const std::string &result,
           std::vector<size_t> arguments, size_t bytes) {
  return {name,
          function("general", signature + " -> " + result,
                   "%r = weft." + op + " -> " + result +
                       "\nreturn %r : " + result + "\n"),
          std::move(arguments),
          {bytes}};
}

std::string pair(int64_t a, int64_t b) {
  return "array<i64: " + std::to_string(a) + ", " + std::to_string(b) + ">";
}

/// Returns a convolution of a 3x3 window over square images, with a stride and
/// base dilation.
Case convolution(int64_t batch, int64_t size, int64_t in, int64_t out,
                 int64_t stride, int64_t base) {
  int64_t places = ((size - 1) * base + 2 - 2) / stride + 1;
  auto image = [&](int64_t n, int64_t features) {
    return "tensor<" + std::to_string(batch) + "x" + std::to_string(n) + "x" +
           std::to_string(n) + "x" + std::to_string(features) + "xf32>";
  };
  std::string x = image(size, in), y = image(places, out),
              w = "tensor<3x3x" + std::to_string(in) + "x" +
                  std::to_string(out) + "xf32>";
  return oneOp(
      "convolution", "(%x: " + x + ", %w: " + w + ")",
      "convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = "
      "array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides "
      "= " +
          pair(stride, stride) + ", low = " + pair(1, 1) +
          ", high = " + pair(1, 1) + ", base_dilation = " + pair(base, base) +
          ", window_dilation = " + pair(1, 1) + "} : " + x + ", " + w,
      y, {size_t(batch * size * size * in * 4), size_t(9 * in * out * 4)},
      size_t(batch * places * places * out * 4));
}

Case sorted(int64_t rows, int64_t columns) {
  std::string x = type(rows, columns), i = type(rows, columns, "i64"),
              types = "(" + x + ", " + i + ")";
  size_t bytes = size_t(rows * columns * 4);
  return {"sort",
          function("general", "(%x: " + x + ", %i: " + i + ") -> " + types,
                   "%r:2 = weft.sort %x, %i dim 1 keys 1 : " + types + " -> " +
                       types + "\nreturn %r#0, %r#1 : " + x + ", " + i + "\n"),
          {bytes, 2 * bytes},
          {bytes, 2 * bytes}};
}

/// Memory of one call: arguments, then results full of NaN, each with a guard.
class Call {
public:
  explicit Call(const Case &c) : inPlace(c.inPlace) {
    for (size_t a = 0; a < c.arguments.size(); ++a) {
      memories.push_back(
          std::make_unique<Buffer<char>>(c.arguments[a] + guard));
      memset(memories[a]->data, 0xFF, memories[a]->size);
      std::minstd_rand random(unsigned(a + 1));
      for (size_t i = 0; i + 4 <= c.arguments[a]; i += 4) {
        // The values are valid operands of every type: f64 and i32 take the
        // bits as they are.
        float value = float(int(random() % 2000) - 1000) / 512;
        memcpy(memories[a]->data + i, &value, 4);
      }
    }
    if (!inPlace)
      for (size_t bytes : c.results) {
        memories.push_back(std::make_unique<Buffer<char>>(bytes + guard));
        memset(memories.back()->data, 0xFF, bytes + guard);
      }
    for (auto &memory : memories)
      pointers.push_back(memory->data);
    for (size_t r = 0; inPlace && r < c.results.size(); ++r)
      pointers.push_back(memories[r]->data);
  }
  void *const *buffers() { return pointers.data(); }
  bool operator==(const Call &other) const {
    for (size_t i = 0; i < memories.size(); ++i)
      if (memcmp(memories[i]->data, other.memories[i]->data,
                 memories[i]->size) != 0)
        return false;
    return true;
  }

private:
  static constexpr size_t guard = 256;
  bool inPlace;
  std::vector<std::unique_ptr<Buffer<char>>> memories;
  std::vector<void *> pointers;
};

void checkShares(const Case &c, const char *target) {
  Kernels kernels(c.text, target);
  INFO(c.name << " for " << target << kernels.error);
  auto kernel = reinterpret_cast<weft_kernel_fn>(kernels.find("k"));
  auto share = reinterpret_cast<weft_kernel_share_fn>(kernels.find("k.share"));
  auto most = static_cast<const uint32_t *>(kernels.find("k.shares"));
  REQUIRE(kernel);
  REQUIRE(share);
  REQUIRE(most);
  CHECK(*most >= 2);
  int64_t coordinate = 0;
  Call expected(c);
  kernel(expected.buffers(), &coordinate);
  std::minstd_rand random(5);
  for (int64_t shares = 1; shares <= 7; ++shares) {
    Call got(c);
    std::vector<int64_t> order(static_cast<size_t>(shares));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t p : order)
      share(got.buffers(), &coordinate, p, shares);
    INFO(shares << " shares");
    CHECK(got == expected);
  }
}

} // namespace

TEST_CASE("all shares of a kernel store the bits of one call") {
  for (const char *target : {weft::test::testTarget(), "cpu:avx2"}) {
    for (bool lhsTransposed : {false, true})
      for (bool rhsTransposed : {false, true}) // along the contraction
        checkShares(dotWithEpilogue(131, 300, 67, lhsTransposed, rhsTransposed),
                    target);
    checkShares(dotWithEpilogue(64, 256, 128, false, false), target);
    checkShares(dotWithEpilogue(784, 17, 203, true, false), target);
    checkShares(dotOf("i32", 4, 101, 150, 99), target);
    checkShares(dotOf("f64", 8, 101, 150, 99), target);
    checkShares(narrowedDot(512), target);
    checkShares(flat(100003), target);
    checkShares(flat(64 * 1024), target);
    checkShares(rows(333, 301), target);
    checkShares(rows(7, 20000), target);
  }
}

TEST_CASE("shares of rows, batches and columns store the bits of one call") {
  for (const char *target :
       {weft::test::testTarget(), "cpu:avx2", "cpu:generic"}) {
    checkShares(softmax(1000, 257), target);
    checkShares(softmax(9, 20001), target);
    checkShares(columnSums(300, 393), target);
    checkShares(transposed(301, 267), target);
    checkShares(product("tensor<24x40x48xf32>", "tensor<24x48x37xf32>",
                        "batch [0] x [0] contract [2] x [1]",
                        "tensor<24x40x37xf32>",
                        {24 * 40 * 48 * 4, 24 * 48 * 37 * 4}, 24 * 40 * 37 * 4),
                target);
    checkShares(product(type(1025, 1024), "tensor<1024xf32>",
                        "contract [1] x [0]", "tensor<1025xf32>",
                        {1025 * 1024 * 4, 4096}, 1025 * 4),
                target);
    checkShares(product("tensor<1024xf32>", type(1024, 1027),
                        "contract [0] x [0]", "tensor<1027xf32>",
                        {4096, 1024 * 1027 * 4}, 1027 * 4),
                target);
    checkShares(product(type(3, 1024), type(1024, 1027), "contract [1] x [0]",
                        type(3, 1027), {3 * 4096, 1024 * 1027 * 4},
                        3 * 1027 * 4),
                target);
  }
}

TEST_CASE("shares of ops with loops of their own store the bits of one call") {
  for (const char *target :
       {weft::test::testTarget(), "cpu:avx2", "cpu:generic"}) {
    checkShares(convolution(6, 16, 8, 24, 1, 1), target);
    checkShares(convolution(1, 65, 6, 17, 2, 1), target);
    checkShares(convolution(5, 12, 16, 9, 1, 2), target);
    checkShares(sorted(50, 700), target);
    // Rows and columns in lanes, of which the last have no line, and matrices.
    for (auto [rows, columns, dim] :
         {std::tuple(300, 60, 1), {60, 600, 0}, {40, 512, 1}}) {
      std::string z = type(rows, columns, "complex<f32>");
      size_t bytes = size_t(rows * columns * 8);
      checkShares(oneOp("fft", "(%x: " + z + ")",
                        "fft fft %x dim " + std::to_string(dim) + " : " + z, z,
                        {bytes}, bytes),
                  target);
    }
    std::string x = type(300, 384), g = type(200, 384),
                windows = "{window = " + pair(3, 1) +
                          ", strides = " + pair(2, 1) +
                          ", low = " + pair(1, 0) + ", high = " + pair(100, 0);
    std::string one = pair(1, 1);
    checkShares(oneOp("pooling", "(%x: " + x + ")",
                      "reduce_window max %x " + windows + ", base_dilation = " +
                          one + ", window_dilation = " + one + "} : " + x,
                      g, {300 * 384 * 4}, 200 * 384 * 4),
                target);
    checkShares(
        oneOp("its derivative", "(%x: " + x + ", %g: " + g + ")",
              "select_and_scatter ge %x, %g " + windows + "} : " + x + ", " + g,
              x, {300 * 384 * 4, 200 * 384 * 4}, 300 * 384 * 4),
        target);
    std::string i = "tensor<200xi32>";
    checkShares(
        oneOp("scatter", "(%x: " + x + ", %g: " + g + ", %i: " + i + ")",
              "scatter sum %x at %i with %g {update_window_dims = "
              "array<i64: 1>, inserted_window_dims = array<i64: 0>, "
              "scatter_dims_to_operand_dims = array<i64: 0>, "
              "index_vector_dim = 1 : i64} : " +
                  x + ", " + i + ", " + g,
              x, {300 * 384 * 4, 200 * 384 * 4, 200 * 4}, 300 * 384 * 4),
        target);
    std::string m = type(96, 96), b = type(96, 512), c = type(512, 96);
    checkShares(oneOp("solving columns", "(%m: " + m + ", %b: " + b + ")",
                      "triangular_solve %m, %b {lower} : " + m + ", " + b, b,
                      {96 * 96 * 4, 96 * 512 * 4}, 96 * 512 * 4),
                target);
    checkShares(oneOp("solving rows", "(%m: " + m + ", %b: " + c + ")",
                      "triangular_solve %m, %b {right} : " + m + ", " + c, c,
                      {96 * 96 * 4, 96 * 512 * 4}, 96 * 512 * 4),
                target);
    std::string batch = "tensor<64x48x48xf32>";
    checkShares({"cholesky",
                 function("general", "(%x: " + batch + ") -> " + batch,
                          "%r = weft.cholesky %x : " + batch +
                              "\nreturn %r : " + batch + "\n"),
                 {64 * 48 * 48 * 4},
                 {64 * 48 * 48 * 4}},
                target);
    checkShares(oneOp("arg_max", "(%x: " + x + ")", "arg_max %x dim 0 : " + x,
                      "tensor<384xi32>", {300 * 384 * 4}, 1536),
                target);
  }
}

TEST_CASE("memory that is too large for a stack comes behind the tensors") {
  constexpr size_t n = 131072;
  Kernels kernels(function(
      "general",
      "(%x: tensor<131072xcomplex<f32>>) -> tensor<131072xcomplex<f32>>", R"(
    %0 = weft.fft fft %x dim 0 : tensor<131072xcomplex<f32>> -> tensor<131072xcomplex<f32>>
    return %0 : tensor<131072xcomplex<f32>>
  )"));
  REQUIRE(kernels.error == "");
  // Two lines, and two groups of 16 columns of 512.
  Buffer<float> x(2 * n), y(2 * n), planned(4 * n + 4 * 16 * 512);
  std::fill(x.data, x.data + x.size, 0.0f);
  x[2] = 1; // exp(-2 pi i k / n)
  kernels.run("k", {x.data, y.data, planned.data});
  double worst = 0;
  for (size_t k = 0; k < n; ++k) {
    double angle = -2 * M_PI * double(k) / double(n);
    worst = std::max({worst, std::fabs(y[2 * k] - std::cos(angle)),
                      std::fabs(y[2 * k + 1] - std::sin(angle))});
  }
  CHECK(worst < 1e-6);
}

TEST_CASE("a kernel that is not worth sharing has no shares") {
  Kernels small(flat(1000).text);
  CHECK(small.find("k"));
  CHECK(!small.find("k.share"));
  CHECK(!small.find("k.shares"));
  // Workers could share the rows of a reduction, but not a sum over all rows.
  Kernels reduce(
      function("reduce", "(%x: tensor<1000x1000xf32>) -> tensor<f32>",
               "%0 = weft.reduce sum %x dims [0, 1] : tensor<1000x1000xf32> -> "
               "tensor<f32>\nreturn %0 : tensor<f32>\n"));
  CHECK(reduce.find("k"));
  CHECK(!reduce.find("k.share"));
}
