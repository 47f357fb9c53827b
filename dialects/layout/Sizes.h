//===- Sizes.h - sizes that can be counted ----------------------*- C++ -*-===//
//
// A tensor of 2^62 x 4 elements of f32 has 2^66 bytes, which no int64_t holds.
// Programs with such tensors are refused where they are read, so that sizes of
// tensors can be added and multiplied behind it:
//
//   oversize({4611686018427387904, 4}, 4)
//     = "73786976294838206464 bytes, but a tensor has at most 9007199254740992;
//        make a dimension smaller"
//
// What an op's attributes say (strides, padding) is limited by no type; and
// bytes of all devices, of all times that a loop runs, can be more. They are
// added and multiplied by saturatingAdd and saturatingMultiply.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_LAYOUT_SIZES_H
#define WEFT_DIALECTS_LAYOUT_SIZES_H

#include "weft/layout/Saturating.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace weft {

/// Bytes of a tensor, and entries of a dimension, are at most 2^53: a double,
/// in which JSON and budgets give them, holds every integer up to it.
inline constexpr int64_t kMostBytes = int64_t(1) << 53;
/// Bytes of all tensors of a program together, with room below 2^63 for what
/// passes add.
inline constexpr int64_t kMostProgramBytes = int64_t(1) << 56;

/// Bytes of a tensor, or INT64_MAX where there are more.
int64_t tensorBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
/// How many bytes the tensor has and may have, and what to do; empty where they
/// can be counted. A dimension counts as a tensor of its own, so that an empty
/// tensor has none that is larger.
std::string oversize(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);

} // namespace weft

#endif // WEFT_DIALECTS_LAYOUT_SIZES_H
