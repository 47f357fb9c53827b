// docs/keras.md lists the options that the tables of classes accept. To write
// it again:
//   WEFT_WRITE_DOCS=1 build/bin/keras-docs-test

#include "weft/base/config/OptionWriter.h"
#include "weft/compiler/frontends/keras/activations/Activation.h"
#include "weft/compiler/frontends/keras/layers/QuantizationConfig.h"
#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/training/callbacks/CallbackTable.h"

#include "catch2/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace weft::keras;

static const char *const kHead =
    R"(# Keras: layers, losses, optimizers and metrics of models

`WEFT_WRITE_DOCS=1 build/bin/keras-docs-test` writes this page from the tables in `compiler/frontends/keras`.
`docs/adding-a-layer.md` describes how to add a class.

* Each class and each option in the second column has a case in `test/fixtures/layers`, with figures of Keras 3.15.1.
* An option in the third column is refused unless it has its default. The reason is in parentheses.
* Models are `Functional` and `Sequential`, and may be nested. If a layer of a nested model has the name of another layer, the name of the nested model comes first in the paths of its
variables: `base/dense/kernel`.
* Inputs of 64 bits are read as 32 bits, as in Keras on JAX.
* A layer may have any type policy of `keras.DTypePolicy`. `Dense`, `EinsumDense`, `Embedding` and `ReversibleEmbedding` may have the policies that `model.quantize()` sets: `int8`, `int4` (with
groups of rows or without), and for the first two those of GPTQ and AWQ. `float8` is for `Dense` and
`EinsumDense`, which predict and evaluate with it, and do not train. Integers stay as they are in training, as in Keras; beside `lora_rank` a saved file has the integers of the sum.
* Beside `lora_rank` only the adapter and the other weights of a layer train. `TimeDistributed` takes a layer or a model, `Functional` or `Sequential`, without functions of `keras.ops`.
* Masks follow the tensors as in Keras.
)";

static std::string optionText(const OptionRow &row) {
  std::string out = "`" + row.name + "`";
  if (row.status == OptionStatus::Refused)
    return out + " (" + row.remark + ")";
  out += " " + row.type;
  std::string value = shortText(row.value);
  if (value != "[]" && value != "\"\"")
    out += " = " + value;
  return out;
}

static std::string optionsText(const std::vector<OptionRow> &rows,
                               OptionStatus status) {
  std::string out;
  for (const OptionRow &row : rows)
    if (row.status == status)
      out += (out.empty() ? "" : "; ") + optionText(row);
  return out;
}

static std::string section(const std::string &title, const AnyTable &table) {
  std::string out =
      "\n## " + title + "\n\n| class | options | refused |\n|---|---|---|\n";
  for (const TableRow &row : table.rows) {
    std::string names = "`" + std::string(row.name) + "`";
    for (const char *other : row.otherNames)
      names += ", `" + std::string(other) + "`";
    std::vector<OptionRow> options = listOptions(*AnyTable::make(row));
    out += "| " + names + " | " + optionsText(options, OptionStatus::Accepted) +
           " | " + optionsText(options, OptionStatus::Refused) + " |\n";
  }
  return out;
}

/// Returns the section of keras.ops: the tensor arguments and the options of
/// each class.
static std::string operations() {
  std::string out =
      "\n## Functions of keras.ops\n\nA Functional model may apply them to its "
      "tensors. Arguments that are no tensors are numbers, texts, lists, "
      "slices, `None`, `...` and arrays; types of results are those of JAX. "
      "Others of `keras.ops` are refused by name.\n\n"
      "| class | called with | options |\n|---|---|---|\n";
  const Table<Layer> &table = operationTable();
  for (const TableRow &row : table.rows) {
    auto made = AnyTable::make(row);
    std::string names, options;
    Facts facts = static_cast<const Layer &>(*made).facts();
    for (const char *name : facts.tensors)
      names += (names.empty() ? "" : ", ") + std::string(name);
    for (const OptionRow &option : listOptions(*made))
      options += (options.empty() ? "`" : "; `") + option.name +
                 "` = " + shortText(option.value);
    out += "| `" + std::string(row.name) + "` | " + names + " | " + options +
           " |\n";
  }
  return out;
}

static std::string namesOf(const std::string &title, const AnyTable &table) {
  return "\n## " + title + "\n\n" + table.names() + ".\n";
}

static std::string page() {
  return kHead + section("Layers", layerTable()) + operations() +
         namesOf("Activations", activationTable()) +
         section("Initializers", initializerTable()) +
         section("Regularizers", regularizerTable()) +
         section("Constraints", constraintTable()) +
         section("Quantizers", quantizerTable()) +
         section("Quantization of layers", quantizationTable()) +
         section("Losses", lossTable()) + section("Metrics", metricTable()) +
         "\n`accuracy` stands for one of three, by the shapes of predictions "
         "and labels, as in Keras.\n" +
         section("Optimizers", optimizerTable()) +
         section("Learning rate schedules", scheduleTable()) +
         section("Callbacks of weft fit", weft::callbackTable());
}

/// Returns the options of each class of a table, in order.
static Json optionsOf(const AnyTable &table) {
  Json out = Json::object();
  for (const TableRow &row : table.rows) {
    Json &options = out[row.name] = Json::array();
    for (const OptionRow &option : listOptions(*AnyTable::make(row)))
      options.push_back({{"name", option.name},
                         {"default", option.value},
                         {"is_read", option.status == OptionStatus::Accepted}});
  }
  return out;
}

// test/keras/options.test compares the file with the signatures of Keras.
TEST_CASE("the options are written as JSON") {
  const char *path = std::getenv("WEFT_WRITE_OPTIONS");
  if (!path)
    return;
  Json all = {{"layers", optionsOf(layerTable())},
              {"initializers", optionsOf(initializerTable())},
              {"regularizers", optionsOf(regularizerTable())},
              {"constraints", optionsOf(constraintTable())},
              {"losses", optionsOf(lossTable())},
              {"metrics", optionsOf(metricTable())},
              {"optimizers", optionsOf(optimizerTable())},
              {"schedules", optionsOf(scheduleTable())},
              {"callbacks", optionsOf(weft::callbackTable())}};
  std::ofstream(path) << all.dump(1);
}

TEST_CASE("docs/keras.md agrees with the tables") {
  std::string path = WEFT_DOCS "/keras.md";
  if (std::getenv("WEFT_WRITE_DOCS"))
    std::ofstream(path) << page();
  std::ifstream in(path);
  std::stringstream written;
  written << in.rdbuf();
  INFO("write it again with WEFT_WRITE_DOCS=1");
  CHECK(written.str() == page());
}
