//===- buffer-assignment-test.cpp - the memory of each value --------------===//
//
// The functions call three kernels: @each works element by element; @any may
// read every element after it wrote the first one; @change replaces elements of
// its first argument.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/test/unit/ParsedProgram.h"

using namespace weft;
using namespace mlir;

namespace {
constexpr const char *kBefore = R"(
#mesh = #weft.mesh<"d"=2>
func.func private @each(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<elementwise>}
func.func private @any(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<general>}
func.func private @change(tensor<4xf32> {weft.updated = 0 : i64}, tensor<4xf32>) -> tensor<4xf32> attributes {weft.kernel = #weft.kernel<general>}
func.func private @test(tensor<4xf32>) -> tensor<i1> attributes {weft.kernel = #weft.kernel<general>}
func.func @main)";

/// Expands a function's short forms: `%a = each(%x, %y)` is a call of a kernel,
/// T a tensor type, D0 the type of an argument that is donated to result 0.
std::string expanded(const char *function) {
  std::string text = std::string(kBefore) + function + "\n}\n";
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("= each", "= func.call @each");
  replace("= any", "= func.call @any");
  replace("= change", "= func.call @change");
  replace("= test(%v)", "= func.call @test(%v) : (T) -> tensor<i1>");
  replace(":: ", ": (T, T) -> ");
  replace("D0", "T {weft.donated = 0 : i64}");
  replace("D1", "T {weft.donated = 1 : i64}");
  replace("T", "tensor<4xf32>");
  return text;
}

struct Program : test::ParsedProgram {
  explicit Program(const char *text) : ParsedProgram(expanded(text)) {}
  func::FuncOp main() { return function("main"); }
};

std::string textOf(Place place) {
  static constexpr const char *kNames[] = {"argument", "result", "arena",
                                           "constant"};
  return std::string(kNames[static_cast<unsigned>(place.kind)]) + " " +
         std::to_string(place.index);
}

/// Lists the places of the results of all ops that have one, in program order;
/// the results of a loop stand after those of the ops in it.
std::string placesOf(func::FuncOp function, const BufferAssignment &places) {
  std::string text;
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      text += (text.empty() ? "" : ", ") + textOf(places.place(result));
  });
  return text;
}

struct Case {
  const char *name, *function, *places;
};

