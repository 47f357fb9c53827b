//===- fuzz-reduction-test.cpp - a broken compiler, a small program -------===//
//
// The test breaks partitioned programs on purpose; the failures that weft-fuzz
// would find are reduced to a few lines.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/test/fuzz/ProgramCheck.h"
#include "weft/test/fuzz/RandomProgram.h"
#include "weft/test/fuzz/Reduction.h"

#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

namespace {

/// Drops all-reduces, as a broken compiler that forgets them would.
void dropAllReduces(ModuleOp module) {
  SmallVector<coll::AllReduceOp> ops;
  module.walk([&](coll::AllReduceOp op) { ops.push_back(op); });
  for (coll::AllReduceOp op : ops) {
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
  }
}

/// Replaces selects that mask padding by the values with padding.
void dropMasks(ModuleOp module) {
  SmallVector<SelectOp> ops;
  module.walk([&](SelectOp op) {
    // The condition compares positions, which begin where the device's block
    // does, with the dimension's size.
    auto valid = op.getCondition().getDefiningOp<CompareOp>();
    auto positions = valid ? valid.getLhs().getDefiningOp<IotaOp>() : IotaOp();
    if (positions && positions.getOffset())
      ops.push_back(op);
  });
  for (SelectOp op : ops)
    op.getResult().replaceAllUsesWith(op.getOnTrue());
}

int64_t elementsOf(ModuleOp module) {
  int64_t most = 0;
  for (Type type : mainOf(module).getArgumentTypes())
    most = std::max(most, cast<RankedTensorType>(type).getNumElements());
  return most;
}

struct Found {
  std::string text;
  unsigned programs = 0;
  int64_t elements = 0; ///< elements of the largest argument
};

/// Reduces the first three programs that differ, and returns the one with the
/// smallest arguments: how small a program becomes depends on the original.
Found findAndReduce(ProgramCheck &check) {
  Found best;
  unsigned reduced = 0;
  for (uint64_t seed = 20; seed <= 520 && reduced < 3; ++seed) {
    std::string text = randomProgram(seed);
    if (check.run(text) != Verdict::Differs)
      continue;
    auto stillFails = [&](const std::string &candidate) {
      return check.run(candidate) == Verdict::Differs;
    };
    text = reduceProgram(check.context(), text, stillFails);
    auto module = parseSourceString<ModuleOp>(text, &check.context());
    if (reduced++ == 0 || elementsOf(*module) < best.elements)
      best = {text, static_cast<unsigned>(seed), elementsOf(*module)};
  }
  return best;
}

} // namespace

TEST_CASE("a forgotten all-reduce is reduced to one op on two devices") {
  ProgramCheck check;
  check.breakProgram = dropAllReduces;
  Found found = findAndReduce(check);
  INFO(found.programs << " programs\n" << found.text);
  REQUIRE(!found.text.empty());
  auto module = parseSourceString<ModuleOp>(found.text, &check.context());
  REQUIRE(module);
  CHECK(countOps(*module) <= 2);
  CHECK(module->getOperation()
            ->getAttrOfType<MeshAttr>(kMeshAttr)
            .getMesh()
            .size() == 2);
  CHECK(elementsOf(*module) <= 4);
  check.breakProgram = nullptr;
  CHECK(check.run(found.text) == Verdict::Holds);
}

TEST_CASE("a forgotten mask is reduced to a small uneven program") {
  ProgramCheck check;
  check.breakProgram = dropMasks;
  Found found = findAndReduce(check);
  INFO(found.programs << " programs\n" << found.text);
  REQUIRE(!found.text.empty());
  auto module = parseSourceString<ModuleOp>(found.text, &check.context());
  REQUIRE(module);
  CHECK(countOps(*module) <= 4);
  CHECK(elementsOf(*module) <= 6);
  check.breakProgram = nullptr;
  CHECK(check.run(found.text) == Verdict::Holds);
}

/// Returns how many of the random programs 1 to `programs` give other results
/// as machine code.
static unsigned differCompiled(ProgramCheck &check, unsigned programs) {
  unsigned found = 0;
  check.onlyCompiled = true;
  for (uint64_t seed = 1; seed <= programs; ++seed) {
    ProgramOptions options;
    options.compiled = true;
    found += check.run(randomProgram(seed, options)) == Verdict::Differs;
  }
  return found;
}

TEST_CASE("machine code that reads padding or forgets a sum is found") {
  ProgramCheck check;
  CHECK(differCompiled(check, 40) == 0);
  check.breakProgram = dropMasks;
  CHECK(differCompiled(check, 40) > 0);
  check.breakProgram = dropAllReduces;
  CHECK(differCompiled(check, 40) > 0);
}

TEST_CASE("reasons are compared without names and numbers") {
  CHECK(kindOfReason("kernel 'a_1' needs 2 nests\nmore") ==
        kindOfReason("kernel 'b_7x8' needs 3 nests"));
  CHECK(kindOfReason("result 0 differs") != kindOfReason("is refused"));
}

TEST_CASE("a seed gives one program") {
  CHECK(randomProgram(17) == randomProgram(17));
  CHECK(randomProgram(17) != randomProgram(18));
}
