//===- Reshard.h - the output of `weft reshard` -----------------*- C++ -*-===//
//
//   $ weft reshard --mesh x=4,y=2 --shape 16,16,16 --from '[y,-,x]' --to '[-,(x,y),-]'
//   f32 16x16x16 on x=4,y=2: [y,-,x] -> [-,(x,y),-]
//
//       step            axes           dims          bytes  layout after
//    1  exchange        x,y                          1,792  [-,(x,y),-]
//
//   1,792 bytes received by a device, at least 1,792 must be
//   optimal: no plan moves fewer bytes
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_RESHARD_RESHARD_H
#define WEFT_TOOLS_WEFT_RESHARD_RESHARD_H

#include "weft/base/Result.h"

#include <string>

namespace weft {

/// The command's words as they were typed.
struct ReshardRequest {
  std::string mesh;          ///< x=4,y=2
  std::string shape;         ///< 16,16,16 or 16x16x16
  std::string from, to;      ///< [y,-,x]
  std::string dtype = "f32"; ///< f64 f32 f16 bf16 i64 i32 i16 i8 i1 ...
  bool json = false;
  bool allowExchange = true;
};

/// The table or the JSON object (with a final newline); an error names the
/// option.
Result<std::string> reshardReport(const ReshardRequest &request);

} // namespace weft

#endif // WEFT_TOOLS_WEFT_RESHARD_RESHARD_H
