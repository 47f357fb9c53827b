//===- window-strategies-test.cpp - convolution and pooling, sharded ------===//
//
// Strides, dilations, groups, transposed convolutions and derivatives along a
// sharded dimension, on meshes of 2 to 8 devices with uneven and empty shards:
// results are compared to the bit, and a device receives no more than the halo,
// whose size is computed here from the windows.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/gradients/ReverseMode.h"
#include "weft/dialects/weft/ops/WindowOps.h"
#include "weft/test/unit/StrategyPrograms.h"

using namespace weft;
using namespace weft::strategies;

namespace {
constexpr int64_t kMeshes[] = {2, 3, 5, 6, 7, 8};

/// A convolution along one dimension, [batch, n, features].
struct Case {
  int64_t n = 8;
  Window window;
  int64_t featureGroups = 1, batchGroups = 1;
  int64_t batch = 2, features = 2, outputs = 1; ///< of a group

  int64_t count() const { return window.count(n); }
  std::vector<int64_t> lhs() const {
    return {batch * batchGroups, n, features * featureGroups};
  }
  std::vector<int64_t> rhs() const {
    return {window.size, features, outputs * featureGroups * batchGroups};
  }
  std::vector<int64_t> result() const {
    return {batch, count(), outputs * featureGroups * batchGroups};
  }
  std::string text() const {
    return "%r0 = weft.convolution %x0, %x1 {lhs_dims = array<i64: 0, 2, 1>, "
           "rhs_dims = array<i64: 2, 1, 0>, result_dims = array<i64: 0, 2, 1>"
           ", strides = " +
           array({window.stride}) + ", low = " + array({window.low}) +
           ", high = " + array({window.high}) +
           ", base_dilation = " + array({window.baseDilation}) +
           ", window_dilation = " + array({window.dilation}) +
           ", feature_groups = " + str(featureGroups) +
           " : i64, batch_groups = " + str(batchGroups) +
           " : i64} : " + tensor(lhs()) + ", " + tensor(rhs()) + " -> " +
           tensor(result());
  }
};

/// Returns the largest number of positions that a device does not hold, between
/// the first and the last that its windows read.
int64_t haloOf(const Window &w, int64_t n, int64_t p) {
  int64_t held = shardSize(n, p), block = shardSize(w.count(n), p), most = 0;
  for (int64_t k = 0; k < p; ++k) {
    int64_t first = block * k * w.stride - w.low, lacks = 0;
    int64_t last = first + (block - 1) * w.stride + (w.size - 1) * w.dilation;
    for (int64_t q = 0; q < n; ++q)
      lacks += q / held != k && q * w.baseDilation >= first &&
               q * w.baseDilation <= last;
    most = std::max(most, lacks);
  }
  return most;
}

template <typename Fn> void forEachWindow(int64_t n, Fn fn) {
  for (int64_t size = 1; size <= 4; ++size)
    for (int64_t stride = 1; stride <= 3; ++stride)
      for (int64_t base = 1; base <= 3; ++base)
        for (int64_t dilation = 1; dilation <= (size > 1 ? 2 : 1); ++dilation)
          for (int64_t low : {-1, 0, 1, 2}) {
            Window w{size, stride, low, 1, base, dilation};
            if (w.count(n) > 0 && !w.isTrivial())
              fn(w);
          }
}

/// Returns the program with the op's derivatives as results; its last argument
/// is the gradient of the op's result.
OwningOpRef<ModuleOp> derivative(const std::string &text) {
  auto module = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(module);
  auto function = module->lookupSymbol<func::FuncOp>("main");
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  Operation *op = &block.front();
  SmallVector<Operation *> tape{op}, created;
  Value grad = block.getArguments().back();
  auto gradients = buildReverse(builder, op->getLoc(), tape, op->getResults(),
                                grad, op->getOperands(), created);
  REQUIRE(succeeded(gradients));
  terminator->setOperands(*gradients);
  return module;
}

constexpr llvm::StringRef kFetchAndSum[] = {"coll.fetch", "coll.all_reduce",
                                            "coll.reduce_scatter"};
constexpr llvm::StringRef kAny[] = {"coll.all_gather",     "coll.all_reduce",
                                    "coll.all_to_all",     "coll.exchange",
                                    "coll.reduce_scatter", "coll.permute",
                                    "coll.fetch"};
} // namespace

