//===- Relays.h - who sends what several members lack -----------*- C++ -*-===//
//
// Member 0 has 6 elements that members 1, 2 and 3 lack. It would send 18; if
// member 1 passes them on to 2, and 2 to 3, no member sends more than 6:
//
//   planHandovers({{6, {0}, {1, 2, 3}}}, 4)
//                                    0 to 1, 1 to 2, 2 to 3, at most 6 sent
//
// A member has to send once what it alone holds and others lack, and has to
// receive what it lacks. No plan sends less than the most of both; where it is
// not the busiest by that, a holder sends to several members itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_LAYOUT_RELAYS_H
#define WEFT_LAYOUT_RELAYS_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft {

/// Elements that some members have and others need, each member once.
struct SharedPart {
  int64_t elements = 0;
  std::vector<int64_t> holders, receivers;
};
/// A member sends a part to another one. It is a holder, or the receiver of an
/// earlier handover of the part.
struct Handover {
  size_t part = 0;
  int64_t sender = 0, receiver = 0;
};
struct HandoverPlan {
  std::vector<Handover> handovers; ///< one for each receiver of each part
  int64_t mostSent = 0;            ///< elements that one member sends
  int64_t busiest = 0;             ///< that member
  int64_t least = 0;               ///< elements that one has to move
};
/// Plans the handovers among members 0 to `members` - 1. Parts without a holder
/// are left out.
HandoverPlan planHandovers(std::span<const SharedPart> parts, int64_t members);

} // namespace weft

#endif // WEFT_LAYOUT_RELAYS_H