const Case kCases[] = {
    {"the example of the header", R"((%w: D0, %g: T) -> T {
  %new = each(%w, %g) :: T
  return %new : T)",
     "argument 0"},
    {"a kernel that may read after it wrote", R"((%w: D0, %g: T) -> T {
  %new = any(%w, %g) :: T
  return %new : T)",
     "arena 0"},
    {"nothing is donated", R"((%w: T, %g: T) -> T {
  %new = each(%w, %g) :: T
  return %new : T)",
     "result 0"},
    {"the donated argument is read later", R"((%w: D0, %g: T) -> (T, T) {
  %new = each(%w, %g) :: T
  %old = any(%w, %g) :: T
  return %new, %old : T, T)",
     "arena 0, result 1"},
    {"the donated argument is read before", R"((%w: D0, %g: T) -> T {
  %a = any(%w, %g) :: T
  %new = any(%a, %g) :: T
  return %new : T)",
     "arena 0, argument 0"},
    {"the donated argument is returned as well", R"((%w: D0, %g: T) -> (T, T) {
  %new = each(%w, %g) :: T
  return %new, %w : T, T)",
     "arena 0"},
    {"donated to the second result", R"((%w: D1, %g: T) -> (T, T) {
  %a = any(%g, %g) :: T
  %b = each(%a, %w) :: T
  return %a, %b : T, T)",
     "result 0, argument 0"},
    // The second update reads the first one's old value.
    {"two that are donated, and read each other",
     R"((%v: D0, %w: D1) -> (T, T) {
  %a = each(%v, %w) :: T
  %b = each(%v, %w) :: T
  return %a, %b : T, T)",
     "arena 0, argument 1"},
    {"two that are donated", R"((%v: D0, %w: D1) -> (T, T) {
  %a = each(%v, %v) :: T
  %b = each(%w, %w) :: T
  return %a, %b : T, T)",
     "argument 0, argument 1"},
    {"returned twice", R"((%x: T) -> (T, T) {
  %a = each(%x, %x) :: T
  return %a, %a : T, T)",
     "result 0"},
    {"a constant is copied at the end", R"((%w: D0) -> T {
  %a = weft.constant dense<1.0> : T
  return %a : T)",
     "constant 0"},
    {"a sum in place of its last use", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %b = coll.all_reduce sum %a over #mesh ["d"] : T
  %c = any(%b, %b) :: T
  return %c : T)",
     "arena 0, arena 0, result 0"},
    {"a sum of a value that is read elsewhere", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %b = coll.all_reduce sum %a over #mesh ["d"] : T
  %c = any(%a, %b) :: T
  return %c : T)",
     "arena 0, arena 1, result 0"},
    {"a sum of an argument", R"((%x: T) -> T {
  %b = coll.all_reduce sum %x over #mesh ["d"] : T
  %c = any(%b, %b) :: T
  return %c : T)",
     "arena 0, result 0"},
    {"branches write where the result is", R"((%p: tensor<i1>, %x: T) -> T {
  %r = weft.case %p(%x) : tensor<i1>, (T) -> T {
  ^bb0(%v: T):
    %0 = any(%v, %v) :: T
    weft.yield %0 : T
  }, {
  ^bb0(%v: T):
    weft.yield %v : T
  }
  return %r : T)",
     "result 0, result 0"},
    {"a loop carries its state where the result is", R"((%x: T) -> T {
  %r = weft.while(%x) : (T) -> T {
  ^bb0(%v: T):
    %p = test(%v)
    weft.condition %p(%v) : tensor<i1>, T
  } do {
  ^bb0(%v: T):
    %0 = each(%v, %v) :: T
    weft.yield %0 : T
  }
  return %r : T)",
     "arena 0, result 0, result 0"},
    {"a loop whose body may not write at once", R"((%x: T) -> T {
  %r = weft.while(%x) : (T) -> T {
  ^bb0(%v: T):
    %p = test(%v)
    weft.condition %p(%v) : tensor<i1>, T
  } do {
  ^bb0(%v: T):
    %0 = any(%v, %v) :: T
    weft.yield %0 : T
  }
  return %r : T)",
     "arena 0, arena 1, result 0"},
    {"a loop in the buffer of an initial value that nobody else needs",
     R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %r = weft.while(%a) : (T) -> T {
  ^bb0(%v: T):
    %p = test(%v)
    weft.condition %p(%v) : tensor<i1>, T
  } do {
  ^bb0(%v: T):
    %0 = each(%v, %v) :: T
    weft.yield %0 : T
  }
  %b = any(%r, %r) :: T
  return %b : T)",
     "arena 0, arena 1, arena 0, arena 0, result 0"},
    {"a loop does not take a value that is read behind it", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %r = weft.while(%a) : (T) -> T {
  ^bb0(%v: T):
    %p = test(%v)
    weft.condition %p(%v) : tensor<i1>, T
  } do {
  ^bb0(%v: T):
    %0 = each(%v, %v) :: T
    weft.yield %0 : T
  }
  %b = any(%r, %a) :: T
  return %b : T)",
     "arena 0, arena 2, arena 1, arena 1, result 0"},
    {"changes of a donated argument", R"((%w: D0, %g: T) -> T {
  %a = change(%w, %g) :: T
  %b = change(%a, %g) :: T
  return %b : T)",
     "argument 0, argument 0"},
    {"changes of an argument that the caller keeps", R"((%w: T, %g: T) -> T {
  %a = change(%w, %g) :: T
  %b = change(%a, %g) :: T
  return %b : T)",
     "result 0, result 0"},
    {"a changed argument that is read later", R"((%w: D0, %g: T) -> (T, T) {
  %a = change(%w, %g) :: T
  %b = any(%w, %a) :: T
  return %a, %b : T, T)",
     "arena 0, result 1"},
    {"a change of a value by itself", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %b = change(%a, %a) :: T
  %c = any(%b, %b) :: T
  return %c : T)",
     "arena 0, arena 1, result 0"},
    {"a change in the arena", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %b = change(%a, %x) :: T
  %c = any(%b, %b) :: T
  return %c : T)",
     "arena 0, arena 0, result 0"},
    {"two changes of one value", R"((%x: T) -> T {
  %a = any(%x, %x) :: T
  %b = change(%a, %x) :: T
  %c = change(%a, %x) :: T
  %d = any(%b, %c) :: T
  return %d : T)",
     "arena 0, arena 1, arena 0, result 0"},
    {"a value that a loop passes on is the value itself",
     R"((%w: D0, %g: T) -> (T, T) {
  %r:2 = weft.while(%w, %g) : (T, T) -> (T, T) {
  ^bb0(%v: T, %u: T):
    %p = test(%v)
    weft.condition %p(%v, %u) : tensor<i1>, T, T
  } do {
  ^bb0(%v: T, %u: T):
    %0 = each(%u, %v) :: T
    weft.yield %v, %0 : T, T
  }
  %a = change(%w, %g) :: T
  %b = any(%r#0, %a) :: T
  return %a, %b : T, T)",
     "arena 1, arena 0, argument 0, arena 0, arena 2, result 1"},
    {"a carried value is changed in its place", R"((%w: D0, %g: T) -> T {
  %r:2 = weft.while(%w, %g) : (T, T) -> (T, T) {
  ^bb0(%v: T, %u: T):
    %p = test(%v)
    weft.condition %p(%v, %u) : tensor<i1>, T, T
  } do {
  ^bb0(%v: T, %u: T):
    %0 = change(%v, %u) :: T
    %1 = each(%0, %u) :: T
    %2 = change(%1, %u) :: T
    weft.yield %2, %u : T, T
  }
  return %r#0 : T)",
     "arena 0, argument 0, argument 0, argument 0, argument 0, argument 1"},
    {"the old carried value is read after the change",
     R"((%w: D0, %g: T) -> T {
  %r:2 = weft.while(%w, %g) : (T, T) -> (T, T) {
  ^bb0(%v: T, %u: T):
    %p = test(%v)
    weft.condition %p(%v, %u) : tensor<i1>, T, T
  } do {
  ^bb0(%v: T, %u: T):
    %0 = change(%v, %u) :: T
    %1 = any(%v, %0) :: T
    weft.yield %1, %u : T, T
  }
  return %r#0 : T)",
     "arena 0, arena 1, arena 2, argument 0, argument 1"},
};
} // namespace

