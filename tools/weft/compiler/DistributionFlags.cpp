//===- DistributionFlags.cpp - the distribution that flags name -----------===//

#include "weft/tools/weft/compiler/DistributionFlags.h"

#include "weft/compiler/frontends/keras/distribution/Pipelines.h"
#include "weft/tools/weft/compiler/StepCompiler.h"

#include "llvm/ADT/StringExtras.h"

#include <filesystem>

using namespace weft;
using namespace weft::tool;

Result<std::optional<keras::Distribution>>
weft::tool::readDistributionFlags(const ModelFlags &flags,
                                  DeviceList &devices) {
  if (flags.devices)
    devices = *flags.devices;
  if (flags.dataParallel)
    return std::optional(keras::dataParallel(devices.count));
  if (flags.distribution.empty())
    return std::optional<keras::Distribution>();
  auto text = readJsonFile(flags.distribution);
  if (!text)
    return text.error();
  auto read = keras::readDistribution(*text, flags.devices ? devices.count : 0);
  if (!read)
    return read.error().in(flags.distribution);
  auto readSchedule = [&](const std::string &path) {
    auto folder = std::filesystem::path(flags.distribution).parent_path();
    return readJsonFile((folder / path).string());
  };
  if (Status known = keras::resolveSchedule(*read, readSchedule); !known)
    return known.error().in(flags.distribution);
  if (!flags.devices)
    devices.count = read->mesh.size();
  return std::optional(std::move(*read));
}

Error weft::tool::refusedLayouts(const ModelFlags &flags,
                                 const std::string &error) {
  return {(flags.dataParallel ? "--data-parallel" : flags.distribution) + ": " +
          error};
}

void weft::tool::warnOfDeadRules(const ModelFlags &flags,
                                 const std::vector<keras::RuleStatus> &rules) {
  for (const keras::RuleStatus &rule : rules)
    if (rule.status == "dead")
      warn(flags.distribution + ": " + rule.map + " \"" + rule.key +
           "\": matches nothing in " + flags.model +
           "; remove the rule, or write one of " +
           llvm::join(rule.closest, ", "));
}
