//===- LayerTable.cpp - the layers of Keras that are supported ------------===//

#include "weft/compiler/frontends/keras/layers/ActivationLayers.h"
#include "weft/compiler/frontends/keras/layers/Dense.h"
#include "weft/compiler/frontends/keras/layers/Dropout.h"
#include "weft/compiler/frontends/keras/layers/Flatten.h"
#include "weft/compiler/frontends/keras/layers/InputLayer.h"
#include "weft/compiler/frontends/keras/layers/Rescaling.h"
#include "weft/compiler/frontends/keras/layers/Reshaping.h"

using namespace weft::keras;

const Table<Layer> &weft::keras::layerTable() {
  static const Table<Layer> table = {
      {"layer class",
       "layers",
       {row<ActivationLayer>("Activation"), row<Dense>("Dense"),
        row<Dropout>("Dropout"), row<ELU>("ELU"), row<Flatten>("Flatten"),
        row<Identity>("Identity"), row<InputLayer>("InputLayer"),
        row<LeakyReLU>("LeakyReLU"), row<Permute>("Permute"),
        row<PReLU>("PReLU"), row<ReLU>("ReLU"),
        row<RepeatVector>("RepeatVector"), row<Rescaling>("Rescaling"),
        row<Reshape>("Reshape"), row<Softmax>("Softmax")}}};
  return table;
}
