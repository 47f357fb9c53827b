// Contractions by cuBLASLt with all strides and epilogues: the library is a
// fake that computes on the fake driver's memory and checks its arguments.
#include "weft/test/unit/runtime-plan.h"

#include <cmath>
#include <functional>
#include <random>

using namespace weft::test;
using Epilogue = ContractionEpilogue;

namespace {

/// A product result[b, i, j] of rows x contract times contract x columns,
/// `batch` times, with operands that may be transposed in memory.
struct Product {
  int64_t batch = 1, rows = 5, columns = 6, contract = 7;
  bool turnsLhs = false, turnsRhs = false;
  Epilogue epilogue = Epilogue::none;
  ContractionCompute compute = ContractionCompute::full;
  int64_t lhsFirst = 0, rhsFirst = 0; ///< elements in front of the operands

  ContractionDim rowDim() const {
    return {rows, turnsLhs ? 1 : contract, 0, columns};
  }
  ContractionDim columnDim() const {
    return {columns, 0, turnsRhs ? contract : 1, 1};
  }
  ContractionDim contractDim() const {
    return {contract, turnsLhs ? rows : 1, turnsRhs ? 1 : columns, 0};
  }
  bool hasBias() const {
    return epilogue != Epilogue::none && epilogue != Epilogue::relu;
  }
};

} // namespace

/// The plan of a product. The fallback does nothing, so only the library's
/// results can be correct.
static PlanBuilder planOf(const Product &product, bool ofLibrary = true) {
  PlanBuilder p({{"x", 1}});
  auto module = std::make_unique<DeviceModuleT>();
  module->chip = "sm_80";
  std::string parameters = ".param .u64 a, .param .u64 b, .param .u64 c";
  for (const char *more : {", .param .u64 d", ", .param .u64 e"})
    if (product.hasBias() || more[14] == 'd')
      parameters += more;
  std::string text = ".version 7.0\n.target sm_80\n.address_size 64\n"
                     ".visible .entry nothing(" +
                     parameters + ")\n{\n\tret;\n}\n";
  module->data.assign(text.begin(), text.end());
  p.program.modules.push_back(std::move(module));
  std::vector<uint32_t> buffers = {
      p.input(
          "lhs", DType::f32,
          {product.lhsFirst + product.batch * product.rows * product.contract},
          {{}}),
      p.input("rhs", DType::f32,
              {product.rhsFirst +
               product.batch * product.contract * product.columns},
              {{}})};
  if (product.hasBias())
    buffers.push_back(p.input("bias", DType::f32, {product.columns}, {{}}));
  buffers.push_back(p.output("result", DType::f32,
                             {product.batch * product.rows * product.columns},
                             {{}}));
  DeviceKernelT code;
  code.symbol = "nothing";
  code.block = {32, 1, 1};
  code.blocks = 1;
  p.kernel(code);
  LibraryContractionT call;
  if (product.batch > 1)
    call.batch = {{product.batch, product.rows * product.contract,
                   product.contract * product.columns,
                   product.rows * product.columns}};
  call.rows = std::make_unique<ContractionDim>(product.rowDim());
  call.columns = std::make_unique<ContractionDim>(product.columnDim());
  call.contract = std::make_unique<ContractionDim>(product.contractDim());
  call.sums = DType::f32;
  call.epilogue = product.epilogue;
  call.compute = product.compute;
  call.lhs_first = product.lhsFirst;
  call.rhs_first = product.rhsFirst;
  if (ofLibrary)
    p.kernel(std::move(call));
  p.launchLast(buffers);
  return p;
}

static std::vector<float> numbers(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(float(int(random() % 2001) - 1000) / 997);
  return out;
}

/// The epilogue by its formula; GELU's is the one with tanh (Hendrycks and
/// Gimpel, Gaussian error linear units, 2016).
static double finish(Epilogue epilogue, double sum, double bias) {
  switch (epilogue) {
  case Epilogue::none:
    return sum;
  case Epilogue::bias:
    return sum + bias;
  case Epilogue::relu:
    return std::max(sum, 0.0);
  case Epilogue::bias_relu:
    return std::max(sum + bias, 0.0);
  case Epilogue::bias_gelu_tanh: {
    double x = sum + bias;
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  }
  return NAN;
}

/// The largest difference from the formula.
static double differenceOf(const Product &its) {
  Loaded program(planOf(its).image(), "cuda:1");
  auto lhs = numbers(its.lhsFirst + its.batch * its.rows * its.contract, 1),
       rhs = numbers(its.rhsFirst + its.batch * its.contract * its.columns, 2),
       bias = numbers(its.columns, 3);
  program.write(0, lhs);
  program.write(1, rhs);
  lhs.erase(lhs.begin(), lhs.begin() + its.lhsFirst);
  rhs.erase(rhs.begin(), rhs.begin() + its.rhsFirst);
  if (its.hasBias())
    program.write(2, bias);
  REQUIRE(program.run() == "");
  auto found =
      program.read<float>(0, size_t(its.batch * its.rows * its.columns));
  double worst = 0;
  for (int64_t b = 0; b < its.batch; ++b)
    for (int64_t i = 0; i < its.rows; ++i)
      for (int64_t j = 0; j < its.columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < its.contract; ++k) {
          int64_t l = its.turnsLhs ? k * its.rows + i : i * its.contract + k,
                  r = its.turnsRhs ? j * its.contract + k : k * its.columns + j;
          sum += double(lhs[size_t(b * its.rows * its.contract + l)]) *
                 double(rhs[size_t(b * its.contract * its.columns + r)]);
        }
        double wanted = finish(its.epilogue, sum, double(bias[size_t(j)]));
        worst = std::max(
            worst,
            std::abs(
                wanted -
                double(found[size_t((b * its.rows + i) * its.columns + j)])));
      }
  return worst;
}

