//===- choose-sharding-test.cpp - layouts that one op runs with -----------===//
//
// Prices are worked out by hand. An axis has a latency of 1 us and 10 GB/s
// unless a case says otherwise, so a byte moves in 0.1 ns, which is 100,000
// femtoseconds.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/propagation/ChooseSharding.h"
#include "weft/test/unit/OneOp.h"

using namespace weft;
using namespace weft::test;

namespace {
constexpr int64_t kByte = 100'000, kLatency = 1'000'000'000;

using Texts = std::vector<const char *>;

struct Case {
  const char *name, *mesh;
  const OpText &op;
  Texts layouts; ///< layouts of operands and results; "": none is known
  Texts candidates;
  bool conflict;
  const char *runs; ///< layouts required -> produced
};

const OpText kTallDot = {{"tensor<64x4xf32>", "tensor<4x4xf32>"},
                         "weft.dot %0, %1 contract [1] x [0] : "
                         "tensor<64x4xf32>, tensor<4x4xf32> -> "
                         "tensor<64x4xf32>"};
const OpText kDeepDot = {{"tensor<4x64xf32>", "tensor<64x4xf32>"},
                         "weft.dot %0, %1 contract [1] x [0] : "
                         "tensor<4x64xf32>, tensor<64x4xf32> -> "
                         "tensor<4x4xf32>"};
// A dot whose result is used by an addition only, which may add partial sums.
const OpText kAddedDot = {
    kTallDot.types, kTallDot.op + "\n%s = weft.add %r, %r : tensor<64x4xf32>"};
const OpText kLongDot = {{"tensor<8x64xf32>", "tensor<64x4xf32>"},
                         "weft.dot %0, %1 contract [1] x [0] : "
                         "tensor<8x64xf32>, tensor<64x4xf32> -> "
                         "tensor<8x4xf32>"};
const OpText kCat = {
    {"tensor<12x8xf32>", "tensor<12x8xf32>", "tensor<12x8xf32>"},
    "weft.concatenate %0, %1, %2 dim 1 : (tensor<12x8xf32>, "
    "tensor<12x8xf32>, tensor<12x8xf32>) -> tensor<12x24xf32>"};

// The factors of a dot are its rows, the contracted dimension, and its columns.
const Case kCases[] = {
    {"the example of the header",
     "d=4",
     kAdd,
     {"[d,-]", "[-,d]", "[d,-]"},
     {"[d,-]", "[-,d]"},
     true,
     "[d,-] [d,-] -> [d,-]"},
    {"the result decides between two",
     "d=4",
     kAdd,
     {"[d,-]", "[-,d]", "[-,d]"},
     {"[d,-]", "[-,d]"},
     true,
     "[-,d] [-,d] -> [-,d]"},
    {"the first of equal ones",
     "d=4",
     kAdd,
     {"[-,d]", "[d,-]", ""},
     {"[-,d]", "[d,-]"},
     true,
     "[-,d] [-,d] -> [-,d]"},
    {"nothing is split",
     "d=4",
     kAdd,
     {"[-,-]", "", "[-,-]"},
     {"[-,-]"},
     false,
     "[-,-] [-,-] -> [-,-]"},
    {"nothing is said",
     "d=4",
     kAdd,
     {"", "", ""},
     {"[-,-]"},
     false,
     "[-,-] [-,-] -> [-,-]"},
    {"all agree",
     "d=4",
     kAdd,
     {"[d,-]", "[d,-]", "[d,-]"},
     {"[d,-]"},
     false,
     "[d,-] [d,-] -> [d,-]"},
    {"two axes for two dimensions",
     "a=2,b=2",
     kAdd,
     {"[a,-]", "[-,b]", "[a,b]"},
     {"[a,b]", "[a,-]", "[-,b]"},
     false,
     "[a,b] [a,b] -> [a,b]"},
    // The digits overlap, so the axis cannot split both dimensions. Two of the
    // three tensors have split columns.
    {"digits that overlap",
     "a=4",
     kAdd,
     {"[a:(1)2,-]", "[-,a]", "[-,a]"},
     {"[a:(1)2,-]", "[-,a]"},
     true,
     "[-,a] [-,a] -> [-,a]"},
    // The all-reduce would sum all 256 elements of the result; the alternative
    // gathers 16 weights.
    {"a sum over few is dearer than to gather few",
     "d=4",
     kTallDot,
     {"[d,-]", "[d,-]", "[d,-]"},
     {"[d,-,-]", "[-,d,-]"},
     true,
     "[d,-] [-,-] -> [d,-]"},
    // The all-reduce sums 16 elements, and no other op needs the gathered
    // operands.
    {"a small sum is cheaper than to gather",
     "d=4",
     kDeepDot,
     {"[-,d]", "[d,-]", "[-,-]"},
     {"[-,d,-]"},
     false,
     "[-,d] [d,-] -> [-,-]+sum(d)"},
    // Sharded rows cost 768 bytes of the second operand and 24 of the result,
    // in two messages; sharded columns cost 1,536 bytes of the first, in one.
    {"bytes count more than messages",
     "d=4",
     kLongDot,
     {"[d,-]", "[-,d]", "[-,d]"},
     {"[d,-,-]", "[-,-,d]"},
     true,
     "[d,-] [-,-] -> [d,-]"},
    // The all-reduce sends 1,536 bytes, a gather of the first operand 768. The
    // work adds the time of 8 bytes, or of 32.
    {"a sum is given up where to gather is cheaper",
     "d=4",
     kTallDot,
     {"[-,d]", "[-,-]", "[-,-]"},
     {"[-,d,-]"},
     false,
     "[-,-] [-,-] -> [-,-]"},
    {"but not where half of it is cheaper",
     "d=4",
     kAddedDot,
     {"[-,d]", "[-,-]", "[-,-]"},
     {"[-,d,-]"},
     false,
     "[-,d] [d,-] -> [-,-]+sum(d)"},
    {"the many outvote the one",
     "d=4",
     kCat,
     {"[-,d]", "[d,-]", "[d,-]", "[d,-]"},
     {"[-,d]", "[d,-]"},
     true,
     "[d,-] [d,-] [d,-] -> [d,-]"},
};

OpSharding choose(OneOp &it, bool &conflict) {
  ShardingPrices prices(it.mesh);
  return chooseSharding(it.mesh, it.op, it.layouts, prices, conflict);
}

std::vector<std::string> candidatesOf(OneOp &it, bool &conflict) {
  std::vector<std::string> texts;
  for (const FactorAxes &axes :
       listCandidates(it.mesh, it.op, it.layouts, conflict))
    texts.push_back(textOf(it.mesh, axes));
  return texts;
}

OpPrice priceOf(OneOp &it, const FactorAxes &axes) {
  ShardingPrices prices(it.mesh);
  return prices.of(it.op, applyAxes(it.mesh, it.op, axes), it.layouts);
}

OpPrice priceOf(OneOp &it, const char *axes) {
  return priceOf(it, axesOf(it.mesh, axes));
}
} // namespace

