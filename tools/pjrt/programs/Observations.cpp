//===- Observations.cpp - the script asks where values lie ----------------===//

#include "weft/tools/pjrt/programs/Observations.h"

using namespace weft::pjrt;

/// Receives the tiles of a value, as in TileAssignment: none for a value that
/// all devices have completely.
using Observer = const char *(*)(const char *name, const int64_t *dims,
                                 size_t dimCount, const int64_t *devices,
                                 size_t deviceCount, int lastIsReplicated);

static std::atomic<Observer> registered{nullptr};

PJRT_Error *weft::pjrt::reportObservations(const LoadedProgram &program) {
  Observer observer = registered.load();
  for (const auto &[name, tiles] : program.observations) {
    const char *why =
        observer ? observer(name.c_str(), tiles.dims.data(), tiles.dims.size(),
                            tiles.devices.data(), tiles.devices.size(),
                            !tiles.holders.empty())
                 : nullptr;
    if (why)
      return error(kInternal,
                   std::string("inspect_array_sharding failed: ") + why);
  }
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_observer(Observer function) {
  registered.store(function);
}
