//===- Observations.cpp - the script asks where values lie ----------------===//

#include "weft/tools/pjrt/programs/Observations.h"

#include "weft/tools/pjrt/ScriptFailure.h"

using namespace weft::pjrt;

/// Receives the tiles of a value, as in TileAssignment: none for a value that
/// all devices have completely.
using Observer = void (*)(const char *name, const int64_t *dims,
                          size_t dimCount, const int64_t *devices,
                          size_t deviceCount, int lastIsReplicated);

static std::atomic<Observer> registered{nullptr};

PJRT_Error *weft::pjrt::reportObservations(const LoadedProgram &program) {
  Observer observer = registered.load();
  if (!observer)
    return nullptr;
  for (const auto &[name, tiles] : program.observations) {
    observer(name.c_str(), tiles.dims.data(), tiles.dims.size(),
             tiles.devices.data(), tiles.devices.size(),
             !tiles.holders.empty());
    if (std::string why = takeScriptFailure(); !why.empty())
      return error(kInternal, "inspect_array_sharding failed: " + why);
  }
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_observer(Observer function) {
  registered.store(function);
}