TEST_CASE("the cheapest of the candidates is chosen") {
  for (const Case &it : kCases) {
    INFO(it.name);
    OneOp op(it.mesh, it.op, it.layouts);
    INFO(toString(op.op.rule));
    bool conflict = !it.conflict;
    CHECK(candidatesOf(op, conflict) ==
          std::vector<std::string>(it.candidates.begin(), it.candidates.end()));
    CHECK(conflict == it.conflict);
    conflict = !it.conflict;
    CHECK(textOf(op.mesh, choose(op, conflict)) == it.runs);
    CHECK(conflict == it.conflict);
  }
}

TEST_CASE("each part of an op has its own sharding") {
  OpText barrier = {{"tensor<8x12xf32>", "tensor<12x8xf32>"},
                    "%r:2 = weft.optimization_barrier %0, %1 : "
                    "tensor<8x12xf32>, tensor<12x8xf32> -> tensor<8x12xf32>, "
                    "tensor<12x8xf32>"};
  // The first part is in conflict with itself, the second is not.
  OneOp op("d=4", barrier, {"[-,d]", "[d,-]", "[d,-]", "[d,-]"});
  bool conflict = false;
  OpSharding chosen = choose(op, conflict);
  CHECK(conflict);
  CHECK(textOf(op.mesh, chosen) == "[-,d] [d,-] -> [-,d] [d,-]");
  ShardingPrices prices(op.mesh);
  OpPrice price = prices.of(op.op, chosen, op.layouts);
  REQUIRE(price.operands.size() == 2);
  CHECK(price.operands[0] == Price());
  CHECK(price.operands[1] == Price());
  CHECK(price.results == Price{72 * kByte, kLatency, 72});
  // Both parts run 24 iterations.
  CHECK(price.work == Price{2 * 24 * kByte / 32, 0, 0});
}

