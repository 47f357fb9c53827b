//===- OptionReader.cpp - options from JSON -------------------------------===//

#include "weft/base/config/OptionReader.h"
#include "weft/base/config/ArgumentReader.h"

using namespace weft;
using namespace weft::keras;

namespace {

class OptionReader : public Options {
public:
  explicit OptionReader(Fields &fields [[clang::lifetimebound]])
      : fields(fields) {}

  void integer(const char *name, int64_t &value, Range range) override {
    if (fields.integer(name, &value))
      checkRange(name, double(value), std::to_string(value), range);
  }
  void number(const char *name, double &value, Range range) override {
    if (fields.number(name, &value))
      checkRange(name, value, shortText(value), range);
  }
  void maybeInteger(const char *name, std::optional<int64_t> &value,
                    Range range) override {
    if (!fields.has(name))
      return;
    if (!fields.find(name))
      return value.reset();
    int64_t given = 0;
    integer(name, given, range);
    value = given;
  }
  void maybeNumber(const char *name, std::optional<double> &value,
                   Range range) override {
    if (!fields.has(name))
      return;
    if (!fields.find(name))
      return value.reset();
    double given = 0;
    number(name, given, range);
    value = given;
  }
  void flag(const char *name, bool &value) override {
    value = fields.boolean(name, value);
  }
  void countOr(const char *name, int64_t &value,
               std::vector<std::pair<const char *, int64_t>> words) override;
  void texts(const char *name, std::vector<std::string> &value) override;
  void text(const char *name, std::string &value) override {
    value = fields.text(name, value);
  }
  void maybeChoice(const char *name, std::optional<std::string> &value,
                   std::vector<const char *> words) override {
    if (fields.has(name) && !fields.find(name))
      return value.reset();
    std::string given = value.value_or(words.front());
    choice(name, given, std::move(words));
    value = given;
  }
  void choice(const char *name, std::string &value,
              std::vector<const char *> words) override;
  void sizes(const char *name, std::vector<int64_t> &value,
             size_t count) override;
  void axes(const char *name, std::vector<int64_t> &value) override;
  void shape(const char *name, std::vector<int64_t> &value) override {
    if (fields.find(name))
      value = fields.shape(name);
  }
  void numbers(const char *name, std::vector<double> &value) override;
  void sides(const char *name, Sides &value, size_t count) override;
  void argument(const char *name, Argument &value,
                const char *otherwise) override;
  void required(const char *name) override {
    const Json *value = fields.find(name);
    if (!fields.failed() && (!value || *value == ""))
      fields.refuse("needs " + inQuotes(name) + "; add it to its arguments");
  }
  void refused(const char *name, const Message &what,
               const char *otherwise) override {
    fields.expectUnset(name, Json::parse(otherwise), what);
  }
  void ignored(const char *name, const char *, const char *) override {
    fields.accept({name});
  }
  void graph(InnerGraph &value, const AnyTable &table, bool isChain) override {
    readInnerGraph(fields, table, isChain, value);
  }
  void policy(const char *name, std::optional<Policy> &value) override {
    value = readPolicy(fields, name);
  }
  void check(bool isGood, const Message &complaint) override {
    if (!isGood)
      fields.refuse(complaint);
  }

protected:
  bool isObject(const char *name) override {
    const Json *json = fields.find(name);
    return json && json->is_object() && json->contains("class_name");
  }
  std::shared_ptr<const Configured>
  anyObject(const char *name, std::shared_ptr<const Configured> value,
            const AnyTable &table, const AnyTable *others) override;
  std::vector<std::shared_ptr<const Configured>>
  anyObjects(const char *name, std::vector<std::shared_ptr<const Configured>>,
             const AnyTable &table) override;
  std::vector<std::shared_ptr<const Configured>>
  anyObjectsByKey(const char *name, std::vector<std::string> &keys,
                  std::vector<std::shared_ptr<const Configured>>,
                  const AnyTable &table) override;
  std::shared_ptr<const Configured>
  anySeed(const char *name, std::shared_ptr<const Configured>, bool isUsed,
          std::shared_ptr<const Configured> (*ofSeed)(std::optional<int64_t>))
      override {
    std::optional<int64_t> given;
    maybeInteger(name, given, kAnyNumber);
    return isUsed ? ofSeed(given) : nullptr;
  }

private:
  void checkRange(const char *name, double value, const std::string &text,
                  Range range) {
    if (!(value >= range.least && value <= range.most))
      fields.refuse(inQuotes(name) + " is " + text + "; it must " + range.text);
  }
  void refuseForm(const char *name, const Json &value,
                  const std::string &wanted) {
    fields.refuse(inQuotes(name) + " must be " + wanted + ", not " +
                  shortText(value) + "; write it as Keras does");
  }

