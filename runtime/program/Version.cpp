#include "weft/runtime/abi/version.h"

#include "weft/runtime/program/Error.h"

extern "C" WEFT_EXPORT const char *weft_version(void) { return WEFT_VERSION; }
