//===- DataKeys.h - which array of a file is for which port -----*- C++ -*-===//
//
//   ArrayKind kind = kindOf(Role::Label, DataPurpose::Fit);    // y
//   std::optional<std::string> key = findKey(*file, kind, port, purpose, single);
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

/// The layer's name `images` for the ports `images`, `x/images` and `y/images`.
std::string layerName(const Port &port, const char *key);

/// The NAME and the source of [NAME=]FILE.npz:KEY.
struct NamedSource {
  std::optional<std::string> name;
  std::string source;
};
NamedSource namedSource(const std::string &argument);

/// The source that the last option of this kind, such as x, names for this
/// port; empty when none does. `single`: the step has one port of this role.
Result<std::string> overridden(const DataOptions &options,
                               const ArrayKind &kind, const Port &port,
                               bool single);
/// Fails if an option names an array for a port of this role that the model does
/// not have, unless it has no port of this role at all.
Status checkNames(const DataOptions &options, const ArrayKind &kind, Role role,
                  std::span<const Port> ports);

/// The file's key for this port, or nothing.
std::optional<std::string> findKey(const ArrayFile &file, const ArrayKind &kind,
                                   const Port &port, DataPurpose purpose,
                                   bool single);
/// As above, with an error that lists the keys that were tried.
Result<std::string> promisedKey(const ArrayFile &file, const ArrayKind &kind,
                                const Port &port, DataPurpose purpose,
                                bool single);

/// The arrays of a file that no port of the step takes. Fails if an array's
/// name says that it is for a port which the step does not have: y/prices.
Result<std::vector<UnreadArray>> unreadArrays(const ArrayFile &file,
                                              const std::set<std::string> &read,
                                              DataPurpose purpose,
                                              std::span<const Port> ports);

} // namespace weft

#endif // WEFT_TRAINING_DATAKEYS_H
