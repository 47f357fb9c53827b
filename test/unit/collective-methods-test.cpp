// How GPUs carry out communications: the table of CollectiveMethods.h, and what
// NCCL's own calls compute.
#include "weft/layout/CollectiveMethods.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
const Mesh mesh = {{{"x", 4}, {"y", 2}}, {}};
const SubAxes x = {fullAxis(mesh, 0)}, y = {fullAxis(mesh, 1)};

LocalArray array(ElementType type, std::vector<int64_t> shape) {
  return {type, std::move(shape)};
}
std::optional<NcclCall> callOf(const Communication &its, const SubAxes &axes,
                               const LocalArray &source,
                               const LocalArray &target) {
  return ncclCallOf(its, {mesh, axes}, std::vector{source},
                    std::vector{target});
}
CollectiveMethod methodFor(CollectiveMode mode, ReduceKind kind,
                           int64_t floats) {
  std::vector<LocalArray> arrays = {array(ElementType::Float32, {floats})};
  return methodOf(mode, Combination{kind, std::nullopt}, {mesh, x}, arrays,
                  arrays);
}
} // namespace

TEST_CASE("the method follows from the mode, the bytes and the reduction") {
  using enum CollectiveMethod;
  constexpr int64_t large = 1 << 18, small = 1 << 8;
  ReduceKind sum = ReduceKind::Sum, max = ReduceKind::Max;
  CHECK(methodFor(CollectiveMode::Nccl, sum, large) == Library);
  CHECK(methodFor(CollectiveMode::Nccl, sum, small) == Library);
  CHECK(methodFor(CollectiveMode::Nccl, max, large) == Exchange);
  CHECK(methodFor(CollectiveMode::Exact, sum, large) == Exchange);
  CHECK(methodFor(CollectiveMode::Exact, sum, small) == Exchange);
  CHECK(methodFor(CollectiveMode::Peer, max, large) == Peer);
  CHECK(methodFor(CollectiveMode::Usual, sum, large) == Library);
  CHECK(methodFor(CollectiveMode::Usual, sum, small) == Peer);
  CHECK(methodFor(CollectiveMode::Usual, max, large) == Exchange);
  constexpr int64_t most = kMostPeerBytes / 4;
  CHECK(methodFor(CollectiveMode::Usual, sum, most) == Peer);
  CHECK(methodFor(CollectiveMode::Usual, sum, most + 1) == Library);
  CHECK(parseCollectiveMode("exact") == CollectiveMode::Exact);
  CHECK(!parseCollectiveMode(""));
  CHECK(!parseCollectiveMode("mpi"));
}

TEST_CASE("NCCL reduces numbers of its types, and no maximum of floats") {
  auto isCalled = [](ElementType type, ReduceKind kind) {
    LocalArray all = array(type, {8});
    return callOf(Combination{kind, std::nullopt}, x, all, all) ==
           NcclCall::AllReduce;
  };
  for (ElementType type : {ElementType::Float32, ElementType::BFloat16,
                           ElementType::Int8, ElementType::UInt64}) {
    CHECK(isCalled(type, ReduceKind::Sum));
    CHECK(isCalled(type, ReduceKind::Prod));
    CHECK(isCalled(type, ReduceKind::Max) == !isFloat(type));
    CHECK(isCalled(type, ReduceKind::Min) == !isFloat(type));
    CHECK(!isCalled(type, ReduceKind::And));
  }
  for (ElementType type :
       {ElementType::Int16, ElementType::Bool, ElementType::Complex64,
        ElementType::Int4, ElementType::Float8E5M2})
    CHECK(!isCalled(type, ReduceKind::Sum));
}

TEST_CASE("blocks are NCCL's if they are even and adjacent") {
  ElementType f32 = ElementType::Float32;
  auto scatters = [&](std::vector<int64_t> shape, int64_t dim) {
    std::vector<int64_t> part = shape;
    part[size_t(dim)] = (part[size_t(dim)] + 3) / 4;
    return callOf(Combination{ReduceKind::Sum, dim}, x, array(f32, shape),
                  array(f32, part)) == NcclCall::ReduceScatter;
  };
  CHECK(scatters({8, 3}, 0));
  CHECK(!scatters({7, 3}, 0));
  CHECK(!scatters({3, 8}, 1));
  CHECK(scatters({1, 8}, 1)); // the dimension in front has one position
  auto gathers = [&](std::vector<int64_t> shape, size_t dim,
                     const SubAxes &digits, const SubAxes &group) {
    Movement its{
        shape, Layout::replicated(2), Layout::replicated(2), true, {}, {}, {}};
    its.from.dims[dim] = digits;
    std::vector<int64_t> part = localShape(its.from, shape);
    return callOf(its, group, array(f32, part), array(f32, shape)) ==
           NcclCall::AllGather;
  };
  SubAxes both = {x[0], y[0]}, turned = {y[0], x[0]};
  CHECK(gathers({8, 3}, 0, x, x));
  CHECK(!gathers({9, 3}, 0, x, x));
  CHECK(!gathers({3, 8}, 1, x, x));
  CHECK(gathers({16, 3}, 0, both, both));
  CHECK(!gathers({16, 3}, 0, turned, both));
}

TEST_CASE("a sender of all members broadcasts") {
  LocalArray all = array(ElementType::Bool, {8});
  CHECK(callOf(Sending{{2, 2, 2, 2}}, x, all, all) == NcclCall::Broadcast);
  CHECK(!callOf(Sending{{2, 2, -1, 2}}, x, all, all));
  CHECK(!callOf(Sending{{1, 0, 3, 2}}, x, all, all));
}
