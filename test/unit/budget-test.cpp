//===- budget-test.cpp - limits on the costs of a program -----------------===//

#include "weft/compiler/explain/Budget.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
std::string refusal(const char *text) {
  std::string error;
  return parseBudget(text, error) ? "" : error;
}

Limit limitOf(const char *text) {
  std::string error;
  auto limits = parseBudget(text, error);
  REQUIRE(limits);
  REQUIRE(limits->size() == 1);
  return limits->front();
}

/// Returns the costs of a plan with two all-reduces, one of which runs three
/// times, and an all-gather.
Explanation program() {
  Explanation it;
  it.collectives.resize(3);
  it.collectives[0].kind = "all_reduce";
  it.collectives[0].bytes = 100;
  it.collectives[1].kind = "all_reduce";
  it.collectives[1].bytes = 40;
  it.collectives[1].count = 3;
  it.collectives[2].kind = "all_gather";
  it.collectives[2].bytes = 7;
  it.memory.weights = 1000;
  it.memory.batch = 24;
  return it;
}
} // namespace

TEST_CASE("a limit is a subject, a relation and a number") {
  CHECK(limitOf("bytes<=4e6").value == 4e6);
  CHECK(limitOf(" bytes <= 1_000 ").value == 1000);
  CHECK(limitOf("memory<64MiB").value == 64.0 * 1024 * 1024);
  CHECK(limitOf("memory<=2.5MB").value == 2.5e6);
  CHECK(limitOf("all_reduce==2").relation == Limit::Relation::Exactly);
  CHECK(limitOf("all_reduce.bytes=2").subject == "all_reduce.bytes");
  std::string error;
  CHECK(parseBudget("all_reduce<=2, bytes<=10", error)->size() == 2);
}

TEST_CASE("a limit holds for any cost that an integer has") {
  for (int64_t cost : {int64_t(1441129890527313900), INT64_MAX}) {
    std::string value = std::to_string(cost);
    CHECK(limitOf(("bytes<=" + value).c_str()).holds(cost));
    CHECK(!limitOf(("bytes<" + value).c_str()).holds(cost));
  }
  CHECK(limitOf("memory<=1e18GiB").holds(INT64_MAX));
  CHECK(wholeQuantity(2.5) == 2);
  CHECK(wholeQuantity(*parseQuantity("1e18GiB")) == INT64_MAX);
}

TEST_CASE("text that is no limit is refused with the part that is wrong") {
  CHECK(refusal("") ==
        "'' is no limit; write it as all_reduce<=2 or bytes<=4e6");
  CHECK(refusal("all_reduce") ==
        "'all_reduce' is no limit; write it as all_reduce<=2 or bytes<=4e6");
  CHECK(refusal("bytes>=4").find("'bytes>=4' is no limit") == 0);
  CHECK(refusal("bytes<=4,").find("'' is no limit") == 0);
  CHECK(refusal("all_reduces<=4")
            .find("'all_reduces' is nothing that can be limited; use bytes, "
                  "memory") == 0);
  CHECK(refusal("memory.bytes<=4").find("'memory.bytes' is nothing") == 0);
  for (const char *text : {"bytes<=", "bytes<=many", "bytes<=-1", "bytes<=4XB",
                           "bytes<=nan", "bytes<=1e999"})
    CHECK(refusal(text).find("is no number; write it as 14336, 4e6 or 64MiB") !=
          std::string::npos);
}

TEST_CASE("subjects are counted as often as a step runs them") {
  Explanation it = program();
  CHECK(costOf(limitOf("collectives<=1"), it) == 5);
  CHECK(costOf(limitOf("bytes<=1"), it) == 100 + 3 * 40 + 7);
  CHECK(costOf(limitOf("memory<=1"), it) == 1024);
  CHECK(costOf(limitOf("all_reduce<=1"), it) == 4);
  CHECK(costOf(limitOf("all_reduce.bytes<=1"), it) == 220);
  CHECK(costOf(limitOf("all_gather<=1"), it) == 1);
  CHECK(costOf(limitOf("exchange<=1"), it) == 0);
  CHECK(spenders(limitOf("all_reduce<=1"), it).front()->bytes ==
        40); // runs 3 times
}

TEST_CASE("a gap is a part of the bytes, and all of it if that is not known") {
  Explanation it = program();
  CHECK(limitOf("gap<=0.01").value == 100);
  // 0.0003 is less than three ten thousandths as a double.
  CHECK(limitOf("gap<=0.0003").holds(3));
  CHECK(refusal("gap<=1MB") ==
        "'1MB' of 'gap<=1MB' is no part of a price; write it as 0.01");
  CHECK(costOf(limitOf("gap<=0.01"), it) == 0);
  REQUIRE(it.totalBytes() == 227);
  it.layouts = {.price = 1'000'000, .mostSaved = 3};
  CHECK(costOf(limitOf("gap<=0.01"), it) == 133); // rounded up
  CHECK(it.leastBytes() == 224);
  // No bound is above the bytes that are counted, nor below none.
  it.layouts->mostSaved = 0;
  CHECK(it.leastBytes() == 227);
  it.layouts->mostSaved = 1000;
  CHECK(it.leastBytes() == 0);
  CHECK(it.gap() == kGapParts);
  CHECK(costText(limitOf("gap<=0.01"), 124) == "0.0124");
  CHECK(costText(limitOf("bytes<=4e6"), 14336) == "14,336");
  CHECK(spenders(limitOf("gap<=0.01"), it).empty());
  it.layouts.reset();
  it.layoutsUnproved = true;
  CHECK(costOf(limitOf("gap<=0.01"), it) == 10'000);
}

TEST_CASE("relations hold up to their border") {
  CHECK(limitOf("bytes<=4").holds(4));
  CHECK_FALSE(limitOf("bytes<4").holds(4));
  CHECK(limitOf("bytes<4").holds(3));
  CHECK(limitOf("bytes=4").holds(4));
  CHECK_FALSE(limitOf("bytes=4").holds(3));
  CHECK_FALSE(limitOf("bytes<=4").holds(5));
}
