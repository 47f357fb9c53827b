//===- DeviceBorders.h - checks accesses between devices --------*- C++ -*-===//
//
// Checks, for tests, that a kernel uses memory of its own device only. Two
// devices, one worker:
//
//   borders.enter(positions);
//
//   positions 0      launches of device 0: arena 1, ports 1 unreadable
//   positions 1      launches of device 1: arena 0, ports 0 unreadable
//   positions 0, 1   a collective of both
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

  /// Adds memory of the device at `position` of the mesh. The number of
  /// positions stands for devices outside of the mesh.
  void add(size_t position, const Memory &memory);
  /// Makes the memory of these devices accessible, and no other.
  void enter(std::span<const int64_t> positions);
  /// Whether the system refused a change, so that accesses are not all checked.
  bool refused() const { return isRefused; }

private:
  struct MemoryRegion {
    std::vector<const Memory *> memories;
    bool isOpen = true, isWanted = false;
  };
  void setOpen(MemoryRegion &region, bool isOpen);
  std::vector<MemoryRegion> regions; ///< indexed by position; last: others
  bool isRefused = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H
