//===- layout-quality-test.cpp - bytes that well-known layouts send -------===//
//
// Forward passes in which only the batch and the weights are annotated, as in
// data, tensor and fully sharded data parallelism. The bytes sent must be those
// of the literature's formulas.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/ShardedWitness.h"

#include "catch2/catch.hpp"

using namespace weft;

/// Returns a transformer block of 4 heads on x[8, 6, 16]. The attention is %8;
/// `body` computes `result` from it, %x and the weights %u and %d.
static std::string block(const std::string &body, const std::string &result) {
  return R"((%x: tensor<8x6x16xf32> @[data,-,-],
      %q: tensor<16x4x4xf32> @[-,model,-], %k: tensor<16x4x4xf32> @[-,model,-], %v: tensor<16x4x4xf32> @[-,model,-],
      %o: tensor<4x4x16xf32> @[model,-,-], %u: tensor<16x64xf32> @[-,model], %d: tensor<64x16xf32> @[model,-]) -> (tensor<8x6x16xf32>) {
  %0 = weft.dot %x, %q contract [2] x [0] : tensor<8x6x16xf32>, tensor<16x4x4xf32> -> tensor<8x6x4x4xf32>
  %1 = weft.dot %x, %k contract [2] x [0] : tensor<8x6x16xf32>, tensor<16x4x4xf32> -> tensor<8x6x4x4xf32>
  %2 = weft.dot %x, %v contract [2] x [0] : tensor<8x6x16xf32>, tensor<16x4x4xf32> -> tensor<8x6x4x4xf32>
  %3 = weft.dot %0, %1 batch [0, 2] x [0, 2] contract [3] x [3] : tensor<8x6x4x4xf32>, tensor<8x6x4x4xf32> -> tensor<8x4x6x6xf32>
  %4 = weft.reduce max %3 dims [3] : tensor<8x4x6x6xf32> -> tensor<8x4x6xf32>
  %5 = weft.broadcast %4 dims [0, 1, 2] : tensor<8x4x6xf32> -> tensor<8x4x6x6xf32>
  %6 = weft.sub %3, %5 : tensor<8x4x6x6xf32>
  %7 = weft.dot %6, %2 batch [0, 1] x [0, 2] contract [3] x [1] : tensor<8x4x6x6xf32>, tensor<8x6x4x4xf32> -> tensor<8x4x6x4xf32>
  %8 = weft.dot %7, %o contract [1, 3] x [0, 1] : tensor<8x4x6x4xf32>, tensor<4x4x16xf32> -> tensor<8x6x16xf32>
)" + body +
         "  return " + result + R"( : tensor<8x6x16xf32>
})";
}

/// The bytes that a device sends in an all-reduce of half a batch, f32[4, 6,
/// 16], over 4 devices.
constexpr int64_t kAllReduce = 2 * 3 * (8 / 2 * 6 * 16 * 4) / 4;

TEST_CASE("a transformer block under tensor parallelism reduces twice") {
  Sent sent = runWitness("data=2,model=4",
                         block(R"(
  %9 = weft.add %x, %8 : tensor<8x6x16xf32>
  %10 = weft.dot %9, %u contract [2] x [0] : tensor<8x6x16xf32>, tensor<16x64xf32> -> tensor<8x6x64xf32>
  %11 = weft.relu %10 : tensor<8x6x64xf32>
  %12 = weft.dot %11, %d contract [2] x [0] : tensor<8x6x64xf32>, tensor<64x16xf32> -> tensor<8x6x16xf32>
  %13 = weft.add %9, %12 : tensor<8x6x16xf32>
)",
                               "%13"),
                         1e-5);
  CHECK(sent.count("all_reduce") == 2);
  CHECK(sent.collectives() == 2);
  CHECK(sent.bytes() == 2 * kAllReduce);
}

