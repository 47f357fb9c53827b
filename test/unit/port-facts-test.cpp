#include "weft/base/config/PortFactsJson.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/runtime/abi/PlanPorts.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace weft;

/// A value for each kind of fact.
static void fill(facts::Text &fact, int n) {
  fact = "text " + std::to_string(n);
}
static void fill(facts::Json &fact, int n) {
  fact.text = "{\"n\":" + std::to_string(n) + "}";
}
static void fill(facts::Flag &fact, int) { fact = true; }
static void fill(facts::Integer &fact, int n) { fact = -n; }
static void fill(facts::Integers &fact, int n) { fact = {n, 0, -n}; }
static void fill(facts::Numbers &fact, int n) { fact = {n + 0.5, -0.0}; }

static PortFacts allFacts() {
  PortFacts facts;
  int n = 0;
  visitFacts(facts, [&](std::string_view, auto &fact) { fill(fact, ++n); });
  return facts;
}

static llvm::FailureOr<PortFacts> throughIr(const PortFacts &facts) {
  mlir::MLIRContext context;
  return factsOf(factsAttr(&context, facts), [&] {
    return mlir::emitError(mlir::UnknownLoc::get(&context));
  });
}

static PortFacts throughPlan(const PortFacts &facts) {
  flatbuffers::FlatBufferBuilder builder;
  auto table = writeFacts(builder, facts);
  plan::PortBuilder port(builder);
  port.add_facts(table);
  builder.Finish(port.Finish());
  return readFacts(
      flatbuffers::GetRoot<plan::Port>(builder.GetBufferPointer())->facts());
}

TEST_CASE("facts of ports pass through IR and plans unchanged") {
  PortFacts all = allFacts();
  visitFacts(all, [](std::string_view name, const auto &fact) {
    INFO(name);
    CHECK(isGiven(fact));
  });
  auto read = throughIr(all);
  REQUIRE(succeeded(read));
  CHECK(*read == all);
  CHECK(throughPlan(all) == all);
  CHECK(throughPlan({}) == PortFacts());
  CHECK(*throughIr({}) == PortFacts());
  PortFacts zero;
  zero.seed = 0; // is given, in contrast to none
  CHECK(throughPlan(zero) == zero);
  CHECK(*throughIr(zero) == zero);
}

TEST_CASE("Python's JSON of facts") {
  auto facts = factsOfJson(
      R"({"initializer": {"class_name": "Ones", "config": {}}, "value": 2, "h5": [0, 1, 2, 3], "running": true})");
  REQUIRE(facts);
  CHECK(facts->initializer.text == R"({"class_name":"Ones","config":{}})");
  CHECK(facts->value == std::vector<double>{2});
  CHECK(facts->h5 == std::vector<int64_t>{0, 1, 2, 3});
  CHECK(facts->isRunning);
  CHECK(*factsOfJson("{}") == PortFacts());
  auto message = [](const char *text) { return factsOfJson(text).message(); };
  CHECK(message(R"({"trainable": true})") ==
        "\"trainable\" is no fact of a port; leave it out");
  CHECK(message(R"({"savd": ""})") ==
        "\"savd\" is no fact of a port; did you mean saved?");
  CHECK(message(R"({"seed": 1.5})") == "\"seed\" is 1.5; write a whole number");
  CHECK(message(R"({"h5": [1, "a"]})") ==
        "\"h5\" is [1,\"a\"]; write a list of whole numbers");
  CHECK(message("[]") == "is no object");
}
