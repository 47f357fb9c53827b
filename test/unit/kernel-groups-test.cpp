//===- kernel-groups-test.cpp - ops that become one kernel ----------------===//
//
// Small functions and the groups of their ops, by name: groups in the order in
// which they run, members in program order.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/kernels/KernelGroups.h"
#include "weft/test/unit/ParsedProgram.h"

using namespace weft;
using namespace mlir;

namespace {
/// A module with @main, written from its arguments on and without the last
/// brace.
struct Program : test::ParsedProgram {
  explicit Program(const std::string &text)
      : ParsedProgram("#mesh = #weft.mesh<\"d\"=2>\nfunc.func @main" + text +
                      "\n}\n") {}
  Block &block() { return function("main").getBody().front(); }
};

std::string namesOf(const KernelGroup &group) {
  std::string text;
  for (Operation *op : group.ops)
    text += (text.empty() ? "" : " ") + op->getName().stripDialect().str();
  return text;
}

/// Writes groups as in "exp neg; reduce", which is two groups.
std::string textOf(const KernelGroups &groups) {
  std::string text;
  for (const KernelGroup *group : groups.inOrder())
    text += (text.empty() ? "" : "; ") + namesOf(*group);
  return text;
}

/// The limits of a target whose kernels may have several loop nests.
const nest::TargetLimits kSeveralNests = *nest::targetLimits("cpu:avx2");

struct Case {
  const char *name, *function, *groups;
  /// The expected groups if each kernel is one launch; null: the same groups.
  const char *launches = nullptr;
};

const Case kCases[] = {
    {"the example of the header",
     R"((%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<4x8xf32>, tensor<8x6xf32> -> tensor<4x6xf32>
  %1 = weft.broadcast %b dims [1] : tensor<6xf32> -> tensor<4x6xf32>
  %2 = weft.add %0, %1 : tensor<4x6xf32>
  %3 = weft.relu %2 : tensor<4x6xf32>
  %4 = coll.all_reduce sum %3 over #mesh ["d"] : tensor<4x6xf32>
  %5 = weft.exp %4 : tensor<4x6xf32>
  return %5 : tensor<4x6xf32>)",
     "dot add relu; all_reduce; exp", "dot; add relu; all_reduce; exp"},
    {"an elementwise chain", R"((%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = weft.neg %0 : tensor<4xf32>
  %2 = weft.mul %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>)",
     "exp neg mul"},
    {"nothing but sources and a return",
     R"((%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>)",
     ""},
    {"a reduction and the ops that follow it",
     R"((%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = weft.exp %x : tensor<4x6xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  %2 = weft.broadcast %1 dims [0] : tensor<4xf32> -> tensor<4x6xf32>
  %3 = weft.div %0, %2 : tensor<4x6xf32>
  return %3 : tensor<4x6xf32>)",
     "exp reduce div"},
    {"two chains that know nothing of each other",
     R"((%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = weft.abs %y : tensor<4xf32>
  %2 = weft.neg %0 : tensor<4xf32>
  %3 = weft.relu %1 : tensor<4xf32>
  return %2, %3 : tensor<4xf32>, tensor<4xf32>)",
     "exp neg; abs relu"},
    {"a dot takes the ops that follow it, not those before",
     R"((%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = weft.exp %x : tensor<4x4xf32>
  %1 = weft.dot %0, %x contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = weft.neg %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>)",
     "exp; dot neg", "exp; dot; neg"},
    {"a dot and a reduction of it", R"((%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = weft.dot %x, %x contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = weft.reduce sum %0 dims [1] : tensor<4x4xf32> -> tensor<4xf32>
  return %1 : tensor<4xf32>)",
     "dot; reduce"},
    // The addition needs exp and the all-reduce between the two: a kernel of
    // exp and the addition would be left and entered again.
    {"groups are convex", R"((%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = weft.exp %x : tensor<4x4xf32>
  %1 = weft.dot %0, %x contract [1] x [0] : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = coll.all_reduce sum %1 over #mesh ["d"] : tensor<4x4xf32>
  %3 = weft.add %0, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>)",
     "exp; dot; all_reduce; add"},
    {"an update of donated memory stays elementwise",
     R"((%w: tensor<4xf32> {weft.donated = 0 : i64}, %g: tensor<6x4xf32>) -> tensor<4xf32> {
  %0 = weft.reduce sum %g dims [0] : tensor<6x4xf32> -> tensor<4xf32>
  %1 = weft.mul %0, %0 : tensor<4xf32>
  %2 = weft.sub %w, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>)",
     "reduce; mul sub"},
    {"rows of two kinds",
     R"((%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  %0 = weft.reduce max %x dims [1] : tensor<4x6xf32> -> tensor<4xf32>
  %1 = weft.broadcast %0 dims [0] : tensor<4xf32> -> tensor<4x6xf32>
  %2 = weft.sub %x, %1 : tensor<4x6xf32>
  %3 = weft.reduce sum %2 dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  %4 = weft.neg %3 : tensor<f32>
  return %2, %4 : tensor<4x6xf32>, tensor<f32>)",
     "reduce sub reduce neg", "reduce sub; reduce neg"},
    {"a sum of all elements of a value that is returned, too",
     R"((%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<f32>) {
  %0 = weft.exp %x : tensor<4x6xf32>
  %1 = weft.reduce sum %0 dims [0, 1] : tensor<4x6xf32> -> tensor<f32>
  return %0, %1 : tensor<4x6xf32>, tensor<f32>)",
     "exp reduce", "exp; reduce"},
    {"columns", R"((%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = weft.reduce sum %x dims [0] : tensor<4x6xf32> -> tensor<6xf32>
  %1 = weft.broadcast %0 dims [1] : tensor<6xf32> -> tensor<4x6xf32>
  %2 = weft.sub %x, %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>)",
     "reduce sub", "reduce; sub"},
    {"communications keep their order",
     R"((%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = weft.exp %x : tensor<4xf32>
  %1 = coll.all_reduce sum %0 over #mesh ["d"] : tensor<4xf32>
  %2 = coll.all_reduce max %y over #mesh ["d"] : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>)",
     "exp; all_reduce; all_reduce"},
};

