//===- FlagRules.cpp - flags that have no effect together -----------------===//

#include "weft/tools/weft/FlagRules.h"

#include "weft/base/ClosestName.h"

using namespace weft::tool;

namespace {

/// Two flags of which one would drop the other.
struct Pair {
  const char *dropped, *other;
  const char *why;
  /// The values of `other` with which `dropped` has its effect, as 1,2.
  const char *fits = "";
  /// The value of `dropped` that says what happens anyway.
  const char *agrees = "";
  const char *command = ""; ///< the only command with the rule; "": all
};

constexpr Pair kPairs[] = {
    {"--distribution", "--data-parallel", "each of them lays the model out"},
    {"--shuffle", "--no-shuffle", "each of them orders the samples"},
    {"--class-weight", "--sample-weight", "each of them weighs the samples"},
    {"--validation-split", "--validation-data", "those samples are taken"},
    {"--validation-split", "--validation-x", "those samples are taken"},
    {"--validation-split", "--validation-y", "those samples are taken"},
    {"--validation-split", "--validation-sample-weight",
     "those samples are taken"},
    {"--verbose", "--json", "one object is printed", "", "0"},
    {"--bar", "--json", "one object is printed"},
    {"--bar", "--verbose", "the bar is that of --verbose 1", "1"},
    {"--top", "--json", "all rows are printed"},
    {"--seed", "--inputs", "no input is random", "", "", "profile"},
    {"--expect", "--why", "no step is planned"},
    {"--memory", "--why", "no step is planned"},
    {"--microbatches", "--why", "no step is planned"},
    {"--overlap", "--why", "no step is planned"},
    {"--rings", "--why", "no step is planned"},
    {"--microbatches", "--from", "the step is differentiated", "imported", "1"},
    {"--expect", "--emit", "budgets are those of a plan", "plan"},
    {"--overlap", "--emit", "collectives are ordered in a plan", "plan"},
    {"--rings", "--emit", "rings are formed for the stage scheduled",
     "scheduled,kernels,nests,plan,assembly"},
    {"--rings", "--from", "rings are formed after the stage partitioned",
     "imported,differentiated,sharded,partitioned"},
    {"--loss", "--step", "the step has no loss", "train,evaluate,all"},
    {"--metrics", "--step", "the step has no metrics", "train,evaluate,all"},
    {"--optimizer", "--step", "the step trains nothing", "train,all"},
    {"--learning-rate", "--step", "the step trains nothing", "train,all"},
};

/// A flag that has an effect only beside one of others.
struct Need {
  const char *flag;
  std::vector<std::string> others;
};

const std::vector<std::string> kFiles = {
    "--data",         "--validation-data", "--x", "--y", "--validation-x",
    "--validation-y", "--sample-weight"};
const std::vector<std::string> kFolders = {"--data", "--validation-data"};
const std::vector<std::string> kValidations = {
    "--validation-data", "--validation-x", "--validation-y",
    "--validation-split"};

const Need kNeeds[] = {
    {"--allow-microbatch-statistics", {"--microbatches"}},
    {"--inputs", kFiles},
    {"--targets", kFiles},
    {"--missing", kFolders},
    {"--interpolation", kFolders},
    {"--crop-to-aspect-ratio", kFolders},
    {"--class-names", kFolders},
    {"--image-seed", kFolders},
    {"--validation-batch-size", kValidations},
    {"--validation-steps", kValidations},
    {"--validation-freq", kValidations},
    {"--validation-sample-weight", kValidations},
    {"--history-steps", {"--history", "--json"}},
    {"--max-shard-size", {"--save-weights", "--callback"}},
    {"--stats", {"--outputs"}},
    {"--repeat", {"--outputs"}},
};

/// The option of a command, or null.
const CLI::Option *find(const CLI::App &command, const std::string &flag) {
  return command.get_option_no_throw(flag);
}

bool isGiven(const CLI::App &command, const std::string &flag) {
  const CLI::Option *option = find(command, flag);
  return option && option->count() > 0;
}

/// Whether the flag's value is one of `values`, 1,2.
bool hasValue(const CLI::App &command, const std::string &flag,
              const std::string &values) {
  std::vector<std::string> known = CLI::detail::split(values, ',');
  return !values.empty() &&
         std::ranges::find(known, find(command, flag)->results().back()) !=
             known.end();
}

} // namespace

void weft::tool::refuseEmptyValues(CLI::App &command) {
  for (CLI::Option *option : command.get_options())
    if (option->get_items_expected_max() > 0)
      option->check([](const std::string &text) -> std::string {
        return text.empty() ? "is empty; give a value, or leave it out" : "";
      });
}

void weft::tool::checkFlagRules(const CLI::App &command) {
  for (const Pair &pair : kPairs) {
    bool isOfCommand = !*pair.command || command.get_name() == pair.command;
    if (isOfCommand && isGiven(command, pair.dropped) &&
        isGiven(command, pair.other) &&
        !hasValue(command, pair.other, pair.fits) &&
        !hasValue(command, pair.dropped, pair.agrees))
      throw CLI::ValidationError(
          pair.dropped, std::string("has no effect with ") + pair.other +
                            ", as " + pair.why + "; leave one of them out");
  }
  for (const Need &need : kNeeds) {
    std::vector<std::string> known;
    for (const std::string &other : need.others)
      if (find(command, other))
        known.push_back(other);
    bool isMet = known.empty() || std::any_of(known.begin(), known.end(),
                                              [&](const std::string &other) {
                                                return isGiven(command, other);
                                              });
    if (isGiven(command, need.flag) && !isMet)
      throw CLI::ValidationError(
          need.flag,
          "has no effect without " +
              (known.size() > 1 ? "one of " + listOf(known) : known.front()) +
              "; add it, or leave the flag out");
  }
}