TEST_CASE(
    "partial sums of parallel branches are added before they are reduced") {
  Sent sent = runWitness("data=2,model=4",
                         block(R"(
  %9 = weft.dot %x, %u contract [2] x [0] : tensor<8x6x16xf32>, tensor<16x64xf32> -> tensor<8x6x64xf32>
  %10 = weft.relu %9 : tensor<8x6x64xf32>
  %11 = weft.dot %10, %d contract [2] x [0] : tensor<8x6x64xf32>, tensor<64x16xf32> -> tensor<8x6x16xf32>
  %12 = weft.add %8, %11 : tensor<8x6x16xf32>
  %13 = weft.add %12, %x : tensor<8x6x16xf32>
)",
                               "%13"),
                         1e-5);
  CHECK(sent.count("all_reduce") == 1);
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == kAllReduce);
}

/// Returns layers whose weights are sharded over the axis of the batch.
static std::string fullySharded(int layers, const std::string &weight) {
  std::string arguments = "(%h0: tensor<256x32xf32> @[data,-]", body;
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    arguments += ", %w" + n + ": tensor<32x32xf32> @" + weight;
    body += "  %y" + n + " = weft.dot %h" + n + ", %w" + n +
            " contract [1] x [0] : tensor<256x32xf32>, tensor<32x32xf32> -> "
            "tensor<256x32xf32>\n  %h" +
            next + " = weft.relu %y" + n + " : tensor<256x32xf32>\n";
  }
  return arguments + ") -> (tensor<256x32xf32>) {\n" + body + "  return %h" +
         std::to_string(layers) + " : tensor<256x32xf32>\n}";
}

TEST_CASE("weights sharded over the batch's axis are gathered, not the batch") {
  for (const char *weight : {"[data,-]", "[-,data]"}) {
    Sent sent = runWitness("data=4", fullySharded(3, weight), 1e-5);
    CHECK(sent.count("all_gather") == 3);
    CHECK(sent.collectives() == 3);
    CHECK(sent.bytes() == 3 * (3 * 32 * 32 * 4 / 4));
  }
}

TEST_CASE("weights sharded over both axes are gathered over the batch's only") {
  Sent sent = runWitness("data=4,model=2", R"((%x: tensor<256x32xf32> @[data,-],
      %w: tensor<32x64xf32> @[data,model], %v: tensor<64x32xf32> @[model,data]) -> (tensor<256x32xf32>) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<256x32xf32>, tensor<32x64xf32> -> tensor<256x64xf32>
  %1 = weft.relu %0 : tensor<256x64xf32>
  %2 = weft.dot %1, %v contract [1] x [0] : tensor<256x64xf32>, tensor<64x32xf32> -> tensor<256x32xf32>
  return %2 : tensor<256x32xf32>
})",
                         1e-5);
  CHECK(sent.count("all_gather") == 2);
  CHECK(sent.count("all_reduce") == 1);
  CHECK(sent.collectives() == 3);
  CHECK(sent.bytes() == 2 * (3 * 32 * 32 * 4 / 4) + 256 / 4 * 32 * 4);
}

/// Returns a dot that sums over the axis of the model, plus a bias of layout
/// `bias`, which may shard the columns over the same axis; `ops` rounds of
/// further ops follow.
static std::string biased(const std::string &bias, int ops) {
  std::string body = R"((%h: tensor<4096x32xf32> @[data,model],
      %w: tensor<32x12xf32> @[model,-], %b: tensor<12xf32> @)" +
                     bias + R"() -> (tensor<4096xf32>) {
  %y = weft.dot %h, %w contract [1] x [0] : tensor<4096x32xf32>, tensor<32x12xf32> -> tensor<4096x12xf32>
  %c = weft.broadcast %b dims [1] : tensor<12xf32> -> tensor<4096x12xf32>
  %z0 = weft.add %y, %c : tensor<4096x12xf32>
)";
  for (int i = 0; i < ops; ++i) {
    std::string n = std::to_string(i), next = std::to_string(i + 1);
    body += "  %m" + n + " = weft.reduce max %z" + n +
            " dims [1] : tensor<4096x12xf32> -> tensor<4096xf32>\n  %s" + n +
            " = weft.broadcast %m" + n +
            " dims [0] : tensor<4096xf32> -> tensor<4096x12xf32>\n  %z" + next +
            " = weft.sub %z" + n + ", %s" + n + " : tensor<4096x12xf32>\n";
  }
  std::string last = std::to_string(ops);
  return body + "  %r = weft.reduce sum %z" + last +
         " dims [1] : tensor<4096x12xf32> -> tensor<4096xf32>\n  return %r : "
         "tensor<4096xf32>\n}";
}

