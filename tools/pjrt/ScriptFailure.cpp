//===- ScriptFailure.cpp - exceptions of the script's functions -----------===//

#include "weft/tools/pjrt/ScriptFailure.h"

#include <utility>

static thread_local std::string failure;

std::string weft::pjrt::takeScriptFailure() {
  return std::exchange(failure, std::string());
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_failure(const char *text) {
  failure = text;
}
