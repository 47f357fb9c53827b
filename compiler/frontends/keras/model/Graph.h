//===- Graph.h - calls of layers and their inputs ---------------*- C++ -*-===//
//
// Private to the Keras front end. A file is read into one graph for the model
// and one for each nested model; running the graphs makes the nodes. For
//
//   side = Functional(i -> Dense(16, "a") -> Dense(12, "b"))
//   x -> side -> side -> Dense(4, "head")
//
//   model      inputs x; calls side(x), side'(side), head(side'); outputs head
//   nested     of side: inputs i; calls a(i), b(a); outputs b
//   nodes      x, a(x), b, side, a(side), b, side, head: a model that is called
//              runs its own calls, and its result is a node of its own, so
//              that a layout for side/output has a place
//
// A call with several results makes a node for each; these are adjacent. A
// Sequential is a chain; a nested one without an InputLayer starts from
// {"", 0, 0}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_GRAPH_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_GRAPH_H

#include "weft/compiler/frontends/keras/model/Model.h"

namespace weft::keras {

/// A tensor of one graph: its layer, the number of the call, and the number of
/// the result.
struct GraphTensor {
  std::string layer;
  int64_t call = 0, result = 0;
  auto operator<=>(const GraphTensor &) const = default;
};

struct GraphInput {
  unsigned layer;
  std::vector<int64_t> shape; ///< the shape of a sample; unknown sizes are -1
  GraphTensor name;
};
struct GraphCall {
  unsigned layer;
  GraphTensor name;                ///< the call's result 0
  std::vector<GraphTensor> inputs; ///< the tensors of its arguments
  CallArguments arguments;
};
struct Graph {
  std::vector<GraphInput> inputs;
  /// The tensors to which the arguments of a call are bound.
  std::vector<GraphTensor> start;
  std::vector<GraphTensor> outputs;
  /// Keys of inputs and outputs that are dicts; empty for lists.
  std::vector<std::string> startKeys, outputKeys;
  std::vector<GraphCall> calls;
};

struct Graphs {
  Graph model;
  std::map<unsigned, Graph> nested; ///< indexed by position of the layer
  /// Whether each layer of the model is built right after its construction, and
  /// not by its first call.
  std::vector<bool> isBuiltAlone;
};

/// Fills the model's nodes, inputs and outputs with their names, variables and
/// draws by running every call once, on values that are never computed.
void runGraphs(const Graphs &graphs, Model &model, Status &status);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_GRAPH_H
