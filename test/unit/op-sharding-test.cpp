//===- op-sharding-test.cpp - layouts of one op's tensors, by its factors -===//
//
// Axes of an op's factors, the merged axes of factors from the layouts of its
// tensors, and the layouts that the op then requires and produces.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/PermuteTraffic.h"
#include "weft/test/unit/OneOp.h"
#include "weft/test/unit/ParsedProgram.h"

using namespace weft;
using namespace weft::test;

namespace {
struct Merge {
  const char *axes, *more, *both;
  bool complete;
};

// The cases have two factors each, on a mesh of a=8, b=2.
const Merge kMerges[] = {
    {"[-,-]", "[a,b]", "[a,b]", true},
    {"[a,-]", "[-,b]", "[a,b]", true},
    {"[a,-]", "[-,-]", "[a,-]", true},
    {"[a,b]", "[a,b]", "[a,b]", true},
    // One layout continues the other.
    {"[a,-]", "[(a,b),-]", "[(a,b),-]", true},
    {"[(a,b),-]", "[a,-]", "[(a,b),-]", true},
    // The major axes differ.
    {"[a,-]", "[b,-]", "[a,-]", false},
    {"[a,-]", "[(b,a),-]", "[a,-]", false},
    // Another factor has the axis; an axis minor to it would select other
    // elements without it, an axis major to it stays.
    {"[a,-]", "[-,a]", "[a,-]", false},
    {"[a,-]", "[-,(a,b)]", "[a,-]", false},
    {"[a,-]", "[-,(b,a)]", "[a,b]", false},
    {"[a,b]", "[b,a]", "[a,b]", false},
    {"[a,b]", "[(a,b),-]", "[a,b]", false},
    // The axes are digits of one axis: of a position p on a, (1)2 is p / 4,
    // (1)4 is p / 2, (2)2 is p / 2 % 2, (2)4 is p % 4, and (4)2 is p % 2.
    {"[a:(1)2,-]", "[-,a:(2)4]", "[a:(1)2,a:(2)4]", true},
    {"[a:(1)4,-]", "[-,a:(4)2]", "[a:(1)4,a:(4)2]", true},
    {"[a:(4)2,-]", "[-,a:(1)4]", "[a:(4)2,a:(1)4]", true},
    {"[a:(1)2,-]", "[-,a:(1)4]", "[a:(1)2,-]", false},
    {"[a:(1)4,-]", "[-,a:(1)2]", "[a:(1)4,-]", false},
    {"[a:(1)4,-]", "[-,a:(2)2]", "[a:(1)4,-]", false},
    {"[a:(1)4,-]", "[-,a:(2)4]", "[a:(1)4,-]", false},
    {"[a:(2)2,-]", "[-,a]", "[a:(2)2,-]", false},
    {"[a:(1)2,-]", "[(a:(1)2,b),a:(2)2]", "[(a:(1)2,b),a:(2)2]", true},
};

using Texts = std::vector<const char *>;
const OpText kDotOfEqual = {{"tensor<8x8xf32>", "tensor<8x8xf32>"},
                            "weft.dot %0, %1 contract [1] x [0] : "
                            "tensor<8x8xf32>, tensor<8x8xf32> -> "
                            "tensor<8x8xf32>"};
const OpText kWideDot = {{"tensor<4x12xf32>", "tensor<12x24xf32>"},
                         "weft.dot %0, %1 contract [1] x [0] : "
                         "tensor<4x12xf32>, tensor<12x24xf32> -> "
                         "tensor<4x24xf32>"};
const OpText kReshape = {
    {"tensor<4x28x28xf32>"},
    "weft.reshape %0 : tensor<4x28x28xf32> -> tensor<4x784xf32>"};
const OpText kRegroup = {
    {"tensor<2x6xf32>"},
    "weft.reshape %0 : tensor<2x6xf32> -> tensor<6x2xf32>"};
const OpText kMax = {
    {"tensor<8x12xf32>"},
    "weft.reduce max %0 dims [0] : tensor<8x12xf32> -> tensor<12xf32>"};
const OpText kCholesky = {{"tensor<4x6x6xf32>"},
                          "weft.cholesky %0 : tensor<4x6x6xf32>"};
const OpText kScatter = {
    {"tensor<4x6xf32>", "tensor<3xi32>", "tensor<3x6xf32>"},
    "weft.scatter sum %0 at %1 with %2 {update_window_dims = array<i64: 1>, "
    "inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = "
    "array<i64: 0>, index_vector_dim = 1 : i64} : tensor<4x6xf32>, "
    "tensor<3xi32>, tensor<3x6xf32> -> tensor<4x6xf32>"};
const OpText kIota = {{}, "weft.iota dim 0 : tensor<6xi32>"};

struct Case {
  const char *name, *mesh;
  const OpText &op;
  Texts layouts;       ///< layouts of operands and results; "": none is known
  const char *factors; ///< merged
  const char *runs;    ///< layouts required -> produced
};

// The factors of a dot are its rows, the contracted dimension, and its columns.
const Case kCases[] = {
    {"the example of the header",
     "data=2,model=3",
     kDot,
     {"[data,model]", "[-,-]", ""},
     "[data,model,-]",
     "[data,model] [model,-] -> [data,-]+sum(model)"},
    {"the result is annotated as well",
     "data=2,model=3",
     kDot,
     {"", "", "[data,model]"},
     "[data,-,model]",
     "[data,-] [-,model] -> [data,model]"},
    {"nothing is said",
     "d=2",
     kDot,
     {"", "", ""},
     "[-,-,-]",
     "[-,-] [-,-] -> [-,-]"},
    {"sizes that do not divide",
     "d=5",
     kDot,
     {"[-,d]", "", ""},
     "[-,d,-]",
     "[-,d] [d,-] -> [-,-]+sum(d)"},
    {"the larger tensor has the axis",
     "d=2",
     kDot,
     {"[d,-]", "[-,d]", ""},
     "[d,-,-]",
     "[d,-] [-,-] -> [d,-]"},
    {"the larger tensor is the second",
     "d=2",
     kWideDot,
     {"[d,-]", "[-,d]", ""},
     "[-,-,d]",
     "[-,-] [-,d] -> [-,d]"},
    {"the first of equal ones",
     "d=2",
     kDotOfEqual,
     {"[d,-]", "[-,d]", "[-,d]"},
     "[d,-,-]",
     "[d,-] [-,-] -> [d,-]"},
    {"two sums are one",
     "a=2,b=3",
     kDot,
     {"[-,(a,b)]", "", ""},
     "[-,(a,b),-]",
     "[-,(a,b)] [(a,b),-] -> [-,-]+sum(a,b)"},
    {"an axis of two dimensions",
     "d=4",
     kAdd,
     {"[d,-]", "[-,d]", ""},
     "[d,-]",
     "[d,-] [d,-] -> [d,-]"},
    {"digits of one axis",
     "a=8",
     kAdd,
     {"[a:(1)2,-]", "[-,a:(2)4]", ""},
     "[a:(1)2,a:(2)4]",
     "[a:(1)2,a:(2)4] [a:(1)2,a:(2)4] -> [a:(1)2,a:(2)4]"},
    {"digits that overlap",
     "a=8",
     kAdd,
     {"[a:(1)2,-]", "[-,a:(1)4]", ""},
     "[a:(1)2,-]",
     "[a:(1)2,-] [a:(1)2,-] -> [a:(1)2,-]"},
    {"a sum is not passed on",
     "d=2",
     kAdd,
     {"[-,-]+sum(d)", "[-,-]", ""},
     "[-,-]",
     "[-,-] [-,-] -> [-,-]"},
    {"the maximum of rows",
     "d=4",
     kMax,
     {"[d,-]", ""},
     "[d,-]",
     "[d,-] -> [-]+max(d)"},
    {"the maximum of columns",
     "d=4",
     kMax,
     {"[-,d]", ""},
     "[-,d]",
     "[-,d] -> [d]"},
    // The 28 rows are split over 4 of the 8 devices; the result's layout cannot
    // express more of the axis on 784.
    {"an axis is cut to the part that the result can express",
     "x=8",
     kReshape,
     {"[-,x,-]", ""},
     "[-,x,-]",
     "[-,x:(1)4,-] -> [-,x:(1)4]"},
    {"a product takes the axes that divide",
     "x=4",
     kReshape,
     {"", "[-,x]"},
     "[-,x,-]",
     "[-,x,-] -> [-,x]"},
    {"a minor factor alone cannot be expressed",
     "x=4",
     kReshape,
     {"[-,-,x]", ""},
     "[-,-,x]",
     "[-,-,-] -> [-,-]"},
    // ([i, jk]) -> ([ij, k]): the result's layout cannot split j if i is whole,
    // and then the operand's cannot split k, since j is whole.
    {"one cut makes another",
     "x=3,y=2",
     kRegroup,
     {"[-,(x,y)]", ""},
     "[-,x,y]",
     "[-,-] -> [-,-]"},
    {"matrices stay whole",
     "a=2,b=2",
     kCholesky,
     {"[a,b,-]", ""},
     "[a,-,-]",
     "[a,-,-] -> [a,-,-]"},
    {"a source takes any layout", "d=4", kIota, {"[d]"}, "[d]", "-> [d]"},
};

// Two matrices and a number have nothing to do with each other.
const OpText kBarrier = {
    {"tensor<8x12xf32>", "tensor<12x6xf32>", "tensor<f32>"},
    "%r:3 = weft.optimization_barrier %0, %1, %2 : tensor<8x12xf32>, "
    "tensor<12x6xf32>, tensor<f32> -> tensor<8x12xf32>, tensor<12x6xf32>, "
    "tensor<f32>"};

std::string merged(OneOp &it) {
  return textOf(it.mesh, mergeFactors(it.mesh, it.op, it.layouts));
}

std::string applied(OneOp &it) {
  return textOf(it.mesh, applyAxes(it.mesh, it.op,
                                   mergeFactors(it.mesh, it.op, it.layouts)));
}
} // namespace

