#include "weft/runtime/program/Error.h"

#include "weft/base/Hash.h"

extern "C" {

WEFT_EXPORT weft_status weft_error_status(const weft_error *error) {
  return error ? error->status : WEFT_OK;
}

WEFT_EXPORT const char *weft_error_message(const weft_error *error) {
  return error ? error->message.c_str() : "";
}

WEFT_EXPORT void weft_error_free(weft_error *error) { delete error; }

WEFT_EXPORT uint64_t weft_hash(const void *data, size_t bytes) {
  return weft::hashBytes(data, bytes);
}
}
