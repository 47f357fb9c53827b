//===- Sizes.h - sizes that can be counted ----------------------*- C++ -*-===//
//
// A tensor of 2^62 x 4 elements of f32 has 2^66 bytes, which no int64_t holds.
// Programs with such tensors are refused where they are read, so that later
// code can add and multiply the sizes of tensors:
//
//   oversize({4611686018427387904, 4}, 4)
//     = "73786976294838206464 bytes, but a tensor has at most 9007199254740992;
//        make a dimension smaller"
//
// Values of attributes (strides, padding) have no such limit, and the bytes of
// all devices and all iterations of a loop can exceed it. They are added and
// multiplied by saturatingAdd and saturatingMultiply.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_SIZES_H
#define WEFT_LAYOUT_SIZES_H

#include "weft/base/Saturating.h"

#include <cstdint>
#include <span>
#include <string>

namespace weft {

/// The limit of a tensor's bytes and of a dimension's size, 2^53: a double, in
/// which JSON and budgets give them, holds every integer up to it.
inline constexpr int64_t kMostBytes = int64_t(1) << 53;
/// The limit of the bytes of all tensors of a program; passes may add to it
/// without reaching 2^63.
inline constexpr int64_t kMostProgramBytes = int64_t(1) << 56;

/// Bytes of a tensor, or INT64_MAX if there are more.
int64_t tensorBytes(std::span<const int64_t> shape, int64_t elementBytes);
/// The message that a tensor is too large: its bytes, the limit and a fix;
/// empty if it is not. Each dimension is checked as a separate tensor, so
/// that an empty tensor has no dimension above the limit.
std::string oversize(std::span<const int64_t> shape, int64_t elementBytes);

} // namespace weft

#endif // WEFT_LAYOUT_SIZES_H