  Fields &fields;
};

void OptionReader::countOr(
    const char *name, int64_t &value,
    std::vector<std::pair<const char *, int64_t>> words) {
  const Json *json = fields.find(name);
  std::string allowed = "a positive integer";
  for (const auto &[word, number] : words) {
    if (json && *json == word)
      return void(value = number);
    allowed += " or " + inQuotes(word);
  }
  if (json && json->is_number_integer() && json->get<int64_t>() > 0)
    value = json->get<int64_t>();
  else if (json)
    refuseForm(name, *json, allowed);
}

void OptionReader::choice(const char *name, std::string &value,
                          std::vector<const char *> words) {
  value = fields.text(name, value);
  for (const char *word : words)
    if (value == word)
      return;
  std::string meant = weft::closestName(value, {words.begin(), words.end()});
  fields.refuse(
      inQuotes(name) + " is " + inQuotes(value) +
      (meant.empty() ? "" : ", did you mean " + inQuotes(meant) + "?") +
      "; it must be " + (words.size() > 1 ? "one of " : "") +
      listed({words.begin(), words.end()}));
}

/// The integers of a list, or one integer `count` times; empty for other
/// values.
std::vector<int64_t> integersOf(const Json &json, size_t count) {
  if (json.is_number_integer())
    return std::vector<int64_t>(count, json.get<int64_t>());
  std::vector<int64_t> out;
  if (json.is_array())
    for (const Json &entry : json) {
      if (!entry.is_number_integer())
        return {};
      out.push_back(entry.get<int64_t>());
    }
  return out;
}

void OptionReader::sizes(const char *name, std::vector<int64_t> &value,
                         size_t count) {
  const Json *json = fields.find(name);
  if (!json)
    return;
  value = integersOf(*json, count);
  bool isGood = value.size() == count;
  int64_t largest = 0;
  for (int64_t size : value) {
    isGood &= size > 0;
    largest = std::max(largest, size);
  }
  if (largest > std::numeric_limits<int32_t>::max())
    fields.refuse(inQuotes(name) + " is " + shortText(*json) +
                  "; it must be at most 2147483647");
  if (!isGood)
    refuseForm(name, *json,
               count == 1 ? "a positive integer"
                          : "a positive integer or " + std::to_string(count) +
                                " of them");
}

void OptionReader::axes(const char *name, std::vector<int64_t> &value) {
  const Json *json = fields.find(name);
  if (!json)
    return;
  value = integersOf(*json, 1);
  if (value.empty())
    refuseForm(name, *json, "an axis or a list of them");
}

void OptionReader::numbers(const char *name, std::vector<double> &value) {
  const Json *json = fields.find(name);
  if (!json)
    return;
  value.clear();
  const Json list = json->is_array() ? *json : Json::array({*json});
  for (const Json &number : list) {
    if (!number.is_number())
      return refuseForm(name, *json, "a number or a list of numbers");
    value.push_back(number.get<double>());
  }
}

void OptionReader::texts(const char *name, std::vector<std::string> &value) {
  const Json *json = fields.find(name);
  if (!json)
    return;
  value.clear();
  if (!json->is_array())
    return refuseForm(name, *json, "a list of texts");
  for (const Json &entry : *json) {
    if (!entry.is_string())
      return refuseForm(name, *json, "a list of texts");
    value.push_back(entry.get<std::string>());
  }
}

void OptionReader::sides(const char *name, Sides &value, size_t count) {
  const Json *json = fields.find(name);
  if (!json)
    return;
  value.clear();
  bool isPair = count == 1 && integersOf(*json, 1).size() == 2;
  const Json list =
      isPair || json->is_number_integer() ? Json::array({*json}) : *json;
  for (size_t i = 0; list.is_array() && i < count; ++i) {
    const Json &entry = list[json->is_number_integer() || isPair ? 0
                             : i < list.size()                   ? i
                                                                 : 0];
    std::vector<int64_t> pair = integersOf(entry, 2);
    if (pair.size() == 2 && pair[0] >= 0 && pair[1] >= 0)
      value.push_back({pair[0], pair[1]});
  }
  bool hasAll = json->is_number_integer() || isPair || list.size() == count;
  if (!hasAll || value.size() != count)
    refuseForm(name, *json,
               "an integer, or a list of " + std::to_string(count) +
                   " integers or pairs of integers, none of them negative");
}

void OptionReader::argument(const char *name, Argument &value,
                            const char *otherwise) {
  const Json *json = fields.find(name);
  Json absent = fields.has(name) ? Json() : Json::parse(otherwise);
  value = readArgument(
      json ? *json : absent,
      [&](const Json &) {
        fields.refuse(inQuotes(name) + " is a tensor; give it in the call");
        return 0;
      },
      fields.place(), fields.state());
}

/// Whether the JSON is an object with the name and the config of a class of the
/// table.
bool isOfClass(const Json &json, const AnyTable &table) {
  if (!json.is_object() || !json.contains("config") ||
      !json["config"].is_object() || !json.contains("class_name"))
    return false;
  auto isNamed = [&](const TableRow &row) {
    return json["class_name"] == row.name;
  };
  return std::any_of(table.rows.begin(), table.rows.end(), isNamed);
}

std::shared_ptr<const Configured>
OptionReader::anyObject(const char *name,
                        std::shared_ptr<const Configured> value,
                        const AnyTable &table, const AnyTable *others) {
  if (const Json *json = fields.find(name)) {
    bool isOther = others && isOfClass(*json, *others);
    return readObject(*json, isOther ? *others : table,
                      fields.place() + ": " + name, fields.state());
  }
  bool isNull = fields.has(name) && table.ofNull;
  return isNull ? AnyTable::make(*table.find(table.ofNull)) : value;
}

std::vector<std::shared_ptr<const Configured>>
OptionReader::anyObjects(const char *name,
                         std::vector<std::shared_ptr<const Configured>>,
                         const AnyTable &table) {
  std::vector<std::shared_ptr<const Configured>> out;
  const Json *json = fields.find(name);
  if (!json || !json->is_array()) {
    refuseForm(name, json ? *json : Json(),
               std::string("a list of ") + table.several);
    return out;
  }
  for (const Json &entry : *json) {
    auto object =
        readObject(entry, table, fields.place() + ": " + name, fields.state());
    if (!object)
      return out;
    out.push_back(std::move(object));
  }
  return out;
}

std::vector<std::shared_ptr<const Configured>>
OptionReader::anyObjectsByKey(const char *name, std::vector<std::string> &keys,
                              std::vector<std::shared_ptr<const Configured>>,
                              const AnyTable &table) {
  std::vector<std::shared_ptr<const Configured>> out;
  keys.clear();
  const Json *json = fields.find(name);
  if (json && !json->is_object())
    refuseForm(name, *json, std::string("a dict of ") + table.several);
  if (!json || !json->is_object())
    return out;
  for (const auto &[key, entry] : json->items()) {
    auto object = readObject(entry, table,
                             fields.place() + ": " + name + " " + inQuotes(key),
                             fields.state());
    if (!object)
      return out;
    keys.push_back(key);
    out.push_back(std::move(object));
  }
  return out;
}

} // namespace

