//===- DistributionFlags.cpp - the distribution that flags name -----------===//

#include "weft/tools/weft/compiler/DistributionFlags.h"

#include "weft/tools/weft/compiler/StepCompiler.h"

#include "llvm/ADT/StringExtras.h"

using namespace weft;
using namespace weft::tool;

bool weft::tool::readDistributionFlags(
    const ModelFlags &flags, DeviceList &devices,
    std::optional<keras::Distribution> &distribution) {
  if (flags.devices)
    devices = *flags.devices;
  if (flags.dataParallel) {
    distribution = keras::dataParallel(devices.count);
    return true;
  }
  if (flags.distribution.empty())
    return true;
  std::string error;
  auto text = readJsonFile(flags.distribution, error);
  if (!text)
    return fail(error), false;
  auto read = keras::readDistribution(*text, flags.devices ? devices.count : 0);
  if (!read)
    return fail(flags.distribution + ": " + read.error), false;
  distribution = std::move(*read);
  if (!flags.devices)
    devices.count = distribution->mesh.size();
  return true;
}

bool weft::tool::refuseLayouts(const ModelFlags &flags,
                               const std::string &error) {
  fail((flags.dataParallel ? "--data-parallel" : flags.distribution) + ": " +
       error);
  return false;
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