TEST_CASE("a convolution exchanges its halos") {
  for (int64_t p : kMeshes)
    for (int64_t n : {1, 4, 7, 12, 16})
      forEachWindow(n, [&](const Window &w) {
        Case c{n, w};
        if (w.size > w.count(n))
          return; // the window is sharded then, see below
        int64_t bytes =
            check(program(p, {{tensor(c.lhs()), 1}, {tensor(c.rhs()), -1}},
                          {{tensor(c.result()), 1}}, c.text()),
                  kFetch);
        int64_t row = 4 * c.lhs()[0] * c.lhs()[2];
        CHECK(bytes <= haloOf(w, n, p) * row);
        if (w.count(n) == n && w.stride == 1 && n % p == 0 && w.low >= 0 &&
            w.high >= 0)
          CHECK(bytes <= (w.size - 1) * w.dilation * row);
      });
}

TEST_CASE("groups of features and of samples keep their windows") {
  for (int64_t p : kMeshes)
    for (int64_t n : {6, 12})
      for (auto [features, samples] :
           {std::pair(2, 1), std::pair(3, 1), std::pair(1, 2), std::pair(1, 3)})
        for (const Window &w : {Window{3, 1, 1, 1}, Window{2, 2, 0, 1, 3},
                                Window{3, 2, 2, 1, 1, 2}, Window{1, 2}}) {
          Case c{n, w, features, samples};
          c.outputs = 2;
          check(program(p, {{tensor(c.lhs()), 1}, {tensor(c.rhs()), -1}},
                        {{tensor(c.result()), 1}}, c.text()),
                kFetch);
          // The sharded dimensions are samples, input features and output
          // features.
          check(program(p, {{tensor(c.lhs()), 0}, {tensor(c.rhs()), -1}},
                        {{tensor(c.result()), 0}}, c.text()),
                kAny);
          check(program(p, {{tensor(c.lhs()), 2}, {tensor(c.rhs()), 1}},
                        {{tensor(c.result()), -1}}, c.text()),
                kAny);
          check(program(p, {{tensor(c.lhs()), 2}, {tensor(c.rhs()), 2}},
                        {{tensor(c.result()), 2}}, c.text()),
                kAny);
        }
}

TEST_CASE("samples and features that are no window move nothing but sums") {
  for (int64_t p : kMeshes)
    for (int64_t size : {1, 3, 8}) {
      Case c{6, Window{3, 1, 1, 1}};
      c.batch = c.features = c.outputs = size;
      check(program(p, {{tensor(c.lhs()), 0}, {tensor(c.rhs()), -1}},
                    {{tensor(c.result()), 0}}, c.text()),
            {});
      check(program(p, {{tensor(c.lhs()), -1}, {tensor(c.rhs()), 2}},
                    {{tensor(c.result()), 2}}, c.text()),
            {});
      check(program(p, {{tensor(c.lhs()), 2}, {tensor(c.rhs()), 1}},
                    {{tensor(c.result()), -1}}, c.text()),
            kSum);
    }
}

TEST_CASE("a window larger than the result is a contraction with halos") {
  for (int64_t p : kMeshes)
    for (int64_t size : {3, 5, 8, 13})
      for (int64_t count : {1, 2, 3})
        for (int64_t stride : {1, 2})
          for (int64_t dilation : {1, 2})
            for (int64_t base : {1, 2})
              for (int64_t low : {-1, 0, 2}) {
                if (size <= count)
                  continue;
                Window w{size, stride, low, 0, base, dilation};
                int64_t n = 9;
                w.high = (count - 1) * stride +
                         Window::dilated(size, dilation) -
                         Window::dilated(n, base) - low;
                Case c{n, w};
                REQUIRE(c.count() == count);
                int64_t bytes = check(
                    program(p, {{tensor(c.lhs()), 1}, {tensor(c.rhs()), 0}},
                            {{tensor(c.result()), -1}}, c.text()),
                    kFetchAndSum);
                // The bound is the halo, and twice the result.
                Window seen{count, dilation, low, w.high, base, stride};
                int64_t sum = 8 * c.result()[0] * count * c.result()[2];
                CHECK(bytes <=
                      haloOf(seen, n, p) * 4 * c.lhs()[0] * c.lhs()[2] + sum);
              }
}