TEST_CASE("axes of factors are merged, each for one factor") {
  Mesh mesh = meshOf("a=8,b=2");
  for (const Merge &it : kMerges) {
    INFO(it.axes << " and " << it.more);
    FactorAxes axes = axesOf(mesh, it.axes);
    OpWithRule op;
    op.partOfFactor.resize(axes.size());
    CHECK(mergeInto(op, axes, axesOf(mesh, it.more)) == it.complete);
    CHECK(textOf(mesh, axes) == it.both);
  }
}

TEST_CASE("an op requires and produces the layouts of its factors") {
  for (const Case &it : kCases) {
    INFO(it.name);
    OneOp op(it.mesh, it.op, it.layouts);
    INFO(toString(op.op.rule));
    CHECK(merged(op) == it.factors);
    CHECK(applied(op) == it.runs);
  }
}

TEST_CASE("an axis shards one factor of each part of an op") {
  OneOp barrier("x=2", kBarrier, {"[-,x]", "[x,-]", "", "", "", ""});
  CHECK(barrier.op.parts.size() == 3);
  CHECK(barrier.op.elementwise);
  CHECK(merged(barrier) == "[-,x,x,-]");
  CHECK(applied(barrier) == "[-,x] [x,-] [] -> [-,x] [x,-] []");
  FactorAxes axes = axesOf(barrier.mesh, "[-,x,-,-]");
  CHECK(mergeInto(barrier.op, axes,
                  FactorAxes{{}, {}, {fullAxis(barrier.mesh, 0)}, {}}));
  CHECK_FALSE(mergeInto(barrier.op, axes,
                        FactorAxes{{fullAxis(barrier.mesh, 0)}, {}, {}, {}}));
}

