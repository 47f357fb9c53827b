//===- InnerModel.h - a model that is an option of a layer ------*- C++ -*-===//
//
// keras.Sequential and keras.Model as the layer of a TimeDistributed. Variables
// of their layers lie under layers/dense, layers/dense_1 and so on, as in saved
// files.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INNERMODEL_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INNERMODEL_H

#include "weft/base/config/InnerGraph.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

class InnerModel : public Layer {
public:
  /// Runs the model's calls.
  CallResults run(Call &c, const CallInputs &inputs) const;

  std::vector<Tensor> results(Call &c,
                              const CallInputs &inputs) const override {
    return run(c, inputs).values;
  }
  Facts facts() const override {
    return {.tensors = {"inputs", "mask"},
            .takesSeveral = true,
            .takesIntegers = true,
            .castsInputs = false, // its layers cast
            .attributeOf = [this](const std::string &inside) {
              return attributeIn(inside);
            }};
  }

protected:
  InnerGraph graph;

private:
  const Layer &member(size_t index) const {
    return static_cast<const Layer &>(*graph.members[index]);
  }
  /// The attribute of each member: layers/dense_1; empty for inputs.
  std::vector<std::string> attributes() const;
  std::string attributeIn(const std::string &inside) const;
  bool binds(Call &c, const CallInputs &inputs) const;
};

class InnerSequential : public InnerModel {
  void options(Options &o) override;
};

class InnerFunctional : public InnerModel {
  void options(Options &o) override;
};

/// The layers that another one may contain: those of layerTable() and models.
const Table<Layer> &innerLayerTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_INNERMODEL_H