TEST_CASE("the price of the header's example") {
  OneOp add("d=4", kAdd, {"[d,-]", "[-,d]", "[d,-]"});
  OpPrice rows = priceOf(add, "[d,-]"), columns = priceOf(add, "[-,d]");
  // The tensor has 96 elements of 4 bytes; a device holds a quarter, and keeps
  // a quarter of that.
  Price once = {72 * kByte, kLatency, 72};
  REQUIRE(rows.operands.size() == 2);
  CHECK(rows.operands[0] == Price());
  CHECK(rows.operands[1] == once);
  CHECK(rows.results == Price());
  REQUIRE(columns.operands.size() == 2);
  CHECK(columns.operands[0] == once);
  CHECK(columns.operands[1] == Price());
  CHECK(columns.results == once);
  // A device runs 24 iterations, and 32 take the time of a byte.
  Price work = {24 * kByte / 32, 0, 0};
  CHECK(rows.work == work);
  CHECK(columns.work == work);
  CHECK(rows.total() == once + work);
  CHECK(columns.total() == once + once + work);
  CHECK(priceOf(add, "[-,-]").work == Price{96 * kByte / 32, 0, 0});
}

TEST_CASE("the prices of sums and moves of results") {
  OneOp dot("d=4", kDeepDot, {"[-,d]", "[d,-]", "[-,-]"});
  OpPrice sum = priceOf(dot, "[-,d,-]");
  // The tensor has 64 bytes: 3 quarters come in a reduce_scatter and 3 in an
  // all_gather.
  CHECK(sum.results == Price{96 * kByte, 2 * kLatency, 96});
  CHECK(sum.work == Price{4 * 16 * 4 * kByte / 32, 0, 0});
  // Each result is 8x4: a device holds 2 rows, which are 32 bytes, and sends
  // three quarters of them.
  OneOp top("d=4",
            {{"tensor<8x8xf32>"},
             "%v, %i = weft.top_k %0 dim 1 : tensor<8x8xf32> -> "
             "tensor<8x4xf32>, tensor<8x4xi32>"},
            {"[d,-]", "[-,d]", "[-,d]"});
  FactorAxes axes = mergeFactors(top.mesh, top.op, top.layouts);
  CHECK(priceOf(top, axes).results.bytes == 2 * 24);
}

TEST_CASE("a fetch costs the elements that the busiest device sends") {
  struct Moved {
    const char *op;
    int64_t sent;
  };
  // Each device has 3 of 12 elements.
  for (const Moved &it :
       {Moved{"pad %0 low [1] high [-1] interior [0]", 1},
        Moved{"pad %0 low [4] high [-4] interior [0]", 3},
        Moved{"roll %0 by [1]", 1}, Moved{"roll %0 by [11]", 1},
        Moved{"roll %0 by [7]", 3}, Moved{"reverse %0 dims [0]", 3}}) {
    INFO(it.op);
    bool isPad = it.op[0] == 'p';
    OneOp moved("d=4",
                {{"tensor<12xf32>"},
                 std::string("weft.") + it.op + " : tensor<12xf32>" +
                     (isPad ? " -> tensor<12xf32>" : "")},
                {"[d]", "[d]"});
    OpPrice price = priceOf(moved, "[d]");
    CHECK(price.rest.bytes == 4 * it.sent);
    CHECK(price.rest.waiting == kLatency);
    CHECK(price.rest.moving == 4 * it.sent * kByte);
  }
}

TEST_CASE("a fetch at the end of an operand is sent by the last device") {
  // Device 0 of 2 holds 0..5 and needs 6..8, all of which device 1 sends.
  OneOp slice("d=2",
              {{"tensor<12xf32>"},
               "weft.slice %0 from [6] to [12] by [1] : tensor<12xf32> -> "
               "tensor<6xf32>"},
              {"[d]", "[d]"});
  CHECK(priceOf(slice, "[d]").rest.bytes == 4 * 3);
}

