//===- InnerGraphReader.cpp - the layers and calls of an inner model ------===//

#include "weft/base/config/ArgumentReader.h"
#include "weft/base/config/OptionReader.h"

using namespace weft;
using namespace weft::keras;

namespace {

class InnerGraphReader {
public:
  InnerGraphReader(Fields &fields [[clang::lifetimebound]],
                   const AnyTable &table [[clang::lifetimebound]],
                   InnerGraph &graph [[clang::lifetimebound]])
      : fields(fields), table(table), graph(graph) {}
  void readChain(const Json &layers);
  void readCalls(const Json &layers);
  std::vector<InnerGraph::Tensor> tensors(const Json &json);

private:
  bool member(const Json &entry);
  bool isInput(size_t member) const {
    return graph.members[member]->className == "InputLayer";
  }
  void call(size_t member, int64_t number, const Json &node);
  InnerGraph::Tensor tensor(const Json &json);

  Fields &fields;
  const AnyTable &table;
  InnerGraph &graph;
};

/// Reads a layer; the entry of a Functional has its calls beside its config.
bool InnerGraphReader::member(const Json &entry) {
  if (!entry.is_object()) {
    fields.refuse("\"layers\" must be a list of layers, not of " +
                  shortText(entry));
    return false;
  }
  Json alone = entry;
  for (const char *key : {"name", "inbound_nodes", "compile_config"})
    alone.erase(key);
  Json config = alone.value("config", Json());
  Json name = config.is_object() ? config.value("name", Json()) : Json();
  Json module = alone.value("module", Json());
  if (module.is_string() &&
      module.get<std::string>().starts_with("keras.src.ops.")) {
    fields.refuse("layer " + shortText(name) +
                  " is a function of keras.ops, which a model inside a layer "
                  "may not call; use a layer, or call the model without "
                  "TimeDistributed");
    return false;
  }
  auto object =
      readObject(alone, table, fields.place() + ": layers", fields.state());
  if (!object)
    return false;
  graph.members.push_back(object);
  graph.names.push_back(name.is_string() ? name.get<std::string>()
                                         : snakeCase(object->className));
  return true;
}

/// Reads the layers of a Sequential, each of which is called once.
void InnerGraphReader::readChain(const Json &layers) {
  InnerGraph::Tensor from;
  for (const Json &entry : layers) {
    if (!member(entry))
      return;
    size_t last = graph.members.size() - 1;
    InnerGraph::Tensor name{graph.names[last]};
    if (isInput(last)) {
      from = name;
    } else {
      InnerGraph::Call call{last, name, {from}};
      call.arguments.positional.resize(1);
      call.arguments.positional[0].kind = Argument::Kind::Tensor;
      graph.calls.push_back(std::move(call));
      from = name;
    }
    if (last == 0)
      graph.inputs = {isInput(last) ? name : InnerGraph::Tensor{}};
  }
  graph.outputs = {from};
}

InnerGraph::Tensor InnerGraphReader::tensor(const Json &json) {
  if (json.is_array() && json.size() == 3 && json[0].is_string() &&
      json[1].is_number_integer() && json[2].is_number_integer())
    return {json[0].get<std::string>(), json[1].get<int64_t>(),
            json[2].get<int64_t>()};
  fields.refuse("expected [layer, call, result], found " + shortText(json));
  return {};
}

std::vector<InnerGraph::Tensor> InnerGraphReader::tensors(const Json &json) {
  if (json.is_array() && !json.empty() && json[0].is_string())
    return {tensor(json)};
  std::vector<InnerGraph::Tensor> out;
  if (json.is_structured())
    for (const Json &part : json)
      out.push_back(tensor(part));
  return out;
}

void InnerGraphReader::call(size_t member, int64_t number, const Json &node) {
  InnerGraph::Call call{member, {graph.names[member], number, 0}, {}};
  auto take = [&](const Json &history) {
    call.tensors.push_back(tensor(history));
    return int64_t(call.tensors.size()) - 1;
  };
  const std::string where = fields.place() + ": " + graph.names[member];
  Status status;
  Fields parts(node, where, fields.state());
  if (const Json *args = parts.find("args"); args && args->is_array())
    for (const Json &argument : *args)
      call.arguments.positional.push_back(
          readArgument(argument, take, where, status));
  if (const Json *kwargs = parts.find("kwargs"); kwargs && kwargs->is_object())
    for (const auto &[key, value] : kwargs->items())
      if (key != "training" && !value.is_null())
        call.arguments.keywords[key] = readArgument(value, take, where, status);
  parts.finish();
  if (!status)
    addError(fields.state(), status.error().message);
  graph.calls.push_back(std::move(call));
}

void InnerGraphReader::readCalls(const Json &layers) {
  for (const Json &entry : layers) {
    if (!member(entry))
      return;
    Json nodes = entry.value("inbound_nodes", Json::array());
    for (size_t i = 0; nodes.is_array() && i < nodes.size(); ++i)
      call(graph.members.size() - 1, int64_t(i), nodes[i]);
  }
}

} // namespace

void weft::keras::readInnerGraph(Fields &fields, const AnyTable &table,
                                 bool isChain, InnerGraph &graph) {
  const Json *layers = fields.find("layers");
  fields.accept({"build_input_shape"});
  if (!layers || !layers->is_array() || layers->empty())
    return fields.refuse("\"layers\" must be a list of layers");
  InnerGraphReader reader(fields, table, graph);
  if (isChain)
    return reader.readChain(*layers);
  reader.readCalls(*layers);
  static const Json kNone = Json::array();
  const Json *inputs = fields.find("input_layers"),
             *outputs = fields.find("output_layers");
  graph.inputs = reader.tensors(inputs ? *inputs : kNone);
  graph.outputs = reader.tensors(outputs ? *outputs : kNone);
  // Call 0 of a Functional is its own construction there, as in GraphReader.
  for (InnerGraph::Tensor &tensor : graph.outputs)
    for (size_t i = 0; i < graph.members.size(); ++i)
      if (tensor.call > 0 && graph.names[i] == tensor.member &&
          graph.members[i]->className == "Functional")
        --tensor.call;
}
