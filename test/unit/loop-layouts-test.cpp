//===- loop-layouts-test.cpp - bytes of barriers, loops and branches ------===//
//
// Values that an op or a loop passes on beside each other have nothing to do
// with each other, and a value may be moved after a loop instead of in it.
// Every program is also run and compared with the program on one device.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/ShardedWitness.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
/// A matrix of 64 x 64 f32 over 8 devices: each has 2 KiB, and keeps an eighth
/// of it in an all-to-all.
constexpr int64_t kMatrix = 64 * 64 * 4, kMoved = kMatrix / 8 * 7 / 8,
                  kGathered = kMatrix * 7 / 8;

/// A function of a matrix %x in layout `from`, with the result %r in `to`.
std::string function(const std::string &from, const std::string &to,
                     const std::string &body) {
  return "(%x: tensor<64x64xf32> @" + from + ") -> (tensor<64x64xf32> @" + to +
         ") {\n" + body + "  return %r : tensor<64x64xf32>\n}";
}

/// `%result = rounds of %next = op`, starting with `init`.
std::string loop(const std::string &result, const std::string &init,
                 const std::string &body) {
  return "  " + result + " = weft.for 5 (" + init +
         ") : (tensor<64x64xf32>) -> tensor<64x64xf32> {\n"
         "  ^bb0(" +
         result + "_i: tensor<i32>, " + result + "_v: tensor<64x64xf32>):\n" +
         body + "  }\n";
}
std::string tanhLoop(const std::string &result, const std::string &init) {
  return loop(result, init,
              "    " + result + "_n = weft.tanh " + result +
                  "_v : tensor<64x64xf32>\n    weft.yield " + result +
                  "_n : tensor<64x64xf32>\n");
}
} // namespace

TEST_CASE("operands of a barrier may be sharded by one axis") {
  for (const char *other : {"[x,-]", "[-,x]", "[-,-]"}) {
    INFO(other);
    std::string second = std::string("tensor<64x64xf32> @") + other;
    Sent sent = runWitness(
        "x=8", "(%a: tensor<64x64xf32> @[-,x], %b: " + second +
                   ") -> (tensor<64x64xf32> @[-,x], " + second + R"() {
  %r:2 = weft.optimization_barrier %a, %b : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>, tensor<64x64xf32>
  return %r#0, %r#1 : tensor<64x64xf32>, tensor<64x64xf32>
})");
    CHECK(sent.collectives() == 0);
  }
}

/// The gradients of the weights of y = x + relu(x u) d, whose values are
/// computed again after a barrier if `checkpoint`.
static std::string gradients(bool checkpoint) {
  std::string types = "tensor<32x64xf32>, tensor<64x256xf32>, "
                      "tensor<256x64xf32>, tensor<32x64xf32>";
  std::string again =
      checkpoint
          ? "  %b:4 = weft.optimization_barrier %x, %u, %d, %3 : " + types +
                " -> " + types + "\n"
          : "";
  auto value = [&](const char *name, int number) {
    return checkpoint ? "%b#" + std::to_string(number) : std::string(name);
  };
  std::string x = value("%x", 0), u = value("%u", 1), d = value("%d", 2),
              g = value("%3", 3);
  return R"((%x: tensor<32x64xf32> @[data,-], %u: tensor<64x256xf32> @[-,model], %d: tensor<256x64xf32> @[model,-])
      -> (tensor<64x256xf32> @[-,model], tensor<256x64xf32> @[model,-]) {
  %0 = weft.dot %x, %u contract [1] x [0] : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %1 = weft.relu %0 : tensor<32x256xf32>
  %2 = weft.dot %1, %d contract [1] x [0] : tensor<32x256xf32>, tensor<256x64xf32> -> tensor<32x64xf32>
  %3 = weft.add %x, %2 : tensor<32x64xf32>
)" + again +
         "  %4 = weft.dot " + x + ", " + u +
         " contract [1] x [0] : tensor<32x64xf32>, tensor<64x256xf32> -> "
         "tensor<32x256xf32>\n  %5 = weft.relu %4 : tensor<32x256xf32>\n"
         "  %6 = weft.dot %5, " +
         g +
         " contract [0] x [0] : tensor<32x256xf32>, tensor<32x64xf32> -> "
         "tensor<256x64xf32>\n  %7 = weft.dot " +
         g + ", " + d +
         " contract [1] x [1] : tensor<32x64xf32>, tensor<256x64xf32> -> "
         "tensor<32x256xf32>\n  %8 = weft.mul %7, %5 : tensor<32x256xf32>\n"
         "  %9 = weft.dot " +
         x +
         ", %8 contract [0] x [0] : tensor<32x64xf32>, tensor<32x256xf32> -> "
         "tensor<64x256xf32>\n"
         "  return %9, %6 : tensor<64x256xf32>, tensor<256x64xf32>\n}";
}

