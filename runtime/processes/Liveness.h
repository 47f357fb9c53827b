//===- Liveness.h - identity and life of processes --------------*- C++ -*-===//
//
//   Identity me = Identity::own();         // sent to the others at the start
//   peer.describe(3) == "rank 3 (process 4711 on node7)"
//   isGone(peer, me)                       // at once, on the same machine
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_LIVENESS_H
#define WEFT_RUNTIME_PROCESSES_LIVENESS_H

#include <cstdint>
#include <string>

namespace weft::runtime {

/// The identity of a process: plain bytes, the same in every process.
struct Identity {
  int64_t process = 0;
  uint64_t started = 0;   ///< start in the kernel's ticks: numbers are reused
  uint64_t numbering = 0; ///< the namespace of the number `process`
  char host[64] = {};

  static Identity own();
  std::string describe(int rank) const;
};

/// Whether a process of this machine has ended; false if it is not visible.
bool isGone(const Identity &peer, const Identity &own);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROCESSES_LIVENESS_H
