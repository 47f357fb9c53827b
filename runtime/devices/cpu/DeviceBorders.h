//===- DeviceBorders.h - whose memory can be reached ------------*- C++ -*-===//
//
// For tests: that a kernel touches memory of its own device only. Two devices,
// one worker:
//
//   borders.enter({0})      launches of device 0: arena 1, ports 1 unreadable
//   borders.enter({1})      launches of device 1: arena 0, ports 0 unreadable
//   borders.enter({0, 1})   a collective of both
//
// Whoever reaches over a border gets SIGSEGV.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H
#define WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H

#include "weft/runtime/program/Memory.h"

#include <span>
#include <vector>

namespace weft::runtime {

class DeviceBorders {
public:
  explicit DeviceBorders(size_t positions);
  /// Everything can be reached again.
  ~DeviceBorders();
  DeviceBorders(const DeviceBorders &) = delete;
  DeviceBorders &operator=(const DeviceBorders &) = delete;

  /// `memory` belongs to the device at `position` of the mesh, or, if that is
  /// the number of positions, to none of them.
  void add(size_t position, const Memory &memory);
  /// From now on memory of these devices can be reached, and no other.
  void enter(std::span<const int64_t> positions);
  /// Whether the system has refused a change, so that nothing was proved.
  bool refused() const { return isRefused; }

private:
  struct MemoryRegion {
    std::vector<const Memory *> memories;
    bool isOpen = true, isWanted = false;
  };
  void setOpen(MemoryRegion &region, bool isOpen);
  std::vector<MemoryRegion> regions; ///< by position; then of nobody
  bool isRefused = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H
