//===- ring-traffic-test.cpp - predicted bytes are counted bytes ----------===//
//
// The bytes of each ring collective, for all small sizes and 2 to 9 devices,
// are one number in the report of `weft explain`, in the runtime's counters
// after a run, and by the closed formulas of the ring algorithm (Patarasuk and
// Yuan, 2009, and doc/PERFORMANCE.md of NVIDIA's nccl-tests).
//
//===----------------------------------------------------------------------===//

#include "weft/layout/RingTraffic.h"
#include "weft/test/unit/ExplainedBytes.h"
#include "weft/test/unit/runtime-plan.h"

#include <set>

using namespace weft;
using namespace weft::test;

namespace {
enum class Ring { all_reduce, all_gather, reduce_scatter, all_to_all };

struct Case {
  Ring kind;
  int64_t devices, rows, columns;
  DType dtype;
  std::vector<Axes> from, to; ///< layouts of rows x columns
  Shape before, after;        ///< of one device

  Case(Ring kind, int64_t devices, int64_t rows, int64_t columns, DType dtype)
      : kind(kind), devices(devices), rows(rows), columns(columns),
        dtype(dtype) {
    Axes all = {fullAxis(0, devices)};
    bool gathers = kind == Ring::all_gather, turns = kind == Ring::all_to_all,
         scatters = kind == Ring::reduce_scatter;
    from = {gathers || turns ? all : Axes(), {}};
    to = {scatters ? all : Axes(), turns ? all : Axes()};
    before = PlanBuilder::local({rows, columns}, from);
    after = PlanBuilder::local({rows, columns}, to);
  }
  std::string name() const {
    const char *names[] = {"all_reduce", "all_gather", "reduce_scatter",
                           "all_to_all"};
    return names[int(kind)];
  }
  int64_t bytes(const Shape &shape) const {
    return shape[0] * shape[1] * bytesOf(dtype);
  }

  uint64_t counted() const {
    PlanBuilder p({{"x", devices}});
    uint32_t in = p.input("in", dtype, {rows, columns}, from);
    uint32_t out = p.output("out", dtype, {rows, columns}, to);
    Axes all = {fullAxis(0, devices)};
    if (kind == Ring::all_reduce)
      p.allReduce({in}, {out}, all);
    else if (kind == Ring::all_gather)
      p.allGather(in, out, all, 0);
    else if (kind == Ring::reduce_scatter)
      p.reduceScatter(in, out, all, 0);
    else
      p.allToAll(in, out, all, 1, 0);
    Loaded program(p.image(), "cpu:" + std::to_string(devices), 1);
    REQUIRE(program.run() == "");
    return program.counted(name());
  }

  std::string type(const Shape &shape) const {
    return "memref<" + std::to_string(shape[0]) + "x" +
           std::to_string(shape[1]) + "x" +
           (dtype == DType::f32 ? "f32>" : "i8>");
  }
  std::string plan(const std::string &symbol) const {
    std::string mesh = "#weft.mesh<\"x\"=" + std::to_string(devices) + ">";
    auto layout = [&](const std::vector<Axes> &dims) {
      std::string text;
      for (const Axes &dim : dims)
        text += std::string(text.empty() ? "" : ", ") +
                (dim.empty() ? "{}" : "{\"x\"}");
      return "#weft.layout<" + mesh + ", [" + text + "]>";
    };
    std::string what = kind == Ring::all_reduce ? "#plan.combination<sum>"
                       : kind == Ring::reduce_scatter
                           ? "#plan.combination<sum dim 0>"
                           : "#plan.movement<[" + std::to_string(rows) + ", " +
                                 std::to_string(columns) + "] from " +
                                 layout(from) + " to " + layout(to) + " ring>";
    return "plan.program @" + symbol + " mesh " + mesh +
           " arena 4096 {\n%a = plan.buffer offset 0 : " + type(before) +
           "\n%b = plan.buffer offset 2048 : " + type(after) +
           "\n%0 = plan.start \"" + name() + "\" " + what +
           " (%a) to (%b) over #weft.layout<" + mesh +
           ", [{\"x\"}]> reason \"of the test\" : (" + type(before) + ") to (" +
           type(after) + ")\nplan.wait %0\n}\n";
  }

  /// Checks that the exact rational number of the closed formula lies in (n -
  /// 1, n].
  void checkFormula(int64_t n) const {
    int64_t p = devices, numerator, room = (rows + p - 1) / p * p;
    if (kind == Ring::all_reduce) // 2(p-1)/p of the array
      numerator = 2 * (p - 1) * bytes(before);
    else if (kind == Ring::all_to_all) // (p-1)/p of the array
      numerator = (p - 1) * std::max(bytes(before), bytes(after));
    else // (p-1)/p of the array with its padding
      numerator = (p - 1) * room * columns * bytesOf(dtype);
    REQUIRE(n * p >= numerator);
    REQUIRE((n == 0 || (n - 1) * p < numerator));
  }
};

std::vector<Case> everyCase() {
  std::vector<Case> all;
  for (Ring kind : {Ring::all_reduce, Ring::all_gather, Ring::reduce_scatter,
                    Ring::all_to_all})
    for (int64_t devices = 2; devices <= 9; ++devices)
      for (int64_t rows = 1; rows <= 10; ++rows)
        for (int64_t columns : {1, 2, 7})
          for (DType dtype : {DType::i8, DType::f32})
            all.push_back({kind, devices, rows, columns, dtype});
  return all;
}
} // namespace

TEST_CASE("explained, counted and calculated bytes are one number") {
  std::vector<Case> cases = everyCase();
  REQUIRE(cases.size() == 4 * 8 * 10 * 3 * 2);
  std::set<int64_t> different;
  for (const Case &it : cases) {
    INFO(it.plan("p"));
    int64_t predicted = explainedBytes(it.plan("p"));
    REQUIRE(predicted == static_cast<int64_t>(it.counted()));
    it.checkFormula(predicted);
    different.insert(predicted);
  }
  CHECK(different.size() > 100);
}

TEST_CASE("a number of bytes that no integer holds is the largest") {
  int64_t most = std::numeric_limits<int64_t>::max();
  CHECK(ringBytes(RingKind::AllReduce, 8, most, most) == most);
  CHECK(ringBytes(RingKind::AllReduce, 3, 4, 4) == 6);
}
