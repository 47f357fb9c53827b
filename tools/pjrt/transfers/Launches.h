//===- Launches.h - runs that have not ended --------------------*- C++ -*-===//
//
//   launches.add(7, executable, done);
//   launches.poison(device, 7, why)       // its results fail with why
//
// All devices of a run share it: poisoned on one, it fails on all. A run that
// has begun continues to its end in memory of its own, and its results are
// dropped.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_TRANSFERS_LAUNCHES_H
#define WEFT_TOOLS_PJRT_TRANSFERS_LAUNCHES_H

#include <deque>
#include <memory>
#include <mutex>

struct PJRT_Device;
struct PJRT_Error;

namespace weft::pjrt {

struct Executable;
class Promise;

class Launches {
public:
  void add(int id, const std::shared_ptr<const Executable> &executable,
           std::shared_ptr<Promise> done);
  /// Poisons the first run on the device with that number that has not ended;
  /// false if there is none.
  bool poison(const PJRT_Device *device, int id, const PJRT_Error &why);

private:
  struct Launch {
    int id;
    std::weak_ptr<const Executable> executable; ///< lives until the run ends
    std::shared_ptr<Promise> done;
  };
  std::mutex mutex;
  std::deque<Launch> launches; ///< in order; `add` removes ended first ones
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_TRANSFERS_LAUNCHES_H
