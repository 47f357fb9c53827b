//===- refused-plans.h - the error for a plan that breaks a rule -*- C++ -*-===//
//
//   CHECK(refusal([](PlanBuilder &p) { p.pick(...); }) == "bad plan: ...");
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_REFUSED_PLANS_H
#define WEFT_TEST_UNIT_REFUSED_PLANS_H

#include "weft/test/unit/runtime-plan.h"

namespace weft::test {

enum : uint32_t { In, Out, Four, Positions, Eight, Matrix };

/// Returns a plan of two devices, with buffers of 4, 4, 4, 4 and 8 elements,
/// and 2x4.
inline PlanBuilder two() {
  PlanBuilder p({{"x", 2}});
  p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.arena(DType::f32, {4});
  p.arena(DType::i64, {4});
  p.arena(DType::f32, {8});
  p.arena(DType::f32, {2, 4});
  return p;
}
/// Returns the group of both devices.
inline Axes both() { return {fullAxis(0, 2)}; }

/// Returns the error in a plan; empty if it is accepted.
template <typename Change> std::string refusal(Change change) {
  PlanBuilder p = two();
  change(p);
  std::vector<uint8_t> image = p.image();
  weft_program *program = nullptr;
  std::string text =
      take(weft_program_load_memory(image.data(), image.size(), &program));
  weft_program_free(program);
  return text;
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_REFUSED_PLANS_H