TEST_CASE("the accumulator counts once where updates are split") {
  OneOp scatter("d=3", kScatter, {"", "[d]", "", ""});
  CHECK(applied(scatter) == "[-,-]+sum(d) [d] [d,-] -> [-,-]+sum(d)");
}

TEST_CASE("a result is partial in one way: the first factor's") {
  OneOp dot("a=2,b=2",
            {{"tensor<8x6x4xf32>", "tensor<6x4xf32>"},
             "weft.dot %0, %1 contract [1, 2] x [0, 1] : tensor<8x6x4xf32>, "
             "tensor<6x4xf32> -> tensor<8xf32>"},
            {"[-,a,b]", "", ""});
  CHECK(applied(dot) == "[-,a,b] [a,b] -> [-]+sum(a,b)");
  dot.op.rule.factors[2].reduce = ReduceKind::Max;
  CHECK(applied(dot) == "[-,a,-] [a,-] -> [-]+sum(a)");
}

TEST_CASE("kinds of ops") {
  OneOp add("d=2", kAdd, {"", "", ""});
  OneOp dot("d=2", kDot, {"", "", ""});
  OneOp iota("d=2", kIota, {""});
  OneOp cholesky("d=2", kCholesky, {"", ""});
  CHECK((add.op.elementwise && !add.op.source));
  CHECK((!dot.op.elementwise && !dot.op.source));
  CHECK((!iota.op.elementwise && iota.op.source));
  CHECK((!cholesky.op.elementwise && !cholesky.op.source));
  for (unsigned factor = 0; factor < 3; ++factor) {
    CHECK(dot.op.isShardable(factor));
    CHECK(cholesky.op.isShardable(factor) == (factor == 0));
  }
}

