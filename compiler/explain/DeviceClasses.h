//===- DeviceClasses.h - devices that run the same ops ----------*- C++ -*-===//
//
// Costs are those of the device that has most. Where ops or ports are on parts
// of the mesh, devices have different ones:
//
//   {"branch" = 0} 100 bytes, {"branch" = 1} 60 bytes, {} 10 bytes
//
// are 110 bytes on the devices with the coordinate 0.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_DEVICECLASSES_H
#define WEFT_COMPILER_EXPLAIN_DEVICECLASSES_H

#include "weft/layout/MeshPart.h"

#include "llvm/ADT/ArrayRef.h"

namespace weft {

/// The parts whose devices are in as many of the parts as possible: one for
/// each combination of their coordinates.
std::vector<MeshPart> deviceClasses(llvm::ArrayRef<MeshPart> parts);

/// An amount that each device of a part has.
struct AmountAt {
  MeshPart part;
  int64_t amount;
};
/// The most that one device has of all amounts together, at most INT64_MAX.
int64_t mostOnOneDevice(llvm::ArrayRef<AmountAt> amounts);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_DEVICECLASSES_H
