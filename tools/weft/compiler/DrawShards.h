//===- DrawShards.h - the shards of a tensor as labelled boxes --*- C++ -*-===//
//
// [{}, {"model"}] of 784x200 on 2x4, in a narrow drawing:
//
//   ┌───────┬───────┬───────┬───────┐
//   │  0,4  │  1,5  │  2,6  │  3,7  │
//   └───────┴───────┴───────┴───────┘
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_DRAWSHARDS_H
#define WEFT_TOOLS_WEFT_COMPILER_DRAWSHARDS_H

#include "weft/layout/Layout.h"

#include <string>

namespace weft {

/// Draws boxes true to scale, also for uneven shards, in at most `width`
/// columns; if the labels need more, or the mesh has more than 256 devices,
/// lines of text. The first two sharded dimensions are drawn; each further one,
/// and the devices that hold nothing, are in lines below. Labels are device
/// ids, with ranges such as 0-3; each device in a box has a copy.
std::string drawShards(const Mesh &mesh, const Layout &layout,
                       llvm::ArrayRef<int64_t> shape, unsigned width = 78);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_COMPILER_DRAWSHARDS_H
