//===- CommandFlags.h - flags that several commands share -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDFLAGS_H
#define WEFT_TOOLS_WEFT_COMMANDFLAGS_H

#include "weft/tools/weft/Commands.h"

#include "CLI/CLI.hpp"

namespace weft::tool {

/// `accepted` says what the model's file may be.
void addModelFlags(CLI::App &app, ModelFlags &flags, const char *accepted);
/// Adds --batch-size of one size; `weft compile` takes several.
void addBatchSize(CLI::App &app, ModelFlags &flags);
void addBudgetFlags(CLI::App &app, ModelFlags &flags);
/// All of weft fit; of weft evaluate or weft predict.
void addFit(CLI::App &app, FitFlags &flags);
void addEvaluate(CLI::App &app, EvaluateFlags &flags, bool predict);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMANDFLAGS_H
