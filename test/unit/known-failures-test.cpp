//===- known-failures-test.cpp - failures of other partitioners -----------===//
//
// Each case is the smallest program of a failure that users of GSPMD, Shardy,
// DTensor or upstream MLIR reported, by the number of the report; `refused`
// collectives must not appear. docs/known-failures.md lists all reports.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/ShardedWitness.h"

#include "catch2/catch.hpp"

#include <vector>

using namespace weft;

namespace {
struct Failure {
  const char *report;
  const char *program;               ///< arguments, results and body of @main
  std::vector<const char *> refused; ///< collectives
};

void check(const Failure &failure) {
  DYNAMIC_SECTION(failure.report) {
    for (const char *mesh : {"d=2", "d=3", "d=4", "d=5", "d=8"}) {
      Sent sent = runWitness(mesh, failure.program);
      for (const char *kind : failure.refused) {
        INFO(mesh << ": " << kind);
        CHECK(sent.count(kind) == 0);
      }
    }
  }
}

const Failure kWrongResults[] = {
    {"openxla/xla#49122: a dynamic slice's start is clamped per shard",
     R"((%x: tensor<8xf32> @[d]) -> (tensor<3xf32> @[-]) {
  %s = weft.constant dense<7> : tensor<i32>
  %r = weft.dynamic_slice %x at (%s) : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
})",
     {"all_gather"}},
    {"openxla/xla#49118: a dynamic update is dropped when its start is clamped",
     R"((%x: tensor<8xf32> @[d], %u: tensor<3xf32> @[-]) -> (tensor<8xf32> @[d]) {
  %s = weft.constant dense<7> : tensor<i32>
  %r = weft.dynamic_update_slice %x, %u at (%s) : (tensor<8xf32>, tensor<3xf32>, tensor<i32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
})",
     {"all_gather", "all_reduce"}},
    {"openxla/xla#42481: the gradient of a look-up is scattered into a shard",
     R"((%t: tensor<9x4xf32> @[d,-], %g: tensor<6x4xf32> @[d,-]) -> (tensor<9x4xf32> @[d,-]) {
  %i = weft.constant dense<[0, 8, 3, 3, 5, 8]> : tensor<6xi32>
  %r = weft.scatter sum %t at %i with %g {update_window_dims = array<i64: 1>, inserted_window_dims = array<i64: 0>, scatter_dims_to_operand_dims = array<i64: 0>, index_vector_dim = 1 : i64} : tensor<9x4xf32>, tensor<6xi32>, tensor<6x4xf32> -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
})",
     {}},
    {"jax-ml/jax#19271: top_k of a sharded dimension",
     R"((%x: tensor<3x11xf32> @[-,d]) -> (tensor<3x4xf32>, tensor<3x4xi32>) {
  %v, %i = weft.top_k %x dim 1 : tensor<3x11xf32> -> tensor<3x4xf32>, tensor<3x4xi32>
  return %v, %i : tensor<3x4xf32>, tensor<3x4xi32>
})",
     {}},
    {"jax-ml/jax#21403: cumsum of a sharded dimension",
     R"((%x: tensor<13xf32> @[d]) -> (tensor<13xf32> @[d]) {
  %r = weft.cumulative sum %x dim 0 : tensor<13xf32>
  return %r : tensor<13xf32>
})",
     {"fetch", "all_reduce"}},
    {"jax-ml/jax#39301: the transpose of a roll",
     R"((%x: tensor<7xf32> @[d]) -> (tensor<7xf32> @[d]) {
  %a = weft.roll %x by [3] : tensor<7xf32>
  %r = weft.roll %a by [-3] : tensor<7xf32>
  return %r : tensor<7xf32>
})",
     {"all_gather"}},
    {"tenstorrent/tt-mlir#8623: arg_max sums positions over devices",
     R"((%x: tensor<4x10xf32> @[-,d]) -> (tensor<4xi32> @[-]) {
  %r = weft.arg_max %x dim 1 : tensor<4x10xf32> -> tensor<4xi32>
  return %r : tensor<4xi32>
})",
     {"all_reduce"}},
    {"pytorch PR186129: depthwise convolution over a sharded height",
     R"((%x: tensor<2x7x5x3xf32> @[-,d,-,-], %w: tensor<3x3x1x3xf32> @[-,-,-,-]) -> (tensor<2x7x5x3xf32> @[-,d,-,-]) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>, feature_groups = 3 : i64} : tensor<2x7x5x3xf32>, tensor<3x3x1x3xf32> -> tensor<2x7x5x3xf32>
  return %r : tensor<2x7x5x3xf32>
})",
     {"all_gather"}},
    {"pytorch#179502: a view of a sharded dimension",
     R"((%x: tensor<6x4xf32> @[d,-]) -> (tensor<4x6xf32>) {
  %r = weft.reshape %x : tensor<6x4xf32> -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
})",
     {}},
    {"pytorch/xla#5264: the operands of a subtraction change places",
     R"((%x: tensor<6x4xf32> @[d,-], %y: tensor<6x4xf32> @[-,d]) -> (tensor<6x4xf32>) {
  %r = weft.sub %x, %y : tensor<6x4xf32>
  return %r : tensor<6x4xf32>
})",
     {}},
};

