//===- CallbackOptions.h - a callback's arguments ---------------*- C++ -*-===//
//
//   void EarlyStopping::options(CallbackOptions &o) {
//     o.integer("patience", patience, /*least=*/0);
//     o.flag("restore_best_weights", restoreBest);
//   }
//
// Reads an object of JSON, {"patience": 3}, into a callback's members. The
// first error is kept: a value of another type, or, at the end, an unknown
// name, with the closest known one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_CALLBACKOPTIONS_H
#define WEFT_TRAINING_CALLBACKS_CALLBACKOPTIONS_H

#include "weft/base/Result.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft {

/// The value on one line, for a message.
std::string printed(const nlohmann::json &value);

class CallbackOptions {
public:
  /// Takes the object; messages begin with `where`: "callback EarlyStopping".
  CallbackOptions(std::string where,
                  const nlohmann::json &given [[clang::lifetimebound]])
      : where(std::move(where)), given(given) {}

  void text(const char *name, std::string &value);
  /// Reads the name of a file or folder that the callback writes: a run may
  /// resume with another one.
  void output(const char *name, std::string &value);
  void choice(const char *name, std::string &value,
              const std::set<std::string> &known);
  void number(const char *name, double &value);
  void number(const char *name, std::optional<double> &value);
  void numbers(const char *name, std::vector<double> &values);
  void integer(const char *name, int64_t &value, int64_t least);
  void flag(const char *name, bool &value);
  /// Reads a frequency: "epoch", or no option, sets `every` to 0, a number is a
  /// number of batches.
  void frequency(const char *name, int64_t &every);
  /// An option with any value, which the callback reads itself; null without
  /// it.
  const nlohmann::json *any(const char *name);
  /// Keeps an error if the option is missing.
  void required(const char *name);
  /// Keeps an error if the option is given with another value than Keras'
  /// default.
  void refused(const char *name, const nlohmann::json &usual,
               const Message &how);
  void check(bool fits, const Message &message);
  /// The first error, if there is one.
  Status finish();
  /// The options' names in the order of their declaration, which is Keras'.
  const std::vector<std::string> &names() const { return asked; }
  /// The given options, without those of output().
  nlohmann::json settings() const;

private:
  const nlohmann::json *find(const char *name);
  void wrong(const char *name, const std::string &must);

  std::string where;
  const nlohmann::json &given;
  std::vector<std::string> asked, outputs;
  Message error;
};

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_CALLBACKOPTIONS_H
