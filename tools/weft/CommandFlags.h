//===- CommandFlags.h - flags that several commands share -------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMMANDFLAGS_H
#define WEFT_TOOLS_WEFT_COMMANDFLAGS_H

#include "weft/tools/weft/Commands.h"

#include "CLI/CLI.hpp"

namespace weft::tool {

/// Adds the model, whose file is of one of the `accepted` kinds, and --shape.
void addModel(CLI::App &app, ModelFlags &flags, const char *accepted);
/// Adds the flags of layouts: --distribution, --data-parallel, --devices.
void addLayoutFlags(CLI::App &app, ModelFlags &flags);
/// Adds --devices; `usual` says what is used without it.
void addDevices(CLI::App &app, std::optional<DeviceList> &devices,
                const std::string &usual);
/// Adds --graphs, of commands that run programs.
void addGraphs(CLI::App &app, bool &graphs);
/// Adds --share, of commands that run programs.
void addShare(CLI::App &app, bool &share);
/// Adds --collectives.
void addCollectives(CLI::App &app, std::string &mode);
void addTiming(CLI::App &app, ModelFlags &flags);
/// Adds --target, --matmul-precision and --timing.
void addTargetFlags(CLI::App &app, ModelFlags &flags);
/// Adds --loss and --metrics; they replace parts of the file's compile().
void addLossFlags(CLI::App &app, ModelFlags &flags);
/// Adds --optimizer and --learning-rate.
void addOptimizerFlags(CLI::App &app, ModelFlags &flags);
void addSeed(CLI::App &app, ModelFlags &flags);
/// Adds --batch-size with one size; `weft compile` takes several.
void addBatchSize(CLI::App &app, ModelFlags &flags);
/// Adds --microbatches and --allow-microbatch-statistics.
void addMicrobatchFlags(CLI::App &app, ModelFlags &flags);
/// Adds --overlap and --rings, of commands that compile steps.
void addOverlap(CLI::App &app, ModelFlags &flags);
void addBudgetFlags(CLI::App &app, ModelFlags &flags);
/// Add the flags of weft fit, and those of weft evaluate or weft predict.
void addFit(CLI::App &app, FitFlags &flags);
void addEvaluate(CLI::App &app, EvaluateFlags &flags, bool predict);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMANDFLAGS_H