const Failure kReplications[] = {
    {"EnzymeAD/Enzyme-JAX#822: pad replicates its operand",
     R"((%x: tensor<10x4xf32> @[d,-]) -> (tensor<13x4xf32> @[d,-]) {
  %r = weft.pad %x low [1, 0] high [2, 0] interior [0, 0] : tensor<10x4xf32> -> tensor<13x4xf32>
  return %r : tensor<13x4xf32>
})",
     {"all_gather"}},
    {"openxla/xla#4062: a contraction with transposed output gathers both",
     R"((%x: tensor<8x4xf32> @[d,-], %w: tensor<4x6xf32> @[-,-]) -> (tensor<6x8xf32> @[-,d]) {
  %a = weft.dot %x, %w contract [1] x [0] : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %r = weft.transpose %a [1, 0] : tensor<8x6xf32> -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
})",
     {"all_gather"}},
    {"jax-ml/jax#26946: a vocabulary of 17 over 8 devices is replicated",
     R"((%t: tensor<17x4xf32> @[d,-]) -> (tensor<5x4xf32> @[-,-]) {
  %i = weft.constant dense<[0, 16, 15, 3, 99]> : tensor<5xi32>
  %r = weft.gather %t at %i {offset_dims = array<i64: 1>, collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: 0>, index_vector_dim = 1 : i64, slice_sizes = array<i64: 1, 4>} : tensor<17x4xf32>, tensor<5xi32> -> tensor<5x4xf32>
  return %r : tensor<5x4xf32>
})",
     {"all_gather"}},
    {"pytorch#176446: convolution over a sharded height is rejected",
     R"((%x: tensor<1x9x9x2xf32> @[-,d,-,-], %w: tensor<3x3x2x4xf32> @[-,-,-,-]) -> (tensor<1x5x5x4xf32> @[-,d,-,-]) {
  %r = weft.convolution %x, %w {lhs_dims = array<i64: 0, 3, 1, 2>, rhs_dims = array<i64: 3, 2, 0, 1>, result_dims = array<i64: 0, 3, 1, 2>, strides = array<i64: 2, 2>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, base_dilation = array<i64: 1, 1>, window_dilation = array<i64: 1, 1>} : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32> -> tensor<1x5x5x4xf32>
  return %r : tensor<1x5x5x4xf32>
})",
     {"all_gather"}},
    {"openxla/xla PR44796: all of a stack is gathered for one slice of it",
     R"((%x: tensor<6x4xf32> @[d,-]) -> (tensor<1x4xf32> @[-,-]) {
  %r = weft.slice %x from [4, 0] to [5, 4] by [1, 1] : tensor<6x4xf32> -> tensor<1x4xf32>
  return %r : tensor<1x4xf32>
})",
     {}},
};
} // namespace

TEST_CASE("programs that others compute wrongly are right") {
  for (const Failure &failure : kWrongResults)
    check(failure);
}

TEST_CASE("programs that others replicate stay sharded") {
  for (const Failure &failure : kReplications)
    check(failure);
}
