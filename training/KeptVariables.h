//===- KeptVariables.h - values of variables at another time ----*- C++ -*-===//
//
//   KeptVariables best;
//   best.keep(state, [](const Port &port) { return port.isWeight(); });
//   ... steps ...
//   best.restore(state);
//
// The values are on the host. Each process has those that its devices hold, one
// copy of each shard, so no process has all of a variable that is split among
// processes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_KEPTVARIABLES_H
#define WEFT_TRAINING_KEPTVARIABLES_H

#include "weft/training/ModelState.h"

namespace weft {

class KeptVariables {
public:
  using Choice = std::function<bool(const Port &port)>;
  /// Keeps the present values of the variables that `isKept` selects in the
  /// first call; those of earlier calls and of load() are replaced.
  Status keep(const ModelState &state, const Choice &isKept);
  /// Sets the variables to the kept values.
  Status restore(const ModelState &state) const;
  /// Keeps these values, which have the variables' names; other arrays are
  /// ignored.
  Status load(const ModelState &state, const std::vector<StoredArray> &arrays);
  /// The kept values, readable as long as they are kept; all processes read
  /// them together.
  std::vector<StoredArray> stored() const;
  bool empty() const { return list.empty(); }

private:
  struct Free {
    void operator()(weft_buffer *buffer) const { weft_buffer_free(buffer); }
  };
  struct Kept {
    Port port;
    std::unique_ptr<weft_buffer, Free> buffer; ///< buffer on the host
  };
  Status add(const ModelState::Variable &variable);
  std::vector<Kept> list;
};

} // namespace weft

#endif // WEFT_TRAINING_KEPTVARIABLES_H
