//===- DataKeys.h - which array of a file is for which port -----*- C++ -*-===//
//
//   Result<ChosenArrays> chosen = chooseArrays(options, purpose, ports, file);
//   chosen->arrays[1]     // port y/price, source FILE.npz:y, key y
//
// A file's arrays for the port `x/images`, the input of the layer `images`:
//
//   x/images, x_train/images                     one of several inputs
//   x, x_train, x/images, x_train/images         the only input
//   images                                       by the layer's name alone
//
// and so for labels (`y`, by the name of the output) and for weights of samples
// (`sample_weight`, which has no name alone). Each purpose has suffixes of its
// own. An array that no port takes is an error if its name says that it is for
// one, or is named in a warning or a line of the description.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_DATAKEYS_H
#define WEFT_TRAINING_DATAKEYS_H

#include "weft/training/TrainingData.h"

#include <optional>
#include <set>

namespace weft {

/// A kind of array, x, y or sample_weight, and the option that names another
/// array.
struct ArrayKind {
  const char *key;
  Option option;
  const std::vector<std::string> DataOptions::*overrides;
};
ArrayKind kindOf(Role role, DataPurpose purpose);

/// The suffixes of keys for a purpose, in the order in which they are tried:
/// "", "_train".
std::vector<std::string> suffixesOf(DataPurpose purpose);

/// The NAME and the source of [NAME=]FILE.npz:KEY.
struct NamedSource {
  std::optional<std::string> name;
  std::string source;
};
NamedSource namedSource(const std::string &argument);

/// The array of a port.
struct ChosenArray {
  Port port;
  std::string source; ///< FILE.npz:KEY; empty: each sample weighs 1
  std::string key;    ///< in the file of `data`; empty: an option names it
};
struct ChosenArrays {
  std::vector<ChosenArray> arrays; ///< of the ports that the purpose reads
  std::vector<UnreadArray> unread; ///< arrays of the file that no port takes
};
/// Chooses the arrays by options and, for other ports, from `file` (null without
/// `data`). Fails if a port has none, an option names a port that the model does
/// not have, an array's name says that it is for such a port (y/prices), or
/// nothing of the file is read.
Result<ChosenArrays> chooseArrays(const DataOptions &options,
                                  DataPurpose purpose,
                                  std::span<const Port> ports,
                                  const ArrayFile *file);

} // namespace weft

#endif // WEFT_TRAINING_DATAKEYS_H
