//===- Backoff.h - how long until the next look ----------------*- C++ -*-===//
//
//   for (Backoff backoff; !isThere(); backoff.pause())
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_BACKOFF_H
#define WEFT_RUNTIME_PROCESSES_BACKOFF_H

namespace weft::runtime {

/// Waits longer and longer between two polls: spins, yields the core, sleeps.
class Backoff {
public:
  void pause();
  bool isLong() const { return looks > 20000; }

private:
  int looks = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROCESSES_BACKOFF_H
