//===- buffer-exchange-test.cpp - places that rounds exchange -------------===//

#include "weft/passes/planning/BufferExchange.h"

#include <catch2/catch.hpp>

using namespace weft;

namespace {
constexpr int64_t kLarge = BufferExchange::kLeastBytes;

Place argument(unsigned index) { return {PlaceKind::Argument, index}; }
Place arena(unsigned index) { return {PlaceKind::Arena, index}; }

/// All places but constants may be exchanged.
BufferExchange exchangeOf(llvm::ArrayRef<CarriedPlaces> carried) {
  return {carried,
          [](Place place) { return place.kind != PlaceKind::Constant; }};
}

/// Whether each place of the first round has an own place in every round.
bool isPermutation(const BufferExchange &exchange,
                   llvm::ArrayRef<Place> places) {
  for (unsigned round = 0; round < exchange.rounds(); ++round)
    for (Place a : places)
      for (Place b : places)
        if (a != b && exchange.after(a, round) == exchange.after(b, round))
          return false;
  return true;
}
} // namespace

TEST_CASE("two values that are swapped exchange their buffers") {
  BufferExchange exchange = exchangeOf({{argument(0), argument(1), kLarge},
                                        {argument(1), argument(0), kLarge},
                                        {arena(4), arena(4), kLarge}});
  REQUIRE(exchange.rounds() == 2);
  CHECK(exchange.after(argument(0), 1) == argument(1));
  CHECK(exchange.after(argument(1), 1) == argument(0));
  CHECK(exchange.after(argument(0), 2) == argument(0));
  CHECK(exchange.after(arena(4), 1) == arena(4));
}

TEST_CASE("circles of two and of three are the same again after six rounds, "
          "which are too many bodies") {
  llvm::SmallVector<CarriedPlaces> three{{arena(0), arena(1), kLarge},
                                         {arena(1), arena(2), kLarge},
                                         {arena(2), arena(0), kLarge}};
  CHECK(exchangeOf(three).rounds() == 3);
  three.push_back({arena(3), arena(4), kLarge});
  three.push_back({arena(4), arena(3), kLarge});
  CHECK(exchangeOf(three).rounds() == 1);
  CHECK(exchangeOf(three).places().empty());
}

TEST_CASE("a value that a round computes elsewhere takes turns with its old "
          "place") {
  BufferExchange exchange = exchangeOf({{arena(0), arena(7), kLarge}});
  REQUIRE(exchange.rounds() == 2);
  CHECK(exchange.after(arena(0), 1) == arena(7));
  CHECK(exchange.after(arena(7), 1) == arena(0));
}

TEST_CASE("what is copied, and what stays, is not exchanged") {
  Place constant{PlaceKind::Constant, 0};
  // The first becomes the second, which stays.
  CHECK(exchangeOf({{arena(0), arena(1), kLarge}, {arena(1), arena(1), kLarge}})
            .rounds() == 1);
  CHECK(exchangeOf({{arena(0), constant, kLarge}}).rounds() == 1);
  CHECK(exchangeOf({{arena(0), arena(1), kLarge - 1}}).rounds() == 1);
  // Both become the third, of which one copy is left.
  BufferExchange exchange =
      exchangeOf({{arena(0), arena(2), kLarge}, {arena(1), arena(2), kLarge}});
  REQUIRE(exchange.rounds() == 2);
  CHECK(exchange.after(arena(0), 1) == arena(2));
  CHECK(exchange.after(arena(1), 1) == arena(1));
  CHECK(isPermutation(exchange, {arena(0), arena(1), arena(2)}));
}

TEST_CASE("a chain that ends in a constant is closed") {
  BufferExchange exchange =
      exchangeOf({{arena(0), arena(1), kLarge},
                  {arena(1), {PlaceKind::Constant, 0}, kLarge}});
  REQUIRE(exchange.rounds() == 2);
  CHECK(isPermutation(exchange, {arena(0), arena(1)}));
}