TEST_CASE("summands of the same sums, and tensors that nothing splits") {
  Mesh mesh = meshOf("a=2,b=2");
  auto same = [&](const char *a, const char *b) {
    return samePartial(layoutOf(mesh, a), layoutOf(mesh, b));
  };
  CHECK(same("[a]", "[-]"));
  CHECK(same("[a]+sum(b)", "[-]+sum(b)"));
  CHECK_FALSE(same("[-]+sum(b)", "[-]"));
  CHECK_FALSE(same("[-]+sum(b)", "[-]+max(b)"));
  CHECK_FALSE(same("[-]+sum(b)", "[-]+sum(a,b)"));
  Layout whole = layoutOf(mesh, "[-]"), split = layoutOf(mesh, "[a]"),
         sum = layoutOf(mesh, "[-]+sum(a)");
  CHECK(nothingSplit({}));
  CHECK(nothingSplit({nullptr, &whole}));
  CHECK_FALSE(nothingSplit({nullptr, &whole, &split}));
  CHECK_FALSE(nothingSplit({&sum}));
}

TEST_CASE("a member that sends to several others sends its value to each") {
  CHECK(permuteBytes(std::vector<int64_t>{3, 0, 1, 2}, 64) == 64);
  CHECK(permuteBytes(std::vector<int64_t>{0, 0, 0, 0}, 64) == 192);
  CHECK(permuteBytes(std::vector<int64_t>{0, -1, 2}, 64) == 0);
  CHECK(permuteBytes(std::vector<int64_t>{1, 1, 1}, INT64_MAX) == INT64_MAX);
  ParsedProgram program(R"(
    func.func @f(%a: tensor<4x4xf32>) {
      %r = coll.collective_permute %a sources [0, 0, 0, 0]
        over #weft.mesh<"y"=4> ["y"] : tensor<4x4xf32> -> tensor<4x4xf32>
      return
    })");
  auto sends = mlir::cast<plan::PlanInstructionOpInterface>(
      program.function("f").getBody().front().front());
  LocalArray array = {ElementType::Float32, {4, 4}};
  LayoutAttr group = sends.getCommunicatingGroup();
  Mesh mesh = group.getMesh().getMesh();
  SubAxes axes = plan::groupAxes(group);
  CHECK(bytesSent(sends.getCommunication().getCommunication(), {mesh, axes},
                  std::vector{array}, std::vector{array}) == 192);
}

TEST_CASE("a conversion that rounds passes no sums") {
  auto passesSums = [](const std::string &from, const std::string &to) {
    std::string operand = "tensor<4x" + from + ">";
    OneOp it("a=2",
             {{operand.c_str()},
              "weft.convert %0 : " + operand + " -> tensor<4x" + to + ">"},
             {"[-]", ""});
    Linearity linearity = it.op.rule.linearity[0];
    CHECK(passedReduction(linearity, ReduceKind::Max) == ReduceKind::Max);
    return passedReduction(linearity, ReduceKind::Sum) == ReduceKind::Sum;
  };
  CHECK(passesSums("f16", "f32"));
  CHECK(passesSums("bf16", "f32"));
  CHECK(passesSums("f32", "f64"));
  CHECK_FALSE(passesSums("f32", "bf16"));
  CHECK_FALSE(passesSums("f16", "bf16"));
  CHECK_FALSE(passesSums("bf16", "f16"));
}
