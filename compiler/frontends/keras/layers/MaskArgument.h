//===- MaskArgument.h - masks that a call is given --------------*- C++ -*-===//
//
//   giveMasks(inputs);     // of a call  layer(x, mask=m)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKARGUMENT_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKARGUMENT_H

namespace weft::keras {

struct CallInputs;

/// Sets the masks that the call's argument `mask` gives, which have precedence
/// over the masks of the tensors.
void giveMasks(CallInputs &inputs);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_MASKARGUMENT_H
