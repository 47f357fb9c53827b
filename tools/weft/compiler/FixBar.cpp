//===- FixBar.cpp - the progress of a search for fixes --------------------===//

#include "weft/tools/weft/compiler/FixBar.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace weft;
using namespace weft::tool;

static void draw(size_t done, size_t all) {
  constexpr size_t width = 20;
  llvm::raw_ostream &out = llvm::errs();
  out << "\r\x1b[K";
  if (done < all) {
    size_t full = done * width / all;
    out << "trying changes of annotations ";
    for (size_t i = 0; i < width; ++i)
      out << (i < full ? "━" : "─");
    out << "  " << done << "/" << all;
  }
  out.flush();
}

FixLimits weft::tool::fixLimits(const ModelFlags &flags) {
  FixLimits limits;
  limits.seconds = flags.fixSeconds;
  if (isatty(STDERR_FILENO))
    limits.progress = draw;
  return limits;
}
