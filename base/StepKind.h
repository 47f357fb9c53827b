//===- StepKind.h - the steps of a model ------------------------*- C++ -*-===//
//
//   stepName(StepKind::Train)      "train"
//   stepKindNamed("predict")     StepKind::Predict
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_STEPKIND_H
#define WEFT_BASE_STEPKIND_H

#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft {

enum class StepKind { Train, Evaluate, Predict };
/// The names of the kinds, indexed by StepKind; functions have these names.
inline constexpr const char *kStepKinds[] = {"train", "evaluate", "predict"};

constexpr const char *stepName(StepKind kind) {
  return kStepKinds[size_t(kind)];
}
constexpr std::optional<StepKind> stepKindNamed(std::string_view name) {
  for (size_t kind = 0; kind < std::size(kStepKinds); ++kind)
    if (name == kStepKinds[kind])
      return StepKind(kind);
  return std::nullopt;
}

} // namespace weft

#endif // WEFT_BASE_STEPKIND_H