/// The name of a policy of quantized weights: int8_from_float32, written so or
/// as a mode and a source; else empty.
static std::string quantizedPolicy(const Json &dtype) {
  if (dtype.is_string()) {
    std::string name = dtype.get<std::string>();
    return name.find("_from_") == name.npos ? "" : name;
  }
  if (!dtype.is_object() || !dtype.contains("config"))
    return "";
  const Json &config = dtype["config"];
  bool hasMode = config.is_object() && config.contains("mode") &&
                 config["mode"].is_string();
  Json source = hasMode ? config.value("source_name", Json()) : Json();
  return hasMode
             ? config["mode"].get<std::string>() + "_from_" +
                   (source.is_string() ? source.get<std::string>() : "float32")
             : "";
}

Policy weft::keras::readPolicy(Fields &config, const char *key) {
  const Json *dtype = config.find(key);
  if (!dtype)
    return {};
  if (std::string name = quantizedPolicy(*dtype); !name.empty()) {
    std::optional<Policy> quantized = Policy::named(name);
    if (!quantized)
      config.refuse("type policy " + inQuotes(name) +
                    " quantizes weights in a way that is not supported; "
                    "quantize the model with \"int8\", \"int4\", \"float8\", "
                    "GPTQ or AWQ, or give it as it was before "
                    "model.quantize()");
    Json length = dtype->is_object()
                      ? (*dtype)["config"].value("amax_history_length", Json())
                      : Json();
    bool isLength = length.is_number_integer() && length.get<int64_t>() > 0;
    if (quantized && isLength)
      quantized->quantization->history = length.get<int64_t>();
    else if (!length.is_null())
      config.refuse("\"amax_history_length\" is " + shortText(length) +
                    "; it must be a positive integer");
    return quantized.value_or(Policy());
  }
  const Json *name = dtype;
  if (dtype->is_object() && dtype->contains("config") &&
      (*dtype)["config"].is_object() && (*dtype)["config"].contains("name"))
    name = &(*dtype)["config"]["name"];
  std::optional<Policy> policy;
  if (name->is_string())
    policy = Policy::named(name->get<std::string>());
  if (!policy)
    config.refuse("type policy " + shortText(*name) +
                  " is not supported; supported policies are " +
                  listed(Policy::names()));
  return policy.value_or(Policy());
}

