#include "weft/training/KeptVariables.h"

#include <algorithm>

namespace weft {

Status KeptVariables::add(const ModelState::Variable &variable) {
  weft_buffer *buffer = nullptr;
  Status made = takeError(weft_buffer_create_on_host(variable.buffer, &buffer));
  if (made)
    list.push_back({variable.port, std::unique_ptr<weft_buffer, Free>(buffer)});
  return made;
}

Status KeptVariables::keep(const ModelState &state, const Choice &isKept) {
  bool isFirst = list.empty();
  for (const ModelState::Variable &variable : state.variables())
    if (isFirst && isKept(variable.port))
      if (Status ok = add(variable); !ok)
        return ok;
  for (const Kept &kept : list)
    if (Status ok = takeError(weft_buffer_assign(kept.buffer.get(),
                                                 state.buffer(kept.port.name)));
        !ok)
      return ok;
  return {};
}

Status KeptVariables::restore(const ModelState &state) const {
  for (const Kept &kept : list)
    if (Status ok = takeError(weft_buffer_assign(state.buffer(kept.port.name),
                                                 kept.buffer.get()));
        !ok)
      return ok;
  return {};
}

Status KeptVariables::load(const ModelState &state,
                           const std::vector<StoredArray> &arrays) {
  list.clear();
  for (const ModelState::Variable &variable : state.variables()) {
    auto given = std::find_if(arrays.begin(), arrays.end(), [&](const auto &a) {
      return a.name == variable.port.name;
    });
    if (given == arrays.end())
      continue;
    if (Status ok = add(variable); !ok)
      return ok;
    if (Status ok =
            writeStored(list.back().buffer.get(), variable.port, *given);
        !ok)
      return ok;
  }
  return {};
}

std::vector<StoredArray> KeptVariables::stored() const {
  std::vector<StoredArray> out;
  for (const Kept &kept : list)
    out.push_back(storedIn(kept.buffer.get(), kept.port));
  return out;
}

} // namespace weft
