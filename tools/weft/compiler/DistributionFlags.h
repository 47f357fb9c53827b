//===- DistributionFlags.h - the distribution that flags name ---*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H
#define WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/tools/weft/Commands.h"

#include <optional>

namespace weft::tool {

/// Reads the distribution of --distribution or --data-parallel; nothing without
/// these flags. `devices` gets those of --devices, or as many as the mesh has.
Result<std::optional<keras::Distribution>>
readDistributionFlags(const ModelFlags &flags, DeviceList &devices);

/// The error of layouts that do not fit, with the file or flag that they come
/// from.
Error refusedLayouts(const ModelFlags &flags, const std::string &error);

/// Prints warnings for rules that match nothing.
void warnOfDeadRules(const ModelFlags &flags,
                     const std::vector<keras::RuleStatus> &rules);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H
