#include "weft/runtime/program/Error.h"

#include "weft/base/Hash.h"

using namespace weft;
using namespace weft::runtime;

weft_error::weft_error(Error given) : error(std::move(given)) {
  for (const Message::Mention &one : error.message.options())
    options.push_back({one.begin, one.bytes, one.option.name.c_str(),
                       one.option.value.c_str()});
}

MessageParts::MessageParts() = default;
MessageParts::~MessageParts() = default;

void MessageParts::add(const Option &option) { add(Message(option)); }

void MessageParts::add(const Message &part) {
  message += out.str() + part;
  out.str("");
}

Error MessageParts::error(StatusCode code) {
  return {std::move(message) + out.str(), code};
}

/// The error of a call that has no memory left for another one.
static weft_error *noMemory() {
  static weft_error error({"out of memory", StatusCode::OutOfMemory});
  return &error;
}

weft_error *weft::runtime::toC(const Status &status) noexcept {
  try {
    return status ? nullptr : new weft_error(status.error());
  } catch (const std::bad_alloc &) {
    return noMemory();
  }
}

extern "C" {

WEFT_EXPORT weft_status weft_error_status(const weft_error *error) {
  return error ? weft_status(error->error.code) : WEFT_OK;
}

WEFT_EXPORT const char *weft_error_message(const weft_error *error) {
  return error ? error->error.message.text().c_str() : "";
}

WEFT_EXPORT size_t weft_error_options(const weft_error *error,
                                      const weft_option **out) {
  *out = error ? error->options.data() : nullptr;
  return error ? error->options.size() : 0;
}

WEFT_EXPORT void weft_error_free(weft_error *error) {
  if (error != noMemory())
    delete error;
}

WEFT_EXPORT uint64_t weft_hash(const void *data, size_t bytes) {
  return weft::hashBytes(data, bytes);
}
}
