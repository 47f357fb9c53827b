//===- base-test.cpp - texts and element types ----------------------------===//

#include "weft/base/ElementTypes.h"
#include "weft/base/Result.h"
#include "weft/base/Text.h"
#include "weft/base/config/OptionReader.h"
#include "weft/base/config/Schedules.h"

#include "catch2/catch.hpp"

#include <limits>
#include <map>
#include <set>
#include <vector>

using namespace weft;

TEST_CASE("digits are grouped by three") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(-999) == "-999");
  CHECK(grouped(-1234567) == "-1,234,567");
  CHECK(grouped(std::numeric_limits<int64_t>::min()) ==
        "-9,223,372,036,854,775,808");
}

TEST_CASE("numbers are joined by a separator") {
  CHECK(joined({}, "x") == "");
  CHECK(joined(std::vector<int64_t>{7}, "x") == "7");
  CHECK(joined(std::vector<int64_t>{2, -1, 3}, ", ") == "2, -1, 3");
}

TEST_CASE("element types have the sizes and names of NumPy") {
  std::set<std::string_view> names, numpy;
  std::set<int> pjrt, xla;
  for (const ElementFacts &facts : kElementTypes) {
    names.insert(facts.name);
    numpy.insert(facts.numpy);
    pjrt.insert(facts.pjrt);
    xla.insert(facts.xla);
    CHECK(facts.bytes() * 8 >= size_t(facts.bits));
    // NumPy's name ends in the bits, or is a float's of at most eight.
    std::string_view digits = facts.numpy;
    digits.remove_prefix(
        std::min(digits.find_first_of("0123456789"), digits.size()));
    if (facts.kind != ElementKind::Bool)
      CHECK(std::stoi(std::string(digits)) == facts.bits);
    auto type = elementTypeNamed(facts.numpy);
    REQUIRE(type);
    CHECK(&factsOf(*type) == &facts);
  }
  CHECK(names.size() == size_t(elementTypeCount));
  CHECK(numpy.size() == size_t(elementTypeCount));
  CHECK(pjrt.size() == size_t(elementTypeCount));
  CHECK(xla.size() == size_t(elementTypeCount));
  CHECK(!elementTypeNamed("float33"));
}

TEST_CASE("arrays carry short types in longer ones") {
  CHECK(carrierOf(ElementType::Float8E5M2) == ElementType::Float32);
  CHECK(carrierOf(ElementType::Float16) == ElementType::Float16);
  CHECK(carrierOf(ElementType::Int4) == ElementType::Int8);
  CHECK(carrierOf(ElementType::UInt2) == ElementType::UInt8);
  CHECK(carrierOf(ElementType::Bool) == ElementType::Bool);
  CHECK(componentType(ElementType::Complex128) == ElementType::Float64);
  CHECK(componentType(ElementType::Int8) == ElementType::Int8);
}

static std::string inCapitals(const Option &option) {
  return option.value.empty() ? "FLAG" : "FLAG(" + option.value + ")";
}

TEST_CASE("a message keeps its options wherever it is put") {
  Message how = "add " + Option{"data", "f.npz"} + " or " + Option{"x"};
  CHECK(how.text() == "add data=f.npz or x");
  CHECK(how.text(inCapitals) == "add FLAG(f.npz) or FLAG");
  Message both = Option{"y"} + ": no array; " + how;
  CHECK(both.text() == "y: no array; add data=f.npz or x");
  CHECK(both.text(inCapitals) == "FLAG: no array; add FLAG(f.npz) or FLAG");
  CHECK(Message(std::string("plain")).text(inCapitals) == "plain");
  CHECK(Message().empty());
}

TEST_CASE("an error gets a place and keeps its status") {
  Error error{"has 3 bytes; leave out " + Option{"x"}, StatusCode::InvalidFile};
  Status placed = Status(error).in("step.weft");
  CHECK(placed.message() == "step.weft: has 3 bytes; leave out x");
  CHECK(placed.code() == StatusCode::InvalidFile);
  CHECK(placed.error().message.text(inCapitals) ==
        "step.weft: has 3 bytes; leave out FLAG");
  CHECK(Status().in("step.weft"));
  CHECK(Status().code() == StatusCode::Ok);
  CHECK(Status(error.in(Option{"devices"})).message() ==
        "devices: has 3 bytes; leave out x");
}