/// Returns a chain of `ops` exponentials.
std::string chain(unsigned ops) {
  std::string text = "(%v0: tensor<4xf32>) -> tensor<4xf32> {\n";
  for (unsigned i = 0; i < ops; ++i)
    text += "%v" + std::to_string(i + 1) + " = weft.exp %v" +
            std::to_string(i) + " : tensor<4xf32>\n";
  return text + "return %v" + std::to_string(ops) + " : tensor<4xf32>";
}

/// Returns `count` products, each of which reads the one before it at two
/// positions.
std::string rounds(unsigned count) {
  std::string text = "(%v0: tensor<8xf32>) -> tensor<8xf32> {\n";
  for (unsigned i = 0; i < count; ++i) {
    std::string v = "%v" + std::to_string(i), r = "%r" + std::to_string(i);
    text += r + " = weft.reverse " + v + " dims [0] : tensor<8xf32>\n%v" +
            std::to_string(i + 1) + " = weft.mul " + v + ", " + r +
            " : tensor<8xf32>\n";
  }
  return text + "return %v" + std::to_string(count) + " : tensor<8xf32>";
}

/// Returns a function of `count` transposes and a negation.
std::string transposes(unsigned count) {
  std::string text = "(%v0: tensor<4x4xf32>) -> tensor<4x4xf32> {\n";
  for (unsigned i = 0; i < count; ++i)
    text += "%v" + std::to_string(i + 1) + " = weft.transpose %v" +
            std::to_string(i) +
            " [1, 0] : tensor<4x4xf32> -> tensor<4x4xf32>\n";
  return text + "%n = weft.neg %v" + std::to_string(count) +
         " : tensor<4x4xf32>\nreturn %n : tensor<4x4xf32>";
}
} // namespace

TEST_CASE("ops are grouped by the values that they read") {
  for (const Case &it : kCases) {
    INFO(it.name);
    Program program(it.function);
    KernelGroups groups(program.block(), kSeveralNests);
    CHECK(textOf(groups) == it.groups);
    CHECK(groups.cuts() == 0);
    KernelGroups launches(program.block(), *nest::targetLimits("cuda:sm_80"));
    CHECK(textOf(launches) == (it.launches ? it.launches : it.groups));
  }
}

TEST_CASE("a group has a few hundred ops at most, and each op one group") {
  for (unsigned ops : {1u, 100u, 1000u}) {
    Program program(chain(ops));
    KernelGroups groups(program.block(), kSeveralNests);
    size_t all = 0;
    for (const KernelGroup *group : groups.inOrder()) {
      CHECK(group->ops.size() < 1000);
      CHECK(group->isElementwise);
      all += group->ops.size();
    }
    CHECK(all == ops);
    CHECK((groups.inOrder().size() == 1) == (ops <= 100));
  }
}

TEST_CASE("a value is computed at eight positions at most") {
  // The first of n products is read at 2^(n-1) positions.
  Program few(rounds(4)), many(rounds(5));
  CHECK(KernelGroups(few.block(), kSeveralNests).cuts() == 0);
  KernelGroups cut(many.block(), kSeveralNests);
  CHECK(cut.cuts() == 1);
  CHECK(textOf(cut) == "mul; mul mul mul mul");
}

TEST_CASE("a CPU's kernel computes values again with little work alone") {
  // Each level interleaves a value with another one that is computed from it.
  auto levels = [](unsigned count) {
    std::string text = "(%z: tensor<f32>, %v0: tensor<4xf32>) -> tensor<" +
                       std::to_string(4 << count) + "xf32> {\n";
    for (unsigned i = 0; i < count; ++i) {
      std::string from = "tensor<" + std::to_string(4 << i) + "xf32>",
                  to = "tensor<" + std::to_string(8 << i) + "xf32>",
                  n = std::to_string(i), pad = " with %z low [";
      std::string types = "] interior [1] : " + from + ", tensor<f32> -> " + to;
      text += "%n" + n + " = weft.neg %v" + n + " : " + from + "\n%a" + n +
              " = weft.pad %v" + n + pad + "0] high [1" + types + "\n%b" + n +
              " = weft.pad %n" + n + pad + "1] high [0" + types + "\n%v" +
              std::to_string(i + 1) + " = weft.add %a" + n + ", %b" + n +
              " : " + to + "\n";
    }
    return text + "return %v" + std::to_string(count) + " : tensor<" +
           std::to_string(4 << count) + "xf32>";
  };
  Program two(levels(2)), three(levels(3));
  CHECK(KernelGroups(two.block(), kSeveralNests).cuts() == 0);
  CHECK(KernelGroups(three.block(), kSeveralNests).cuts() == 1);
  CHECK(KernelGroups(three.block(), *nest::targetLimits("cuda:sm_80")).cuts() ==
        0);
}

TEST_CASE("each eighth op of a chain of sources is a member") {
  for (auto [count, members] :
       {std::pair(7u, 0u), {8u, 1u}, {15u, 1u}, {16u, 2u}}) {
    Program program(transposes(count));
    KernelGroups groups(program.block(), kSeveralNests);
    std::string expected;
    for (unsigned i = 0; i < members; ++i)
      expected += "transpose ";
    CHECK(textOf(groups) == expected + "neg");
  }
}
