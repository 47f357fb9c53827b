//===- layout-propagation-test.cpp - table, annotations, propagation ------===//
//
// The three parts of propagation are tested alone: a new table is replicated,
// annotations fix the values that they name, and propagation lays out the rest.
// layout-quality-test and test/passes/propagate-layouts*.mlir test all three
// together.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/sharding/propagation/Annotations.h"
#include "weft/passes/sharding/propagation/LayoutPropagation.h"
#include "weft/test/unit/ParsedProgram.h"
#include "weft/test/unit/ShardedWitness.h"

using namespace weft;
using namespace mlir;

namespace {

struct Program : test::ParsedProgram {
  explicit Program(llvm::StringRef text)
      : ParsedProgram(witnessText("data=2,model=2", text)),
        table(function("main"),
              module->getOperation()->getAttrOfType<MeshAttr>(kMeshAttr)) {}
  Value argument(unsigned index) { return function("main").getArgument(index); }
  Value op(unsigned index) { return table.ops()[index].op->getResult(0); }
  std::string layout(Value value) {
    return toCommandText(table.mesh(), table.get(value));
  }

  LayoutTable table;
};

constexpr const char *kDense =
    R"((%x: tensor<8x6xf32> @[data,-], %w: tensor<6x4xf32> @[-,model]) -> (tensor<8x4xf32>) {
  %h = weft.dot %x, %w contract [1] x [0] : tensor<8x6xf32>, tensor<6x4xf32> -> tensor<8x4xf32>
  %r = weft.relu %h : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
})";

} // namespace

TEST_CASE("a new table knows the tensors, the ops and no axis") {
  Program program(kDense);
  CHECK(program.table.ops().size() == 3); // with the return
  CHECK(program.layout(program.argument(0)) == "[-,-]");
  CHECK(program.layout(program.op(0)) == "[-,-]");
  CHECK_FALSE(program.table.isFree(program.argument(0)));
  CHECK(program.table.isFree(program.op(0)));
}

TEST_CASE("annotations lay out and close the named values, and no others") {
  Program program(kDense);
  REQUIRE(succeeded(Annotations(program.table).enter()));
  CHECK(program.layout(program.argument(0)) == "[data,-]");
  CHECK(program.layout(program.argument(1)) == "[-,model]");
  CHECK_FALSE(program.table.find(program.argument(0))->isOpen());
  CHECK(program.layout(program.op(0)) == "[-,-]");
  CHECK(program.table.find(program.op(0))->isOpen());
}

TEST_CASE("one annotation is left out") {
  Program program(kDense);
  Value weight = program.argument(1);
  REQUIRE(succeeded(Annotations(program.table, weight).enter()));
  CHECK(program.layout(weight) == "[-,-]");
  CHECK(program.table.find(weight)->isOpen());
  CHECK(program.layout(program.argument(0)) == "[data,-]");
}

TEST_CASE("propagation spreads layouts to values that are not annotated") {
  Program program(kDense);
  REQUIRE(succeeded(Annotations(program.table).enter()));
  LayoutPropagation(program.table).run();
  CHECK(program.layout(program.op(0)) == "[data,model]");
  CHECK(program.layout(program.op(1)) == "[data,model]");
  CHECK(program.table.resultLayout(0) == program.table.get(program.op(1)));
}

TEST_CASE("without annotations propagation changes nothing") {
  Program program(kDense);
  LayoutPropagation(program.table).run();
  for (unsigned index : {0u, 1u})
    CHECK(program.layout(program.op(index)) == "[-,-]");
}

TEST_CASE("members of a group get one layout") {
  Program program(
      R"((%x: tensor<8x6xf32> {weft.layout = #[data,-], weft.group = "g"}, %y: tensor<4x6xf32> {weft.group = "g"}) -> (tensor<4x6xf32>) {
  %r = weft.neg %y : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
})");
  REQUIRE(succeeded(Annotations(program.table).enter()));
  CHECK(program.layout(program.argument(1)) == "[data,-]");
}

TEST_CASE("the journal names the annotation of each axis") {
  Program program(kDense);
  LayoutJournal journal;
  program.table.keep(&journal);
  REQUIRE(succeeded(Annotations(program.table).enter()));
  LayoutPropagation(program.table).run();
  const Mesh &mesh = program.table.mesh();
  const LayoutReason *rule =
      journal.last(program.op(0), 1, fullAxis(mesh, *mesh.find("model")));
  REQUIRE(rule);
  CHECK(rule->kind == LayoutReason::Kind::Rule);
  CHECK(rule->from == program.argument(1));
  const LayoutReason *origin =
      journal.last(rule->from, 1, fullAxis(mesh, *mesh.find("model")));
  REQUIRE(origin);
  CHECK(origin->kind == LayoutReason::Kind::Annotation);
}