TEST_CASE("derivatives of convolutions exchange halos and sum small tensors") {
  for (int64_t p : kMeshes)
    for (int64_t n : {7, 12, 16})
      for (auto [features, samples] :
           {std::pair(1, 1), std::pair(2, 1), std::pair(1, 2)})
        for (const Window &w :
             {Window{3, 1, 1, 1}, Window{2, 2}, Window{3, 2, 0, 1},
              Window{3, 1, 2, 2, 2}, Window{2, 1, 1, 1, 1, 2},
              Window{3, 2, 1, 1, 3}, Window{1, 2}}) {
          Case c{n, w, features, samples};
          if (c.count() <= w.size)
            continue; // the gathered tensor is no larger than a kernel
          Port x{tensor(c.lhs()), 1}, kernel{tensor(c.rhs()), -1};
          Port y{tensor(c.result()), 1};
          std::string text = program(p, {x, kernel, y}, {x, kernel}, c.text());
          text.replace(text.rfind("return %r0, %r1"), 15, "return %x0, %x1");
          INFO(text);
          check(*derivative(text), kFetchAndSum);
        }
}

TEST_CASE("select-and-scatter and the derivatives of pooling exchange halos") {
  for (int64_t p : kMeshes)
    for (int64_t n : {1, 3, 4, 7, 12, 16})
      for (int64_t size = 1; size <= 4; ++size)
        for (int64_t stride = 1; stride <= 3; ++stride)
          for (int64_t low : {-1, 0, 1, 2})
            for (const char *select : {"ge", "le"}) {
              Window w{size, stride, low, 1};
              int64_t count = w.count(n);
              if (count < 1)
                continue;
              std::string x = tensor({n, 2}), y = tensor({count, 2});
              std::string attributes = "{window = " + array({size, 1}) +
                                       ", strides = " + array({stride, 1}) +
                                       ", low = " + array({low, 0}) +
                                       ", high = " + array({1, 0}) + "}";
              int64_t bytes =
                  check(program(p, {{x, 0}, {y, 0}}, {{x, 0}},
                                std::string("%r0 = weft.select_and_scatter ") +
                                    select + " %x0, %x1 " + attributes + " : " +
                                    x + ", " + y + " -> " + x),
                        kFetch);
              // The bound is both halos of the input, and the windows that
              // reach in.
              Window seen{2 * size - 1, 1, size - 1, size - 1};
              int64_t block = shardSize(n, p), windows = 0;
              for (int64_t k = 0; k < p; ++k) {
                int64_t lacks = 0;
                for (int64_t q = 0; q < count; ++q) {
                  int64_t begin = q * stride - low;
                  lacks += begin > block * k - size &&
                           begin < block * (k + 1) &&
                           q / shardSize(count, p) != k;
                }
                windows = std::max(windows, lacks);
              }
              CHECK(bytes <= (haloOf(seen, n, p) + windows) * 8);
            }
}

TEST_CASE("both dimensions of a pooled image and its derivative") {
  for (int64_t p : {2, 3, 5, 8})
    for (int64_t dim : {0, 1})
      for (int64_t size : {2, 3})
        for (int64_t stride : {1, 2}) {
          Window w{size, stride, 1, 1};
          int64_t n = 9, count = w.count(n);
          std::string x = tensor({n, n}), y = tensor({count, count});
          std::string one = array({1, 1});
          for (const char *kind : {"max", "min", "sum"}) {
            std::string text = program(
                p, {{x, dim}, {y, dim}}, {{x, dim}},
                std::string("%r0 = weft.reduce_window ") + kind +
                    " %x0 {window = " + array({size, size}) + ", strides = " +
                    array({stride, stride}) + ", low = " + one +
                    ", high = " + one + ", base_dilation = " + one +
                    ", window_dilation = " + one + "} : " + x + " -> " + y);
            text.replace(text.rfind("return %r0"), 10, "return %x0");
            INFO(text);
            check(*derivative(text), kFetch);
          }
        }
}
