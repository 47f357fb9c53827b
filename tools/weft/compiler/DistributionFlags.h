//===- DistributionFlags.h - the distribution that flags name ---*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H
#define WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/tools/weft/Commands.h"

#include <optional>

namespace weft::tool {

/// Reads the distribution of --distribution or --data-parallel; nothing without
/// them. `devices` are those of --devices, or as many as the mesh has without
/// it. False after a printed error.
bool readDistributionFlags(const ModelFlags &flags, DeviceList &devices,
                           std::optional<keras::Distribution> &distribution);

/// Prints that layouts do not fit, with the flag that they come from; false.
bool refuseLayouts(const ModelFlags &flags, const std::string &error);

/// Prints warnings for rules that match nothing.
void warnOfDeadRules(const ModelFlags &flags,
                     const std::vector<keras::RuleStatus> &rules);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_DISTRIBUTIONFLAGS_H
