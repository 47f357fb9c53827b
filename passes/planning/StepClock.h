//===- StepClock.h - computing and communication of a step ------*- C++ -*-===//
//
// A device computes one kernel after the other; its links carry one collective
// after the other beside that. Two kernels of 3 us around the start of an
// all-reduce of 4 us, and a wait:
//
//   StepClock clock;
//   clock.compute(3e-6);
//   double end = clock.send({0}, 4e-6);   // ends at 7 us
//   clock.compute(3e-6);
//   clock.wait(end);                      // at 7 us: 1 us is exposed
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_STEPCLOCK_H
#define WEFT_PASSES_PLANNING_STEPCLOCK_H

#include "weft/passes/sharding/resharding/TargetRates.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace weft {

class StepClock {
public:
  void compute(double seconds) {
    present += seconds;
    computed += seconds;
  }
  /// Starts a collective over the links of these axes, once they are free.
  /// Returns the time of its end.
  double send(llvm::ArrayRef<unsigned> axes, double seconds);
  /// Waits for the end of a collective.
  void wait(double end) {
    waited += end > present ? end - present : 0;
    present = end > present ? end : present;
  }
  /// The present time, and how much of it the device has computed, its links
  /// have carried, and it has waited for them: communication that is exposed.
  double now() const { return present; }
  double computing() const { return computed; }
  double communicating() const { return sent; }
  double exposed() const { return waited; }

private:
  double present = 0, computed = 0, sent = 0, waited = 0;
  llvm::SmallVector<double> freeAt; ///< indexed by axis
};

/// What the parts of a step take, by the table of rates.
struct StepPrices {
  Mesh mesh; ///< with the target's links where it states none
  const TargetRates *rates = &ratesOfCpus();
  /// Whether devices compute while links carry bytes.
  bool isBesideWork = false;

  StepPrices(const Mesh &mesh, llvm::StringRef target);
  /// Seconds of this many operations.
  double ofWork(double operations) const {
    return operations / rates->iterations;
  }
  /// Seconds of a collective.
  double ofSending(int64_t bytes, llvm::ArrayRef<SubAxis> links) const;
  /// The bytes whose sending takes as long as a message's latency.
  int64_t bytesOfLatency(llvm::ArrayRef<SubAxis> links) const;
};

/// The numbers of the axes of digits, each once.
llvm::SmallVector<unsigned> axisNumbers(llvm::ArrayRef<SubAxis> digits);

} // namespace weft

#endif // WEFT_PASSES_PLANNING_STEPCLOCK_H
