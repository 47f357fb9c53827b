//===- ModelSettings.cpp - what of a model changes a training -------------===//

#include "weft/tools/weft/compiler/StepCompiler.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace weft;
using namespace weft::tool;

static llvm::json::Value parsed(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(text);
  if (json)
    return std::move(*json);
  llvm::consumeError(json.takeError());
  return text.str(); // a name
}

/// The flags of compile(), each instead of its member of the file's.
static void addFlags(llvm::json::Object &compile, const ModelFlags &flags) {
  for (auto [name, flag] :
       {std::pair("optimizer", &flags.optimizer),
        std::pair("loss", &flags.loss), std::pair("metrics", &flags.metrics)})
    if (*flag)
      compile[name] = parsed(**flag);
  if (flags.learningRate)
    compile["learning_rate"] = *flags.learningRate;
}

std::string StepCompiler::settings() const {
  llvm::json::Object out;
  llvm::json::Value file = parsed(kerasModel.json);
  if (llvm::json::Object *model = file.getAsObject()) {
    llvm::json::Object compile;
    if (llvm::json::Object *said = model->getObject("compile_config"))
      compile = std::move(*said);
    addFlags(compile, flags);
    for (auto &[name, value] : compile)
      out[name] = std::move(value);
    if (llvm::json::Value *config = model->get("config"))
      out["model"] = std::move(*config);
  }
  if (!flags.shapes.empty())
    out["shape"] = llvm::json::Array(flags.shapes);
  return llvm::formatv("{0}", llvm::json::Value(std::move(out)));
}
