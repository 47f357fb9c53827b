//===- Distribution.h - which tensor lies how -------------------*- C++ -*-===//
//
// A distribution file mirrors the constructors of keras.distribution:
//
//   {"class_name": "ModelParallel", "config": {
//     "device_mesh": {"shape": [2, 4], "axis_names": ["data", "model"],
//                     "devices": null},
//     "layout_map": {"d1/kernel": [null, "model"], "d1/bias": ["model"]},
//     "batch_dim_name": "data", "regex": "fullmatch"}}
//
// resolveLayouts() of a model whose d1 has no bias then says
//
//   d1/kernel  [{}, {"model"}]   because  layout_map "d1/kernel"
//   d2/kernel  [{}, {}]          because  no rule matches
//   input_layer [{"data"}, {}, {}, {}]  because  batch axis "data"
//   rules      d1/kernel used; d1/bias dead, closest d2/bias
//
// A dimension names one axis, a part of one ("model:(2)2"), several (["data",
// "model"]) or none (null); dimensions that a rule leaves out are replicated.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/compiler/frontends/keras/schema/Patterns.h"
#include "weft/dialects/weft/Layout.h"

namespace weft::keras {

/// How keys that are no path match: the whole path (Keras since 3.14), any
/// part of it (before), or its begin, where the first key wins (DTensor).
struct LayoutRule {
  std::string key;
  Layout layout; ///< may have fewer dimensions than what it matches
};

struct Distribution {
  bool dataParallel = false;
  Mesh mesh;
  std::string batchAxis;
  RegexMode regex = RegexMode::FullMatch;
  std::vector<LayoutRule> rules; ///< in the order of the file
};

/// Reads a file; `deviceCount` devices exist (0: as many as the mesh wants).
Result<Distribution> readDistribution(std::string_view text,
                                      int64_t deviceCount = 0);
/// DataParallel() over that many devices.
Distribution dataParallel(int64_t deviceCount);

/// The rule for a path: the equal key, else by the patterns; -1 for none.
/// Several matches (but for FirstMatch) and refused patterns are errors.
struct RuleLookup {
  int rule = -1;
  std::vector<int> matches; ///< every rule that matches the path
  std::string error;
};
RuleLookup findRule(const Distribution &distribution, const std::string &path);

struct RuleStatus {
  std::string key, status; ///< used, dead or shadowed
  std::vector<std::string> matches;
  std::vector<std::string> closest; ///< paths like a dead key
};

struct ResolvedLayout {
  Layout layout;
  std::string reason; ///< layout_map "d1/kernel"; batch axis "data"
};

struct ResolvedLayouts {
  std::map<std::string, ResolvedLayout> variables; ///< every variable, by path
  std::map<std::string, ResolvedLayout> inputs;    ///< every input, by layer
  std::map<std::string, ResolvedLayout> outputs;   ///< layers with a rule
  std::vector<RuleStatus> rules;
};
Result<ResolvedLayouts> resolveLayouts(const Distribution &distribution,
                                       const Model &model);
/// Labels and sample weights: dimension 0 over the batch axis.
ResolvedLayout batchLayout(const Distribution &distribution, int64_t rank);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H
