//===- ArgumentReader.cpp - the tensors and arguments of calls ------------===//

#include "weft/compiler/frontends/keras/model/ArgumentReader.h"
#include "weft/base/config/ArgumentReader.h"

#include <algorithm>

using namespace weft;
using namespace weft::keras;

namespace {

GraphTensor readTriple(const Json &json, const std::string &where,
                       Status &status) {
  if (json.is_array() && json.size() == 3 && json[0].is_string() &&
      json[1].is_number_integer() && json[2].is_number_integer())
    return {json[0].get<std::string>(), json[1].get<int64_t>(),
            json[2].get<int64_t>()};
  if (status)
    status = Error{where + ": expected [layer, call, result], found " +
                   shortText(json)};
  return {};
}

class CallReader {
public:
  CallReader(const std::string &where [[clang::lifetimebound]],
             GraphCall &call [[clang::lifetimebound]],
             Status &status [[clang::lifetimebound]])
      : where(where), call(call), status(status) {}
  Argument read(const Json &json);
  void positional(const Json &args);
  void keywords(const Json &kwargs, const Layer *layer);
  void byName(const Layer &layer);
  void onlyTensors(const Argument &argument, const Json &json);

private:
  void refuse(const std::string &what) {
    if (status)
      status = Error{where + ": " + what};
  }
  const std::string &where;
  GraphCall &call;
  Status &status;
};

Argument CallReader::read(const Json &json) {
  auto tensor = [&](const Json &history) {
    call.inputs.push_back(readTriple(history, where, status));
    return int64_t(call.inputs.size()) - 1;
  };
  return readArgument(json, tensor, where, status);
}

/// Refuses an argument that is not a tensor, null, or a list or dict of these.
void CallReader::onlyTensors(const Argument &argument, const Json &json) {
  using Kind = Argument::Kind;
  if (argument.kind == Kind::List || argument.kind == Kind::Object)
    for (const Argument &item : argument.items)
      onlyTensors(item, json);
  else if (!argument.isTensor() && argument.isGiven())
    refuse("is called with " + shortText(json) + ", which is no tensor");
}

void CallReader::positional(const Json &args) {
  for (const Json &json : args)
    call.arguments.positional.push_back(read(json));
}

/// Whether the JSON is null, or a list or dict of such entries that is not
/// empty.
bool holdsNothing(const Json &json) {
  return json.is_null() ||
         (json.is_structured() && !json.empty() &&
          std::all_of(json.begin(), json.end(), holdsNothing));
}

/// Reads the keywords that the layer takes, or a nested model: "mask".
/// "training" is ignored, as the kind of step defines it.
void CallReader::keywords(const Json &kwargs, const Layer *layer) {
  Fields f(kwargs, where + ": arguments of its call", status);
  if (!kwargs.is_object())
    return;
  f.accept({"training"});
  const Facts facts = layer ? layer->facts() : Facts{.tensors = {"mask"}};
  for (auto it = kwargs.begin(); it != kwargs.end(); ++it) {
    const std::string &name = it.key();
    bool isNull = holdsNothing(*it);
    auto isIn = [&](const std::vector<const char *> &names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (isNull || facts.readsArguments)
      f.accept({name.c_str()});
    else if (isIn(facts.flags))
      f.boolean(name.c_str(), false);
    else if (isIn(facts.tensors))
      onlyTensors(read(*f.find(name.c_str())), *it);
    else
      continue;
    bool isKept = !isNull || facts.readsArguments;
    if (isKept && name != "training")
      call.arguments.keywords[name] = read(*it);
  }
  f.finish();
}

/// Makes the layer's first parameter positional, and the others keywords.
void CallReader::byName(const Layer &layer) {
  std::vector<const char *> names = layer.facts().tensors;
  std::vector<Argument> written = std::move(call.arguments.positional);
  std::map<std::string, Argument> &keywords = call.arguments.keywords;
  call.arguments.positional.clear();
  for (size_t i = 0; i < written.size(); ++i) {
    if (i >= names.size())
      return refuse("is called with " + std::to_string(written.size()) +
                    " arguments; it takes " + std::to_string(names.size()));
    if (written[i].isGiven() && !keywords.emplace(names[i], written[i]).second)
      return refuse("is called with two arguments " + inQuotes(names[i]));
  }
  if (names.empty())
    return;
  if (auto first = keywords.find(names[0]); first != keywords.end()) {
    call.arguments.positional.push_back(std::move(first->second));
    keywords.erase(first);
  }
}

/// Numbers tensors in the order of the arguments.
void renumber(GraphCall &call) {
  std::vector<GraphTensor> ordered;
  std::vector<Argument *> open;
  auto take = [&](Argument &argument, auto &self) -> void {
    if (argument.isTensor()) {
      ordered.push_back(call.inputs[argument.integer]);
      argument.integer = int64_t(ordered.size()) - 1;
    }
    for (Argument &item : argument.items)
      self(item, self);
  };
  for (Argument &argument : call.arguments.positional)
    take(argument, take);
  for (auto &[name, argument] : call.arguments.keywords)
    take(argument, take);
  call.inputs = std::move(ordered);
}

} // namespace

void weft::keras::readArguments(const Json &node, const Layer *layer,
                                const std::string &where, GraphCall &call,
                                Status &status) {
  Fields f(node, where + ": inbound_nodes", status);
  const Json *args = f.find("args"), *kwargs = f.find("kwargs");
  f.finish();
  if (args && !args->is_array())
    f.refuse("\"args\" must be a list, not " + shortText(*args));
  if (f.failed())
    return;
  CallReader reader(where, call, status);
  if (args)
    reader.positional(*args);
  bool isPlain = !layer || !layer->facts().readsArguments;
  for (size_t i = 0; isPlain && i < call.arguments.positional.size(); ++i)
    reader.onlyTensors(call.arguments.positional[i], (*args)[i]);
  if (kwargs)
    reader.keywords(*kwargs, layer);
  if (layer && isPlain)
    reader.byName(*layer);
  renumber(call);
  if (status && call.inputs.empty())
    status = Error{where + ": must be called with a tensor, not " +
                   (args ? shortText(*args) : "none")};
}

std::vector<GraphTensor>
weft::keras::readTensors(const Json *json, const std::string &where,
                         std::vector<std::string> &keys, Status &status) {
  std::vector<GraphTensor> out;
  if (!json || json->empty()) {
    if (status)
      status = Error{where + ": is missing"};
    return out;
  }
  bool isFlat = true;
  auto take = [&](const Json &part, auto &self) -> void {
    bool isTriple = part.is_array() && !part.empty() && part[0].is_string();
    isFlat &= isTriple || &part == json;
    if (isTriple || !part.is_structured())
      return out.push_back(readTriple(part, where, status));
    std::map<std::string, const Json *> sorted;
    for (auto it = part.begin(); it != part.end(); ++it)
      part.is_object() ? void(sorted[it.key()] = &*it) : self(*it, self);
    for (const auto &[key, value] : sorted)
      self(*value, self);
  };
  take(*json, take); // may be a single tensor, as since Keras 3.11
  if (json->is_object() && isFlat)
    for (auto it = json->begin(); it != json->end(); ++it)
      keys.push_back(it.key());
  std::sort(keys.begin(), keys.end());
  return out;
}
