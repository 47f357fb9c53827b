//===- Json.h - objects read field by field ---------------------*- C++ -*-===//
//
// Files that include it are compiled with exceptions, but let no exception out.
// A worked example:
//
//   Status status;
//   Fields f(config, "layer \"dropout\"", status);
//   double rate = f.number("rate", 0.0);
//   f.accept({"name", "trainable"});       // known, read elsewhere
//   f.expectUnset("noise_shape");          // known, refused where set
//   f.finish();                            // any other key is an error
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_JSON_H
#define WEFT_BASE_CONFIG_JSON_H

#include "weft/base/ClosestName.h"
#include "weft/base/Result.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::keras {

using Json = nlohmann::ordered_json;

/// Parses a text. Refuses errors of syntax, with line and column, keys that an
/// object has twice, texts with a NUL, and more than 200 levels.
Result<Json> parseJson(std::string_view text);

/// Appends the message to that of the error, on a new line.
void addError(Status &status, const Message &message);
/// Appends a fix to a message that has none.
Message withFix(const Message &message, const char *how);
/// The messages of an error as one, each with a fix: "3 parts of the model are
/// refused:" and a line for each.
Error oneError(const Error &error, const char *of, const char *how);
std::string inQuotes(std::string_view text);
/// Returns the short text of a value, for messages.
std::string shortText(const Json &value);
std::string listed(const std::vector<std::string> &names);
class Fields {
public:
  /// Reads the fields of an object; readers that share `status` append their
  /// messages to its error.
  Fields(const Json &object [[clang::lifetimebound]], std::string where,
         Status &status [[clang::lifetimebound]]);

  /// The value; null where the key is absent or null.
  const Json *find(const char *key);
  bool has(const char *key) const {
    return object.is_object() && object.contains(key);
  }
  std::string text(const char *key, std::string otherwise);
  double number(const char *key, double otherwise);
  int64_t integer(const char *key, int64_t otherwise);
  /// Reads the value into `value`; returns false if it has another type.
  bool number(const char *key, double *value);
  bool integer(const char *key, int64_t *value);
  bool boolean(const char *key, bool otherwise);
  /// A list of sizes; null entries become -1.
  std::vector<int64_t> shape(const char *key);
  /// Marks keys as known that other code reads.
  void accept(std::initializer_list<const char *> keys);
  /// Refuses the key unless its value is absent, null, false, 0 or `otherwise`.
  /// `what` names the feature.
  void expectUnset(const char *key, const Json &otherwise = nullptr,
                   const Message &what = {});
  void finish();

  void refuse(const Message &what);
  bool failed() const { return !status; }
  Status &state() { return status; }
  const std::string &place() const { return where; }

private:
  const Json *typed(const char *key, bool (*test)(const Json &),
                    const char *wanted);

  const Json &object;
  std::string where;
  Status &status;
  std::set<std::string> known;
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_JSON_H
