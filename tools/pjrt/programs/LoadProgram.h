//===- LoadProgram.h - a loaded program with facts for JAX ------*- C++ -*-===//

#ifndef WEFT_TOOLS_PJRT_PROGRAMS_LOADPROGRAM_H
#define WEFT_TOOLS_PJRT_PROGRAMS_LOADPROGRAM_H

#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/programs/CompileOptions.h"

namespace weft::pjrt {

/// Converts a layout to a sharding; `on` is the device at each position.
TileAssignment tilesOf(const Mesh &mesh, const Layout &layout,
                       const std::vector<int64_t> &on);

/// Fills a LoadedProgram from an image and the bytes that it was compiled from;
/// returns null, or the error.
PJRT_Error *loadProgram(const std::vector<uint8_t> &image,
                        const std::string &name, std::string_view source,
                        int64_t partitions, LoadedProgram &out);

/// Makes an executable of the program on the devices that the options name.
PJRT_Error *makeExecutable(PJRT_Client &client, const CompileOptions &options,
                           std::string text,
                           std::shared_ptr<const LoadedProgram> loaded,
                           PJRT_LoadedExecutable *&out);

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_PROGRAMS_LOADPROGRAM_H
