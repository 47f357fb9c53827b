//===- DescribePorts.h - a model's ports for training loops -----*- C++ -*-===//
//
//   describePorts(step, model, archive.weights);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_DESCRIBEPORTS_H
#define WEFT_TOOLS_WEFT_COMPILER_DESCRIBEPORTS_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/data/formats/KerasArchive.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::tool {

/// Adds what the model knows to the ports' facts: places in files of Keras, the
/// layer of the only input or output, the number of classes, and which of
/// Keras' draws is a seed, which --seed draws again.
///
/// A weight that has a value in `saved`, the values of the model's file, loses
/// its initializer, as a compiled step must not begin with other weights than
/// its model.
void describePorts(mlir::func::FuncOp step, const keras::Model &model,
                   const std::vector<StoredArray> &saved);

/// Sets the fact `source` of the first input: what a training from the compiled step must share with the one that it resumes.
void noteSource(mlir::func::FuncOp step, const std::string &hash);
/// The hash of a text, or of a file, as hexadecimal digits.
std::string hashOfText(llvm::StringRef text);
std::string hashOfFile(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_DESCRIBEPORTS_H
