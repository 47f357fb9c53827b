//===- OptionWriter.h - options as rows and as JSON --------------*- C++ -*-===//
//
// Private to the Keras front end, as Json.h is. listOptions(Dropout()) is
//
//   rate          number   0.5    accepted
//   seed          integer  null   accepted
//   noise_shape            null   refused  masks of another shape
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONWRITER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONWRITER_H

#include "weft/compiler/frontends/keras/schema/Json.h"
#include "weft/compiler/frontends/keras/schema/Options.h"

namespace weft::keras {

enum class OptionStatus { Accepted, Refused, Ignored };

struct OptionRow {
  std::string name;
  std::string type; ///< "number"; empty if the option is not accepted
  Json value;       ///< as in a file
  OptionStatus status = OptionStatus::Accepted;
  /// Its limits; the reason why it is refused or has no effect.
  std::string remark;
};
std::vector<OptionRow> listOptions(const Configured &object);

/// The object's config as Keras writes it.
Json writeOptions(const Configured &object);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONWRITER_H
