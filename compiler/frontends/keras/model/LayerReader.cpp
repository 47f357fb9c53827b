//===- LayerReader.cpp - one entry of a model's "layers" ------------------===//

#include "weft/compiler/frontends/keras/model/ModelReader.h"

using namespace weft::keras;

LayerDraft weft::keras::readLayer(const Json &json, std::string &error) {
  LayerDraft out;
  Fields object(json, "layers", error);
  out.className = object.text("class_name", "");
  const Json *config = object.find("config");
  object.accept({"module", "registered_name", "build_config", "name",
                 "inbound_nodes", "shared_object_id"});
  if (!config || object.failed()) {
    object.refuse("a layer needs \"class_name\" and \"config\"");
    return out;
  }
  Json name = config->is_object() ? config->value("name", Json()) : Json();
  Fields f(*config,
           "layer " + inQuotes(name.is_string() ? name.get<std::string>()
                                                : out.className),
           error);
  const TableRow *row = layerTable().find(out.className);
  // Keras knows layers by the exact names of their classes.
  if (!row || row->name != out.className) {
    f.refuse("layer class " + inQuotes(out.className) +
             " is not supported; supported layers are " + layerTable().names());
    return out;
  }
  out.layer = std::static_pointer_cast<Layer>(AnyTable::make(*row));
  out.layer->name = f.text("name", out.className);
  out.layer->trainable = f.boolean("trainable", true);
  out.isBuiltAlone = object.find("build_config") != nullptr;
  if (out.className != "InputLayer") // whose dtype is that of its data
    readPolicy(f);
  readOptions(*out.layer, f);
  out.layer->config = config->dump();
  object.finish();
  return out;
}
