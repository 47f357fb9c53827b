//===- FlagRules.h - flags that have no effect together ---------*- C++ -*-===//
//
//   checkFlagRules(command);       // throws CLI::ValidationError
//
//   weft fit m.json --distribution d.json --data-parallel
//   weft: error: --distribution: has no effect with --data-parallel, ...
//
// A flag that a person gave is used, or refused by a message that names it and
// the other flag, with status 2 and before any file is read. Flags whose use
// depends on a file are checked where the file is read.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_FLAGRULES_H
#define WEFT_TOOLS_WEFT_FLAGRULES_H

#include "CLI/CLI.hpp"

namespace weft::tool {

/// Refuses an empty value of each flag that has one.
void refuseEmptyValues(CLI::App &command);
/// Checks the flags that were given to a command against the rules.
void checkFlagRules(const CLI::App &command);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_FLAGRULES_H
