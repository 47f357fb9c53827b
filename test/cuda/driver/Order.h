//===- Order.h - the happens-before order of work ---------------*- C++ -*-===//
//
// Each stream counts its operations. The clock of an operation says, for each
// stream, how many of its operations are known to be over when this one begins:
//
//   stream 0: copy (1)   record e (2)
//   stream 1: kernel A (1)   wait e (2)   kernel B (3)      B's clock: {2, 3}
//
// The copy happens before B, as 1 <= 2. A and the copy are not ordered: if both
// touch the same bytes and one writes, the program has a race, whatever their
// actual order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_DRIVER_ORDER_H
#define WEFT_TEST_CUDA_DRIVER_ORDER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::fake {

class Clock {
public:
  void join(const Clock &other);
  void set(uint32_t stream, uint32_t count);
  /// Whether the operation at this position is known to be over.
  bool covers(uint32_t stream, uint32_t count) const {
    return stream < counts.size() && counts[stream] >= count;
  }

private:
  std::vector<uint32_t> counts;
};

/// The actor of an access: its name, its position, and the operations before
/// it.
struct Actor {
  std::string name; ///< "kernel 'softmax', operation 5 of stream 2"
  uint32_t stream = 0, count = 0;
  Clock clock;
};

/// The accesses to each allocation with which later ones may be unordered.
class AccessLog {
public:
  /// Records an access. Returns text about an earlier one that is not ordered
  /// with it, or empty. `base`: of the allocation.
  std::string note(const Actor &actor, uint64_t base, uint64_t address,
                   uint64_t bytes, bool isWrite);
  void forget(uint64_t base) { records.erase(base); }
  /// Drops accesses that happened before all later ones.
  void dropBefore(const Clock &clock);

private:
  struct Record {
    uint64_t address, bytes;
    bool isWrite;
    uint32_t stream, count;
    std::string name;
  };
  std::map<uint64_t, std::vector<Record>> records;
};

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_DRIVER_ORDER_H
