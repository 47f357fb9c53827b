//===- VariableMaker.h - a model's variables, from its calls -----*- C++ -*-===//
//
// Private to the Keras front end. While a model is read each of its calls is
// run once; the variables that they request become the model's. Keras' order
// differs from that of the calls: by layer in the order of the file, weights,
// then statistics, then random states, then those of layers inside; and it
// draws seeds when objects are constructed:
//
//   Dense "d1" (built alone), Dropout, Dense "d2"   in the file
//   draws of the constructors   d1's initializers, the generator, d2's initializers
//
// Objects that a layer constructs when it is built (layers inside it) draw
// right after its constructor if it is built alone, else after all constructors
// of its model, in the order of the calls.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_VARIABLEMAKER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_VARIABLEMAKER_H

#include "weft/compiler/frontends/keras/layers/Call.h"
#include "weft/compiler/frontends/keras/model/Graph.h"

namespace weft::keras {

class VariableMaker : public Variables {
public:
  /// The values of variables become arguments of `block`.
  VariableMaker(const Graphs &graphs [[clang::lifetimebound]],
                Model &model [[clang::lifetimebound]],
                mlir::OpBuilder &builder [[clang::lifetimebound]],
                mlir::Block &block [[clang::lifetimebound]],
                Status &status [[clang::lifetimebound]])
      : graphs(graphs), model(model), builder(builder), block(block),
        status(status), made(model.layers.size()) {}

  /// Makes later requests belong to this layer.
  void enter(unsigned layer);
  /// Makes later requests those of the same call, which is run again: it
  /// constructs nothing.
  void repeat() { isAgain = true; }
  /// Writes the collected variables and the order of draws to the model.
  void finish();

  Value get(const VariableRequest &request) override;
  void set(const VariableRequest &request, Value value) override;
  void replace(const VariableRequest &, Value) override {}
  void construct(const Layer &layer, const Constructor &by) override;
  void construct(const InitializerPtr &initializer,
                 const Constructor &by) override;
  void addLoss(Value) override {}
  void refuse(const std::string &complaint) override;

private:
  /// An initializer that a layer constructed in the first call.
  struct Built {
    InitializerPtr initializer;
    Constructor by;
  };
  struct Made {
    std::vector<Variable> variables;
    std::vector<Built> built;
    std::vector<std::string> sublayers;
    std::map<std::string, Value> values; ///< indexed by key
    unsigned calls = 0;
  };
  void order(Made &of) const;
  void addDraws(int parent);
  /// Adds the draws of an object's options in the order of construction. Layers
  /// among them that are built alone are built then.
  void addDraws(const Configured &object, Made &of);
  /// Adds the draws of what the layer constructed; null: of all that is left.
  void addBuilt(const Layer *by, Made &of);
  /// Adds the draws of initializers; names of random states begin with `scope`.
  void addDraws(const std::vector<InitializerPtr> &initializers,
                const std::string &scope);

  const Graphs &graphs;
  Model &model;
  mlir::OpBuilder &builder;
  mlir::Block &block;
  Status &status;
  std::vector<Made> made;
  std::vector<unsigned> called; ///< layers, in the order of their first calls
  bool isAgain = false;
  unsigned current = 0, generators = 0, unnamed = 0;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_VARIABLEMAKER_H