void weft::keras::readOptions(Configured &object, Fields &fields) {
  OptionReader reader(fields);
  object.options(reader);
  fields.finish();
}

Identifier weft::keras::readIdentifier(const Json &json,
                                       const std::string &where,
                                       Status &status) {
  Identifier out;
  if (json.is_string()) {
    out.isName = true;
    out.written = json.get<std::string>();
    return out;
  }
  Fields f(json, where, status);
  out.written = f.text("class_name", "");
  const Json *config = f.find("config");
  f.accept({"module", "registered_name", "shared_object_id", "build_config",
            "compile_config"});
  f.finish();
  if (out.written == "function" && config && config->is_string()) {
    out.written = config->get<std::string>();
    out.isName = true;
  } else if (config) {
    out.config = *config;
  }
  return out;
}

std::shared_ptr<Configured> weft::keras::readObject(const Json &json,
                                                    const AnyTable &table,
                                                    const std::string &where,
                                                    Status &status) {
  Status own;
  Identifier id = readIdentifier(json, where, own);
  const TableRow *row = own ? table.find(id.written) : nullptr;
  if (own && !row)
    own = Error{where + ": " + table.refusal(id.written)};
  if (!own) {
    addError(status, own.error().message);
    return nullptr;
  }
  std::shared_ptr<Configured> out = AnyTable::make(*row);
  Fields fields(id.config, where + ": " + id.written, status);
  OptionReader reader(fields);
  out->commonOptions(reader);
  readOptions(*out, fields);
  out->isBuiltAlone = json.is_object() && json.contains("build_config");
  out->config = id.config.dump();
  return out;
}