TEST_CASE("products of operands in any order of memory are right") {
  for (bool turnsLhs : {false, true})
    for (bool turnsRhs : {false, true})
      for (int64_t batch : {1, 3}) {
        INFO(turnsLhs << turnsRhs << batch);
        CHECK(differenceOf({.batch = batch,
                            .turnsLhs = turnsLhs,
                            .turnsRhs = turnsRhs}) < 1e-6);
      }
  CHECK(differenceOf({.rows = 1}) < 1e-6);
  CHECK(differenceOf({.columns = 1}) < 1e-6);
  CHECK(differenceOf({.contract = 1}) < 1e-6);
  CHECK(differenceOf({.rows = 1, .columns = 1, .turnsLhs = true}) < 1e-6);
  CHECK(differenceOf({.contract = 300}) < 1e-5); // in parts
}

TEST_CASE("each epilogue computes the function of its name") {
  for (Epilogue epilogue : EnumValuesContractionEpilogue()) {
    INFO(EnumNameContractionEpilogue(epilogue));
    CHECK(differenceOf({.epilogue = epilogue}) < 2e-6);
    CHECK(differenceOf({.batch = 2, .turnsRhs = true, .epilogue = epilogue}) <
          2e-6);
  }
}

TEST_CASE("operands begin at any element of their buffers") {
  for (int64_t first : {16, 3, 1})
    for (int64_t batch : {1, 3}) {
      INFO(first << batch);
      CHECK(differenceOf({.batch = batch, .lhsFirst = first}) < 1e-6);
      CHECK(differenceOf({.batch = batch, .rhsFirst = first}) < 1e-6);
      CHECK(differenceOf({.batch = batch,
                          .turnsLhs = true,
                          .lhsFirst = 2 * first,
                          .rhsFirst = first}) < 1e-6);
    }
}

TEST_CASE("one operand may be the same for the whole batch") {
  Product its{.batch = 3};
  PlanBuilder p = planOf(its);
  auto *call = p.program.kernels[1]->code.Ascontraction();
  call->batch[0] = {3, its.rows * its.contract, 0, its.rows * its.columns};
  Loaded program(p.image(), "cuda:1");
  auto lhs = numbers(3 * its.rows * its.contract, 1);
  auto rhs = numbers(3 * its.contract * its.columns, 2);
  program.write(0, lhs);
  program.write(1, rhs);
  REQUIRE(program.run() == "");
  auto found = program.read<float>(0, size_t(3 * its.rows * its.columns));
  double sum = 0; // the last element of the last sample
  for (int64_t k = 0; k < its.contract; ++k)
    sum += double(lhs[size_t((3 * its.rows - 1) * its.contract + k)]) *
           double(rhs[size_t((k + 1) * its.columns - 1)]);
  CHECK(std::abs(double(found.back()) - sum) < 1e-6);
}

TEST_CASE("f32 has all bits of f32 unless the program says TF32") {
  double rounded = differenceOf({.compute = ContractionCompute::tf32});
  CHECK(rounded > 1e-5);
  CHECK(rounded < 1e-2);
  CHECK(differenceOf({}) < 1e-6);
}

TEST_CASE("operands that no library can address run the program's own code") {
  // Lhs is every other row and column of a matrix, which no leading dimension
  // expresses.
  Product its;
  PlanBuilder p = planOf(its);
  auto *call = p.program.kernels[1]->code.Ascontraction();
  *call->rows = {2, 10, 0, 6};
  *call->contract = {3, 2, 6, 0};
  Loaded program(p.image(), "cuda:1");
  program.write(0, numbers(35, 1));
  program.write(1, numbers(42, 2));
  CHECK(program.run() == "");
}

TEST_CASE("operands of two types are refused") {
  PlanBuilder p = planOf({});
  p.program.buffers[1]->dtype = DType::i32;
  p.program.inputs[1]->dtype = DType::i32;
  Loaded program(p.image(), "cuda:1");
  CHECK(program.run() ==
        "bad plan: contraction 1 of program \"test\" is launched on f32, i32 "
        "and f32; both operands, and all launches, have one type");
}
