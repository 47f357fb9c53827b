//===- PortFacts.h - what a training loop knows of a port -------*- C++ -*-===//
//
//   PortFacts facts;
//   facts.saved = "layers/dense/vars/0";
//   facts.seed = 12;
//   std::string given;
//   visitFacts(facts, [&](std::string_view name, const auto &fact) {
//     if (isGiven(fact))
//       given += std::string(name) + " ";               // "seed saved "
//   });
//
// dialects/weft/PortFactsAttr.h writes these facts into IR,
// runtime/abi/PlanPorts.h into a plan, and base/config/PortFactsJson.h reads
// them from Python's JSON.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PORTFACTS_H
#define WEFT_BASE_PORTFACTS_H

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

namespace facts {
using Text = std::string; ///< empty: not given
using Flag = bool;
using Integer = std::optional<int64_t>;
using Integers = std::vector<int64_t>; ///< empty: not given
using Numbers = std::vector<double>;   ///< empty: not given
struct Json {
  std::string text; ///< empty: not given
  bool operator==(const Json &) const = default;
};
} // namespace facts

/// The facts of PortFacts.def.
struct PortFacts {
#define WEFT_FACT(Kind, name, member) facts::Kind member{};
#include "weft/base/PortFacts.def"

  bool operator==(const PortFacts &) const = default;
};

inline constexpr std::string_view kFactNames[] = {
#define WEFT_FACT(Kind, name, member) #name,
#include "weft/base/PortFacts.def"
};
inline bool isFactName(std::string_view name) {
  return std::ranges::find(kFactNames, name) != std::end(kFactNames);
}

/// Calls visit(name, fact) for each fact, given or not, in the order of the
/// list.
template <typename Facts, typename Visit>
void visitFacts(Facts &&facts, Visit &&visit) {
#define WEFT_FACT(Kind, name, member)                                          \
  visit(std::string_view(#name), facts.member);
#include "weft/base/PortFacts.def"
}

inline bool isGiven(const facts::Text &fact) { return !fact.empty(); }
inline bool isGiven(facts::Flag fact) { return fact; }
inline bool isGiven(const facts::Integer &fact) { return fact.has_value(); }
inline bool isGiven(const facts::Integers &fact) { return !fact.empty(); }
inline bool isGiven(const facts::Numbers &fact) { return !fact.empty(); }
inline bool isGiven(const facts::Json &fact) { return !fact.text.empty(); }

} // namespace weft

#endif // WEFT_BASE_PORTFACTS_H
