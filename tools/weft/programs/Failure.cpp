//===- Failure.cpp - how a command says that it failed --------------------===//

#include "weft/tools/weft/Commands.h"

#include <cstdio>

int weft::tool::fail(const std::string &message) {
  if (!message.empty())
    std::fprintf(stderr, "weft: error: %s\n", message.c_str());
  return 1;
}

int weft::tool::failUsage(const std::string &message) {
  fail(message);
  return 2;
}

void weft::tool::note(const std::string &message) {
  std::fprintf(stderr, "weft: note: %s\n", message.c_str());
}

void weft::tool::warn(const std::string &message) {
  std::fprintf(stderr, "weft: warning: %s\n", message.c_str());
}