TEST_CASE("values share memory only where no op reads the overwritten value") {
  for (const Case &it : kCases) {
    INFO(it.name);
    Program program(it.function);
    BufferAssignment places(program.main());
    CHECK(placesOf(program.main(), places) == it.places);
  }
}

TEST_CASE("donatedArguments, buffers and constants") {
  Program program(R"((%x: T, %w: D1) -> (T, T) {
  %k = weft.constant dense<1.0> : T
  %a = any(%x, %k) :: T
  %b = coll.all_reduce sum %a over #mesh ["d"] : T
  %c = any(%b, %b) :: T
  %d = any(%c, %c) :: T
  %e = each(%w, %d) :: T
  return %d, %e : T, T)");
  BufferAssignment places(program.main());
  CHECK_FALSE(places.donatedArgument(0));
  CHECK(places.donatedArgument(1) == 1u);
  CHECK(places.constants().size() == 1);
  CHECK(places.arenaBuffers().size() == 2); // %a with %b, %c
  auto lifetimes = places.lifetimes();
  REQUIRE(lifetimes.size() == 2);
  // Operation 0 is %k.
  CHECK((lifetimes[0].bytes == 16 && lifetimes[1].bytes == 16));
  CHECK((lifetimes[0].first == 1 && lifetimes[0].last == 3));
  CHECK((lifetimes[1].first == 3 && lifetimes[1].last == 4));
}
