//===- TranslationCache.h - where the driver keeps its code -----*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_TRANSLATIONCACHE_H
#define WEFT_RUNTIME_DEVICES_CUDA_TRANSLATIONCACHE_H

namespace weft::runtime {

/// Chooses the folder in which CUDA's driver keeps its translations of PTX, if
/// it could write to none: ~/.nv cannot be written, and CUDA_CACHE_PATH is not
/// set. The folder is cuda in Weft's cache, $XDG_CACHE_HOME/weft, else
/// weft-cuda-UID in $TMPDIR or /tmp. Called before the driver is loaded.
void placeTranslationCache();

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_TRANSLATIONCACHE_H
