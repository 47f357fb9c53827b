//===- ArgumentReader.cpp - arguments from JSON ---------------------------===//

#include "weft/base/config/ArgumentReader.h"

using namespace weft;
using namespace weft::keras;

namespace {

using Kind = Argument::Kind;

class ArgumentReader {
public:
  ArgumentReader(const TensorReader &tensor [[clang::lifetimebound]],
                 const std::string &where [[clang::lifetimebound]],
                 Status &status [[clang::lifetimebound]])
      : tensor(tensor), where(where), status(status) {}
  Argument read(const Json &json, unsigned depth = 0);

private:
  void readObject(const Json &json, Argument &out, unsigned depth);
  void readArray(const Json &config, Argument &out);
  bool readNumbers(const Json &value, unsigned depth, Argument &out);
  void refuse(const Json &json) {
    if (status)
      status = Error{where + ": an argument is " + shortText(json) +
                     ", which is not supported; use tensors, numbers, texts, "
                     "lists and slices"};
  }

  const TensorReader &tensor;
  const std::string &where;
  Status &status;
};

/// Reads a number or nested lists of numbers; fails for other values, empty
/// lists, lists of one level that differ in length, and more than 16 levels.
bool ArgumentReader::readNumbers(const Json &value, unsigned depth,
                                 Argument &out) {
  if (value.is_array()) {
    if (depth >= 16 || value.empty())
      return false;
    if (out.shape.size() == depth && out.numbers.empty())
      out.shape.push_back(int64_t(value.size()));
    if (out.shape.size() <= depth || out.shape[depth] != int64_t(value.size()))
      return false;
    for (const Json &entry : value)
      if (!readNumbers(entry, depth + 1, out))
        return false;
    return true;
  }
  if (out.shape.size() != depth || !(value.is_number() || value.is_boolean()))
    return false;
  out.numbers.push_back(value.is_boolean() ? double(value.get<bool>())
                                           : value.get<double>());
  return true;
}

void ArgumentReader::readArray(const Json &config, Argument &out) {
  out.kind = Kind::Array;
  Json type = config.value("dtype", Json());
  out.text = type.is_string() ? type.get<std::string>() : "float32";
  if (!config.contains("value") || !readNumbers(config["value"], 0, out))
    refuse(config);
}

void ArgumentReader::readObject(const Json &json, Argument &out,
                                unsigned depth) {
  static const Json kNone = Json::object();
  Json name = json.value("class_name", Json());
  bool hasConfig = json.contains("config") && json["config"].is_object();
  const Json &config = hasConfig ? json["config"] : kNone;
  if (config.contains("keras_history")) {
    out.kind = Kind::Tensor;
    out.integer = tensor(config["keras_history"]);
  } else if (name == "__slice__") {
    out.kind = Kind::Slice;
    for (const char *key : {"start", "stop", "step"})
      out.items.push_back(read(config.value(key, Json()), depth + 1));
  } else if (name == "__ellipsis__") {
    out.kind = Kind::Ellipsis;
  } else if (name == "__tensor__" || name == "__numpy__") {
    readArray(config, out);
  } else if (name == "__tuple__" && json.contains("value")) {
    out = read(json["value"], depth + 1);
  } else if (json.contains("class_name")) {
    refuse(json);
  } else {
    out.kind = Kind::Object;
    for (auto it = json.begin(); it != json.end(); ++it) {
      out.keys.push_back(it.key());
      out.items.push_back(read(it.value(), depth + 1));
    }
  }
}

Argument ArgumentReader::read(const Json &json, unsigned depth) {
  Argument out;
  out.written = shortText(json);
  if (depth > 16) {
    refuse(json);
  } else if (json.is_boolean()) {
    out.kind = Kind::Flag;
    out.integer = json.get<bool>();
  } else if (json.is_number_integer()) {
    out.kind = Kind::Integer;
    out.integer = json.get<int64_t>();
  } else if (json.is_number()) {
    out.kind = Kind::Real;
    out.real = json.get<double>();
  } else if (json.is_string()) {
    out.kind = Kind::Text;
    out.text = json.get<std::string>();
  } else if (json.is_array()) {
    out.kind = Kind::List;
    for (const Json &item : json)
      out.items.push_back(read(item, depth + 1));
  } else if (json.is_object()) {
    readObject(json, out, depth);
  }
  return out;
}

} // namespace

Argument weft::keras::readArgument(const Json &json, const TensorReader &tensor,
                                   const std::string &where, Status &status) {
  return ArgumentReader(tensor, where, status).read(json);
}
