//===- CommandLine.h - the commands and flags of weft ------------*- C++ -*-===//
//
//   CommandLine line;
//   line.parse(argc, argv);      // runs the command
//   return line.status;
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMMANDLINE_H
#define WEFT_TOOLS_WEFT_COMMANDLINE_H

#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/FlagRules.h"

#include "CLI/CLI.hpp"

namespace weft::tool {

/// Runs a command of a library that was loaded for it.
template <typename Commands, typename Flags>
int runLoaded(const Result<const Commands *> &library,
              int (*Commands::*command)(const Flags &), const Flags &flags) {
  return library ? ((*library)->*command)(flags) : fail(library.error());
}

/// The program's flags, and the function of the chosen subcommand.
struct CommandLine {
  CLI::App app{"Weft trains Keras models on a mesh of devices and shows the "
               "communication and memory of a step.",
               "weft"};
  int status = 0;
  FitFlags fit;
  EvaluateFlags evaluate, predict;
  CompileFlags compile;
  ExplainFlags explain, layout;
  SummaryFlags summary;
  RunFlags run;
  ProfileFlags profile;
  DevicesFlags devices;
  ReshardFlags reshard;

  CommandLine();
  /// Runs the command that the words name; throws CLI::ParseError for wrong
  /// ones.
  void parse(int argc, char **argv);

private:
  /// Adds the commands that take a program, compiled or not: run, profile.
  void addPrograms();
  /// Refuses a first word that is neither a flag nor the name of a subcommand.
  void checkCommand(const std::string &word) const;
  /// Refuses a flag that the command does not have, if a known one is close.
  void checkFlags() const;
  /// A subcommand that loads the compiler and calls one of its commands.
  template <typename Flags>
  CLI::App &add(const char *name, const char *what, const Flags &flags,
                int (*CompilerCommands::*command)(const Flags &)) {
    CLI::App *added = app.add_subcommand(name, what);
    added->callback([this, added, &flags, command] {
      checkFlagRules(*added);
      status = runLoaded(loadCompiler(), command, flags);
    });
    return *added;
  }
  /// Adds a subcommand that needs the compiler for all models except a .weft
  /// file.
  template <typename Flags>
  CLI::App &addTraining(const char *name, const char *what, const Flags &flags,
                        int (*CompilerCommands::*compiling)(const Flags &),
                        int (*StepCommands::*compiled)(const Flags &)) {
    CLI::App *added = app.add_subcommand(name, what);
    added->callback([this, added, &flags, compiling, compiled] {
      checkFlagRules(*added);
      status = flags.model.model.ends_with(".weft")
                   ? runLoaded(loadStepCommands(), compiled, flags)
                   : runLoaded(loadCompiler(), compiling, flags);
    });
    return *added;
  }
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMANDLINE_H
