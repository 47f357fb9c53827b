//===- MaskArgument.cpp - masks that a call is given ----------------------===//

#include "weft/compiler/frontends/keras/layers/MaskArgument.h"
#include "weft/compiler/frontends/keras/layers/Call.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

void keras::giveMasks(CallInputs &inputs) {
  const Argument *written = inputs.arguments.keyword("mask");
  if (!written)
    return;
  ArrayRef<Argument> items =
      written->isList() ? ArrayRef(written->items) : ArrayRef(*written);
  for (size_t i = 0; i < items.size() && i < inputs.masks.size(); ++i)
    if (items[i].isTensor())
      inputs.masks[i] = inputs.tensors[items[i].integer];
}
