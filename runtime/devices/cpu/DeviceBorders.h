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
// Memory that both share is only readable for one of them alone. An access to
// other memory gets SIGSEGV.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H
#define WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H

#include "weft/runtime/program/Memory.h"

#include <map>
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

  /// Adds memory of the devices at some positions of the mesh. The number of
  /// positions stands for devices outside of the mesh.
  void add(const std::vector<size_t> &positions, const Memory &memory);
  /// Makes the memory of these devices accessible, and no other.
  void enter(std::span<const int64_t> positions);
  /// Whether the system refused a change, so that accesses are not all checked.
  bool refused() const { return isRefused; }

private:
  using Access = Memory::Access;
  struct MemoryRegion {
    std::vector<const Memory *> memories;
    Access access = Access::Write;
  };
  void set(MemoryRegion &region, Access access);
  std::map<std::vector<size_t>, MemoryRegion> regions; ///< indexed by positions
  std::vector<bool> entered; ///< indexed by position; last: others
  bool isRefused = false;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_DEVICEBORDERS_H
