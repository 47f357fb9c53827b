//===- Graph.h - which layer is called with what ----------------*- C++ -*-===//
//
// Private to the Keras front end. Reading a file gives the graph of the model and
// one for each model that is a layer of another; running it makes the nodes. For
//
//   side = Functional(i -> Dense(16, "a") -> Dense(12, "b"))
//   x -> side -> side -> Dense(4, "head")
//
//   whole      inputs x; calls side(x), side'(side), head(side'); outputs head
//   nested     of side: inputs i; calls a(i), b(a); outputs b
//   nodes      x, a(x), b, side, a(side), b, side, head: a model that is called
//              runs its own calls, and what it gives is a node of its own, so
//              that a layout for side/output has a place
//
// A Sequential is a chain; one without an InputLayer starts from {"", 0}.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_GRAPH_H
#define WEFT_COMPILER_FRONTENDS_KERAS_GRAPH_H

#include "weft/compiler/frontends/keras/ModelReader.h"

namespace weft::keras {

/// A tensor of one graph: which call of which layer.
using GraphTensor = std::pair<std::string, int64_t>;

struct GraphInput {
  unsigned layer;
  std::vector<int64_t> shape; ///< of a sample, -1 unknown
  GraphTensor name;
};
struct GraphCall {
  unsigned layer;
  GraphTensor name;
  std::vector<GraphTensor> inputs;
};
struct Graph {
  std::vector<GraphInput> inputs;
  std::vector<GraphTensor> start; ///< what the arguments of a call are bound to
  std::vector<GraphTensor> outputs;
  std::vector<GraphCall> calls;
};

struct Graphs {
  Graph whole;
  std::map<unsigned, Graph> nested; ///< by layer
  std::vector<LayerDraft> drafts;   ///< one for each of the model's layers
};

/// Layers and graphs as the file has them; inputs take the options' shapes.
void readGraphs(const Json &json, const ModelOptions &options, Model &model,
                Graphs &graphs, std::string &error);
/// Nodes, inputs, outputs and variables of the model.
void runGraphs(const Graphs &graphs, Model &model, std::string &error);

/// (28, null, 1)
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_GRAPH_H
