#include "weft/runtime/collectives/Deadlock.h"

#include <algorithm>

namespace weft::runtime {

std::string describeDeadlock(const Plan &plan, const Ownership &ownership,
                             std::span<const Standing> devices) {
  constexpr size_t most = 16;
  std::string text = "deadlock in \"" + plan.name + "\": no group is complete";
  size_t waiting = 0;
  for (size_t position = 0; position < devices.size(); ++position) {
    const Standing &device = devices[position];
    if (!device.isWaiting || ++waiting > most)
      continue;
    text += "; device " + std::to_string(position) + " waits at " +
            plan.describe(device.pc) + " for device";
    plan::Operation kind = plan.instructions[device.pc].kind;
    if (kind != plan::Operation::Start && kind != plan::Operation::Wait) {
      text += "s that share what it writes";
      continue;
    }
    uint32_t number = plan.instructions[device.pc].index;
    const Collective &collective = plan.collectives[number];
    const char *separator = " ";
    for (int64_t member :
         collective.groups[size_t(collective.groupOf[position])]) {
      const Standing &other = devices[size_t(member)];
      if ((other.isWaiting && other.pc == device.pc) ||
          std::ranges::count(other.underWay, number))
        continue;
      text += separator + std::to_string(member);
      if (!ownership.isOwn(member))
        text += " (in another process)";
      else if (other.hasReturned)
        text += " (returned)";
      separator = ", ";
    }
  }
  if (waiting > most)
    text += "; and " + std::to_string(waiting - most) + " more wait";
  return text;
}

} // namespace weft::runtime