TEST_CASE("a bias over the model's axis costs its own bytes, not those of the "
          "ops that follow") {
  for (int ops : {0, 1, 4, 12}) {
    Sent whole = runWitness("data=2,model=4", biased("[-]", ops));
    Sent split = runWitness("data=2,model=4", biased("[model]", ops));
    INFO(ops);
    CHECK(whole.bytes() <= 2 * 3 * (4096 / 2 * 12 * 4) / 4);
    CHECK(split.bytes() <= whole.bytes() + 3 * 12 * 4 / 4);
  }
}

TEST_CASE("a narrow operand is gathered rather than a wide result summed") {
  // The features of %x are split, the weights are whole; GSPMD gathers %x too.
  Sent sent =
      runWitness("data=4,model=2", R"((%x: tensor<256x32xf32> @[data,model],
      %w: tensor<32x128xf32> @[-,-]) -> (tensor<256x128xf32> @[data,-]) {
  %0 = weft.dot %x, %w contract [1] x [0] : tensor<256x32xf32>, tensor<32x128xf32> -> tensor<256x128xf32>
  return %0 : tensor<256x128xf32>
})",
                 1e-5);
  CHECK(sent.count("all_gather") == 1);
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == 256 / 4 * 32 * 4 / 2);
}

TEST_CASE("a sum is scattered where a constraint splits a value behind it") {
  // The sequence is dimension 1. If the constraint alone decided, the first
  // layer would be split by the sequence and its weights would be gathered.
  Sent sent = runWitness("model=4", R"((%x: tensor<2x16x8xf32> @[-,-,-],
      %u: tensor<8x64xf32> @[-,model], %d: tensor<64x8xf32> @[model,-], %b: tensor<8xf32> @[-]) -> (tensor<2x16x8xf32> @[-,model,-]) {
  %0 = weft.dot %x, %u contract [2] x [0] : tensor<2x16x8xf32>, tensor<8x64xf32> -> tensor<2x16x64xf32>
  %1 = weft.relu %0 : tensor<2x16x64xf32>
  %2 = weft.dot %1, %d contract [2] x [0] : tensor<2x16x64xf32>, tensor<64x8xf32> -> tensor<2x16x8xf32>
  %3 = weft.broadcast %b dims [2] : tensor<8xf32> -> tensor<2x16x8xf32>
  %4 = weft.add %2, %3 : tensor<2x16x8xf32>
  %5 = weft.constrain %4 to #[-,model,-] reason "sequence" : tensor<2x16x8xf32> -> tensor<2x16x8xf32>
  return %5 : tensor<2x16x8xf32>
})",
                         1e-5);
  CHECK(sent.count("reduce_scatter") == 1);
  CHECK(sent.collectives() == 1);
  CHECK(sent.bytes() == 3 * (2 * 16 * 8 * 4) / 4);
}

TEST_CASE("a gradient is scattered to its weight where the batch's axes and "
          "the weight's cross") {
  // The activations suggest "model" for the columns of the gradient, the weight
  // for its rows.
  Sent sent =
      runWitness("data=4,model=2", R"((%h: tensor<256x64xf32> @[data,model],
      %g: tensor<256x32xf32> @[data,model], %w: tensor<64x32xf32> {weft.role = "weight", weft.layout = #[model,data]}) -> (tensor<64x32xf32> @[model,data]) {
  %0 = weft.dot %h, %g contract [0] x [0] : tensor<256x64xf32>, tensor<256x32xf32> -> tensor<64x32xf32>
  %1 = weft.add %0, %0 : tensor<64x32xf32>
  %2 = weft.sub %w, %1 : tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
})",
                 1e-5);
  CHECK(sent.count("all_gather") == 1);
  CHECK(sent.count("reduce_scatter") == 1);
  CHECK(sent.collectives() == 2);
  CHECK(sent.bytes() == 256 / 4 * 32 * 4 / 2 + 3 * (64 * 32 * 4 / 2) / 4);
}
