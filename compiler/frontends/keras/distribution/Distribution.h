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
// A custom distribution is given by tables of the results of
// keras.distribution.Distribution's methods, or is a Strategy in C++:
//
//   {"class_name": "Distribution", "config": {
//     "device_mesh": {"shape": [2, 4], "axis_names": ["rows", "columns"]},
//     "variable_layouts": {".*kernel": ["rows", "columns"]},
//     "tensor_layouts": {"d1/output": ["rows", "columns"]},
//     "data_layout": {"4": ["rows", "columns"], "1": ["rows"]}}}
//
// A dimension names one axis, a sub-axis ("model:(2)2"), several (["data",
// "model"]) or none (null); dimensions that a rule leaves out are replicated.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H

#include "weft/base/config/Patterns.h"
#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/layout/Layout.h"

#include <memory>

namespace weft::keras {

/// A rule of a layout map: a key, and the layout of the tensors whose paths it
/// matches.
struct LayoutRule {
  /// The kinds of paths that a rule can match: both (Layouts), or one of them.
  enum class Map { Layouts, Variables, Tensors };

  std::string key;
  Layout layout; ///< may have fewer dimensions than the tensor
  Map map = Map::Layouts;

  /// The key of its map in a file: layout_map, variable_layouts, tensor_layouts.
  const char *mapName() const;
  bool isFor(Map kind) const {
    return map == Map::Layouts || kind == Map::Layouts || map == kind;
  }
};

/// A variable: its path in Keras, and its shape.
struct NamedShape {
  std::string path;
  std::vector<int64_t> shape;
};

/// A custom strategy with the methods that subclasses of
/// keras.distribution.Distribution override. A method that returns nullopt
/// selects the default.
class Strategy {
public:
  virtual ~Strategy() = default;
  /// The name of the strategy in reasons and messages.
  virtual std::string name() const = 0;
  /// The layout of get_variable_layout; nullopt means replicated.
  virtual std::optional<Layout> variableLayout(const NamedShape &) const {
    return std::nullopt;
  }
  /// The layout of get_tensor_layout for a layer's output ("d1/output"; the
  /// batch size in its shape is -1); with nullopt the compiler decides.
  virtual std::optional<Layout> tensorLayout(const std::string & /*path*/,
                                             llvm::ArrayRef<int64_t>) const {
    return std::nullopt;
  }
  /// The layout of get_data_layout for inputs, labels and sample weights; with
  /// nullopt the batch is split over `batchAxis`.
  virtual std::optional<Layout> dataLayout(llvm::ArrayRef<int64_t>) const {
    return std::nullopt;
  }
};

/// A key of "placements", or of a stage of "pipeline": the layers whose paths it
/// matches are on the devices with this coordinate.
struct PlacementRule {
  std::string key;
  AxisCoordinate at;
  std::string entry = "placements"; ///< as messages name it
  /// The list of a pipeline's "stages" that has the key.
  std::optional<int64_t> list = std::nullopt;
};

/// Stages that work on different microbatches (Pipelines.h). Their layers are
/// placements, too.
struct Pipeline {
  uint32_t axis = 0;
  int64_t count = 1; ///< of stages: the coordinates of the axis
  /// Keys of the layers of each stage, and then of its further chunks.
  std::vector<std::vector<std::string>> stages;
  int64_t microbatches = 1;
  std::string schedule;           ///< a name, or the path of a file
  std::vector<std::string> lists; ///< of the file: the items of each stage
  /// Whether "stages" is "auto": there are no keys, and the costs of calls choose
  /// the stage of each node of the model; -1 for inputs.
  bool isAuto = false;
  std::vector<int64_t> calls;
  std::vector<double> seconds; ///< of each stage in a step, by these costs
  int64_t chunks() const { return isAuto ? 1 : int64_t(stages.size()) / count; }
};

/// The part of the mesh that a layer is on, and the keys that say so.
struct LayerPlace {
  MeshPart part;
  std::string reason;
  /// The lists of a pipeline's "stages" that name the layer. If there are
  /// several, `part` is that of the first, where the layer's variables are.
  std::vector<int64_t> lists = {};
};

struct Distribution {
  bool dataParallel = false;
  Mesh mesh;
  std::string batchAxis;
  RegexMode regex = RegexMode::FullMatch;
  std::vector<LayoutRule> rules;         ///< in the order of the file
  std::vector<PlacementRule> placements; ///< in the order of the file
  std::optional<Pipeline> pipeline = std::nullopt;
  /// Whether variables and tensors have maps of their own, as in a file of the
  /// class Distribution.
  bool hasOwnMaps = false;
  /// The strategy for paths that no rule matches.
  std::shared_ptr<const Strategy> strategy = nullptr;
};

/// Reads a distribution file for `deviceCount` devices; 0 means as many as its
/// mesh has, or its list of devices. A DataParallel without both is an error.
Result<Distribution> readDistribution(std::string_view text,
                                      int64_t deviceCount = 0);
/// The distribution DataParallel() over `deviceCount` devices.
Distribution dataParallel(int64_t deviceCount);

/// The rule for a path: the rule whose key equals the path, else the first
/// whose pattern matches; -1 if there is none. Several matches without an equal
/// key (except with FirstMatch) and refused patterns are errors.
struct RuleLookup {
  int rule = -1;
  std::vector<int> matches; ///< every rule that matches the path
  Status status;
};
RuleLookup findRule(const Distribution &distribution, const std::string &path,
                    LayoutRule::Map kind = LayoutRule::Map::Layouts);

struct RuleStatus {
  std::string key, status; ///< used, dead or shadowed
  std::string map;         ///< such as layout_map
  std::vector<std::string> matches;
  std::vector<std::string> closest; ///< paths that resemble a dead key
};

struct ResolvedLayout {
  Layout layout;
  std::string reason; ///< such as: layout_map "d1/kernel"
};

struct ResolvedLayouts {
  std::map<std::string, ResolvedLayout> variables; ///< every variable, by path
  std::map<std::string, ResolvedLayout> inputs;    ///< every input, by layer
  std::map<std::string, ResolvedLayout> outputs;   ///< layers with a layout
  std::vector<LayerPlace> places;                  ///< places of all layers
  std::vector<LayerPlace> callPlaces;              ///< places of all nodes
  std::vector<RuleStatus> rules;
};
Result<ResolvedLayouts> resolveLayouts(const Distribution &distribution,
                                       const Model &model);
/// The layouts of variables alone.
Result<ResolvedLayouts> resolveLayouts(const Distribution &distribution,
                                       llvm::ArrayRef<NamedShape> variables);
/// The layout of an array of the batch that has this shape.
ResolvedLayout batchLayout(const Distribution &distribution,
                           llvm::ArrayRef<int64_t> shape);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_DISTRIBUTION_H