TEST_CASE("repeated work costs in full and less work decides between equals") {
  auto workOf = [](int64_t moving) { return Price{moving, 0, 0}; };
  CHECK(workBeside(workOf(4096), workOf(4096)) == workOf(4));
  CHECK(workBeside(workOf(4096), workOf(1024)) == workOf(3072 + 4));
  CHECK(workBeside(workOf(1024), workOf(4096)) == workOf(1));
}

TEST_CASE("messages take the time of the slowest axis") {
  Mesh mesh = meshOf("a=2,b=4");
  mesh.axes[0].latency = 5e-6;
  mesh.axes[1].bandwidth = 1e9;
  Link a = slowestLink(mesh, SubAxes{{0, 1, 2}}),
       b = slowestLink(mesh, SubAxes{{1, 2, 2}}),
       both = slowestLink(mesh, SubAxes{{1, 1, 4}, {0, 1, 2}});
  CHECK((a.latency == 5e-6 && a.bandwidth == 1e10));
  CHECK((b.latency == 1e-6 && b.bandwidth == 1e9));
  CHECK((both.latency == 5e-6 && both.bandwidth == 1e9));
  Link none = slowestLink(mesh, {});
  CHECK((none.latency == 0 && none.moving(1 << 20) == 0));
  CHECK(Price::of(a, 192) == Price{19'200'000, 5'000'000'000, 192});
  CHECK(Price::of(both, 192) == Price{192'000'000, 5'000'000'000, 192});
  CHECK(Price::of(none, 7) == Price{0, 0, 7});
  // This is the header's example: 192 bytes, 1 us and 10 GB/s.
  CHECK(Price::of({1e-6, 1e10}, 192) == Price{19'200'000, 1'000'000'000, 192});
  CHECK(femtoseconds(1e-15) == 1);
  CHECK(femtoseconds(100) == 100'000'000'000'000'000);
  CHECK(femtoseconds(1000) == femtoseconds(100));
}

TEST_CASE("layouts are compared by moving time, reshards by total time") {
  Price few = {10, 5000, 1}, fast = {20, 1, 2};
  CHECK(movesLess(few, fast));
  CHECK_FALSE(movesLess(fast, few));
  CHECK(takesLess(fast, few));
  CHECK_FALSE(takesLess(few, fast));
  // Latencies decide between equal moving times, bytes do not.
  CHECK(movesLess({10, 1, 9}, {10, 2, 1}));
  CHECK_FALSE(movesLess({10, 1, 1}, {10, 1, 2}));
  // Both prices have the same time; the first has fewer bytes.
  CHECK(takesLess({10, 5, 1}, {5, 10, 2}));
  CHECK_FALSE(takesLess({5, 10, 2}, {10, 5, 1}));
  CHECK_FALSE(takesLess({10, 5, 1}, {10, 5, 1}));
}

TEST_CASE("a mesh that states no links has those of the target") {
  Mesh mesh;
  mesh.axes = {{"a", 4}, {"b", 2}};
  const TargetRates *cpu = ratesOf("cpu:avx2"), *gpu = ratesOf("cuda:sm_90a");
  REQUIRE((cpu && gpu));
  CHECK(withRates(mesh, *cpu).axes[1].bandwidth == 1e10);
  CHECK(withRates(mesh, *gpu).axes[1].bandwidth == 3.6e11);
  CHECK(withRates(mesh, *gpu).axes[0].latency == 1e-5);
  mesh.axes[0].bandwidth = 1e9;
  CHECK(withRates(mesh, *gpu).axes[0].bandwidth == 1e9);
  CHECK(withRates(mesh, *gpu).axes[1].bandwidth == 1e10);
  CHECK(ratesOf("abacus") == nullptr);
  CHECK(ratesOf("native") == &ratesOfCpus());
}

TEST_CASE("repeated work takes the time of the target's devices") {
  OneOp add("d=4", kAdd, {"[d,-]", "[d,-]", "[d,-]"});
  OpSharding whole = applyAxes(add.mesh, add.op, axesOf(add.mesh, "[-,-]"));
  TensorLayouts none(add.op.numTensors());
  ShardingPrices cpu(add.mesh, *ratesOf("cpu:generic"));
  ShardingPrices gpu(add.mesh, *ratesOf("cuda:sm_90a"));
  CHECK(cpu.of(add.op, whole, none).work.moving == 96 * kByte / 32);
  CHECK(gpu.of(add.op, whole, none).work.moving == 960); // 96 of 1e14 a second
}
