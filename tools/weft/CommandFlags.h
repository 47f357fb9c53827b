//===- CommandFlags.h - flags that several commands share -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDFLAGS_H
#define WEFT_TOOLS_WEFT_COMMANDFLAGS_H

#include "weft/tools/weft/Commands.h"

#include "CLI/CLI.hpp"

namespace weft::tool {

/// Adds the flags of a model; `accepted` names the allowed kinds of the model's
/// file.
void addModelFlags(CLI::App &app, ModelFlags &flags, const char *accepted);
/// Adds --batch-size with one size; `weft compile` takes several.
void addBatchSize(CLI::App &app, ModelFlags &flags);
void addBudgetFlags(CLI::App &app, ModelFlags &flags);
/// Add the flags of weft fit, and those of weft evaluate or weft predict.
void addFit(CLI::App &app, FitFlags &flags);
void addEvaluate(CLI::App &app, EvaluateFlags &flags, bool predict);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMANDFLAGS_H
