//===- Patience.h - how long until the next look ----------------*- C++ -*-===//
//
//   for (Patience patience; !isThere(); patience.pause())
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_PATIENCE_H
#define WEFT_RUNTIME_PROCESSES_PATIENCE_H

namespace weft::runtime {

/// Waits longer and longer between two looks: spins, gives the core away, sleeps.
class Patience {
public:
  void pause();
  bool isLong() const { return looks > 20000; }

private:
  int looks = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROCESSES_PATIENCE_H
