//===- DeviceBorders.h - whose memory can be reached ------------*- C++ -*-===//
//
// For tests: checks that a kernel uses memory of its own device only. Two
// devices, one worker:
//
//   borders.enter({0})      launches of device 0: arena 1, ports 1 unreadable
//   borders.enter({1})      launches of device 1: arena 0, ports 0 unreadable
//   borders.enter({0, 1})   a collective of both
//
// An access to other memory gets SIGSEGV.
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
  /// Makes all memory accessible again.
  ~DeviceBorders();
  DeviceBorders(const DeviceBorders &) = delete;
  DeviceBorders &operator=(const DeviceBorders &) = delete;

  /// Adds memory of the device at `position` of the mesh, or, if that is the
  /// number of positions, of none of them.
  void add(size_t position, const Memory &memory);
  /// Makes the memory of these devices accessible, and no other.
  void enter(std::span<const int64_t> positions);
  /// Whether the system refused a change, so that nothing was checked.
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
