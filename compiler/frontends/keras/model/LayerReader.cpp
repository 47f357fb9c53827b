//===- LayerReader.cpp - one entry of a model's "layers" ------------------===//

#include "weft/compiler/frontends/keras/model/ModelReader.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"

using namespace weft;
using namespace weft::keras;

LayerDraft weft::keras::readLayer(const Json &json, Status &status) {
  LayerDraft out;
  Fields object(json, "layers", status);
  out.className = object.text("class_name", "");
  const Json *config = object.find("config");
  object.accept({"module", "registered_name", "build_config", "name",
                 "inbound_nodes", "shared_object_id"});
  if (!config || object.failed()) {
    object.refuse("a layer needs \"class_name\" and \"config\"");
    return out;
  }
  Json name = config->is_object() ? config->value("name", Json()) : Json();
  // Keras 3.3 to 3.10 write a function's name beside its config only.
  if (const Json *beside = object.find("name"); beside && name.is_null())
    name = *beside;
  Fields f(*config,
           "layer " + inQuotes(name.is_string() ? name.get<std::string>()
                                                : out.className),
           status);
  const Json *module = object.find("module");
  bool isOperation = module && module->is_string() &&
                     module->get<std::string>().starts_with("keras.src.ops.");
  const Table<Layer> &table = isOperation ? operationTable() : layerTable();
  const TableRow *row = table.find(out.className);
  // The name of the class must match exactly, as in Keras.
  if (!row || row->name != out.className) {
    f.refuse(table.refusal(out.className));
    return out;
  }
  out.layer = std::static_pointer_cast<Layer>(AnyTable::make(*row));
  out.layer->name = f.text("name", name.is_string() ? name.get<std::string>()
                                                    : out.className);
  out.layer->trainable = f.boolean("trainable", true);
  out.isBuiltAlone = object.find("build_config") != nullptr;
  if (!isOperation &&
      !out.layer->facts().hasOwnType) // a function has no policy
    out.layer->policy = readPolicy(f);
  readOptions(*out.layer, f);
  out.layer->config = config->dump();
  object.finish();
  return out;
}