TEST_CASE("a checkpoint gathers neither weights nor batch") {
  // The output is summed over the model's axis, 16x64 on each device, and each
  // gradient over the batch's, 64x64.
  int64_t output = 2 * 3 * 16 * 64 * 4 / 4, gradient = 2 * 64 * 64 * 4 / 2;
  for (bool checkpoint : {false, true}) {
    Sent sent = runWitness("data=2,model=4", gradients(checkpoint), 1e-5);
    CHECK(sent.count("all_gather") == 0);
    CHECK(sent.bytes() == output + 2 * gradient);
  }
}

TEST_CASE("a loop's result is moved once, after the loop") {
  struct Case {
    const char *from, *to;
    int64_t bytes;
  };
  for (const Case &it :
       {Case{"[x,-]", "[-,x]", kMoved}, Case{"[x,-]", "[x,-]", 0},
        Case{"[x,-]", "[-,-]", kGathered}, Case{"[-,-]", "[x,-]", 0}}) {
    INFO(it.from << " to " << it.to);
    Sent once =
        runWitness("x=8", function(it.from, it.to, tanhLoop("%r", "%x")), 1e-5);
    CHECK(once.bytes() == it.bytes);
    // The outer loop carries the result of an inner one.
    std::string inner =
        tanhLoop("%n", "%r_v") + "    weft.yield %n : tensor<64x64xf32>\n";
    Sent nested = runWitness(
        "x=8", function(it.from, it.to, loop("%r", "%x", inner)), 1e-5);
    CHECK(nested.bytes() == it.bytes);
    // One loop after the other.
    Sent two = runWitness(
        "x=8",
        function(it.from, it.to, tanhLoop("%a", "%x") + tanhLoop("%r", "%a")),
        1e-5);
    CHECK(two.bytes() == it.bytes);
  }
}

TEST_CASE("a loop carries its value as the body needs it") {
  std::string body =
      R"(    %s = weft.constrain %r_v to #[-,x] reason "test" : tensor<64x64xf32> -> tensor<64x64xf32>
    %n = weft.cumulative sum %s dim 0 : tensor<64x64xf32>
    %t = weft.tanh %n : tensor<64x64xf32>
    weft.yield %t : tensor<64x64xf32>
)";
  for (const char *to : {"[x,-]", "[-,x]"}) {
    INFO(to);
    Sent sent =
        runWitness("x=8", function("[x,-]", to, loop("%r", "%x", body)), 1e-5);
    CHECK(sent.bytes() == (to[1] == 'x' ? 2 : 1) * kMoved);
  }
}

TEST_CASE("a branch's result is moved once") {
  Sent sent = runWitness(
      "x=8",
      "(%p: tensor<i1>, %x: tensor<64x64xf32> @[x,-]) -> (tensor<64x64xf32> "
      "@[-,x])"
      R"( {
  %r = weft.case %p(%x) : tensor<i1>, (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%v: tensor<64x64xf32>):
    %0 = weft.tanh %v : tensor<64x64xf32>
    weft.yield %0 : tensor<64x64xf32>
  }, {
  ^bb0(%v: tensor<64x64xf32>):
    weft.yield %v : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
})",
      1e-5);
  CHECK(sent.bytes() <= kMoved);
}
