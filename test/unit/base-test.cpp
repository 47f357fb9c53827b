//===- base-test.cpp - texts and element types ----------------------------===//

#include "weft/base/ElementTypes.h"
#include "weft/base/Result.h"
#include "weft/base/Text.h"

#include "catch2/catch.hpp"

#include <limits>
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
