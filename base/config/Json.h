//===- Json.h - objects read field by field ---------------------*- C++ -*-===//
//
// Files that include it are compiled with exceptions, but let no exception out.
// A worked example:
//
//   Fields f(config, "layer \"dropout\"", error);
//   double rate = f.number("rate", 0.0);
//   f.accept({"name", "trainable"});       // known, read elsewhere
//   f.expectUnset("noise_shape");          // known, refused where set
//   f.finish();                            // any other key is an error
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_JSON_H
#define WEFT_BASE_CONFIG_JSON_H

#include "weft/base/ClosestName.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::keras {

using Json = nlohmann::ordered_json;

/// Parses a text. Returns the reason of a refusal, or empty: errors of syntax,
/// with line and column, keys that an object has twice, texts with a NUL, and
/// more than 200 levels.
std::string parseJson(std::string_view text, Json &out);

/// Appends the message to `error`, on a new line.
void addError(std::string &error, const std::string &message);
/// Appends a fix to a message that has none.
std::string withFix(const std::string &message, const char *how);
std::string inQuotes(std::string_view text);
/// Returns the short text of a value, for messages.
std::string shortText(const Json &value);
std::string listed(const std::vector<std::string> &names);
class Fields {
public:
  /// Reads the fields of an object; readers that share `error` append their
  /// messages to it.
  Fields(const Json &object [[clang::lifetimebound]], std::string where,
         std::string &error [[clang::lifetimebound]]);

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
                   const std::string &what = "");
  void finish();

  void refuse(const std::string &what);
  bool failed() const { return !error.empty(); }
  std::string &firstError() { return error; }
  const std::string &place() const { return where; }

private:
  const Json *typed(const char *key, bool (*test)(const Json &),
                    const char *wanted);

  const Json &object;
  std::string where;
  std::string &error;
  std::set<std::string> known;
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_JSON_H