namespace {
template <class Formula> struct ScheduleOf : keras::Configured {
  Formula formula;
  void options(keras::Options &o) override { formula.options(o); }
};

/// The rates of the first steps.
template <class Formula>
std::vector<float> ratesOf(const keras::Json &options, Status status = {}) {
  ScheduleOf<Formula> schedule;
  keras::Fields fields(options, "", status);
  readOptions(schedule, fields);
  CHECK(status);
  std::vector<float> out;
  for (int step = 0; step < 5; ++step)
    out.push_back(schedule.formula.rate(schedules::Single(step)).value);
  return out;
}
} // namespace

// The rates are those of keras.optimizers.schedules, version 3.15.1, on JAX,
// where steps may be any positive numbers.
TEST_CASE("schedules have the rates of Keras") {
  using namespace schedules;
  auto same = [](const std::vector<float> &got, std::vector<float> want) {
    for (size_t i = 0; i < want.size(); ++i)
      CHECK(got[i] == Approx(want[i]).epsilon(1e-6));
  };
  same(ratesOf<ExponentialDecay>({{"initial_learning_rate", 0.1},
                                  {"decay_steps", 2.5},
                                  {"decay_rate", 0.5}}),
       {0.100000001f, 0.0757858306f, 0.0574349165f, 0.0435275249f,
        0.0329876952f});
  same(
      ratesOf<InverseTimeDecay>({{"initial_learning_rate", 0.1},
                                 {"decay_steps", 2.5},
                                 {"decay_rate", 0.7},
                                 {"staircase", true}}),
      {0.100000001f, 0.100000001f, 0.100000001f, 0.0588235296f, 0.0588235296f});
  same(ratesOf<PolynomialDecay>({{"initial_learning_rate", 0.1},
                                 {"decay_steps", 2.5},
                                 {"power", 2},
                                 {"cycle", true}}),
       {0.100000001f, 0.0360640027f, 0.00409599952f, 0.0160839986f,
        0.00409599952f});
  same(ratesOf<CosineDecay>({{"initial_learning_rate", 0.01},
                             {"decay_steps", 3.5},
                             {"alpha", 0.1},
                             {"warmup_target", 0.1},
                             {"warmup_steps", 1.5}}),
       {0.00999999978f, 0.0700000003f, 0.0955435932f, 0.0650134385f,
        0.0269429516f});
  same(ratesOf<CosineDecayRestarts>({{"initial_learning_rate", 0.1},
                                     {"first_decay_steps", 1.5},
                                     {"t_mul", 1.5},
                                     {"m_mul", 0.8},
                                     {"alpha", 0.1}}),
       {0.100000001f, 0.0324999951f, 0.0735775977f, 0.0279999971f,
        0.0668236986f});
  same(ratesOf<PiecewiseConstantDecay>(
           {{"boundaries", {1.5, 3}}, {"values", {1, 0.5, 0.1}}}),
       {1.0f, 1.0f, 0.5f, 0.5f, 0.100000001f});
}

TEST_CASE("a schedule refuses options by name") {
  auto refusal = [](const keras::Json &options) {
    ScheduleOf<schedules::ExponentialDecay> schedule;
    Status status;
    keras::Fields fields(options, "", status);
    readOptions(schedule, fields);
    return status ? "" : status.message();
  };
  keras::Json options = {
      {"initial_learning_rate", 1}, {"decay_steps", 0}, {"decay_rate", 0.5}};
  CHECK(refusal(options) ==
        "\"decay_steps\" must be above 0; give a number of steps");
  options["decay_steps"] = 2;
  CHECK(refusal(options) == "");
  options.erase("decay_rate");
  CHECK(refusal(options) == "needs \"decay_rate\"; add it to its arguments");
}
