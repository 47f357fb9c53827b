//===- OptionWriter.h - options as rows and as JSON --------------*- C++ -*-===//
//
// Includes Json.h, so needs exceptions. listOptions(Dense()) returns
// rows such as
//
//   units      integer        0     accepted  must be positive
//   use_bias   true or false  true  accepted
//   lora_rank                 null  refused   low-rank adapters
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_OPTIONWRITER_H
#define WEFT_BASE_CONFIG_OPTIONWRITER_H

#include "weft/base/config/Json.h"
#include "weft/base/config/Options.h"

namespace weft::keras {

enum class OptionStatus { Accepted, Refused, Ignored };

/// The type of an option that names a file or folder, which is written.
inline constexpr const char *kFile = "file";

struct OptionRow {
  std::string name;
  std::string type; ///< "number"; empty if the option is not accepted
  Json value;       ///< value as a file has it
  OptionStatus status = OptionStatus::Accepted;
  /// The limits of the value, or the reason why the option is refused or
  /// ignored.
  std::string remark;
};
std::vector<OptionRow> listOptions(const Configured &object);

/// The object's config as Keras writes it, except that an object among the
/// options is the name of its class, and lists and dicts of objects are empty.
Json writeOptions(const Configured &object);

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_OPTIONWRITER_H
