//===- Provenance.cpp - the purpose of an instruction ---------------------===//

#include "weft/compiler/explain/Provenance.h"

#include "weft/dialects/weft/gradients/ReverseMode.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

static void collectPaths(Location location, llvm::SetVector<StringRef> &paths) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectPaths(part, paths);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    if (name.getName().getValue() == kGradientOf)
      return collectPaths(name.getChildLoc(), paths);
    paths.insert(name.getName().getValue());
  }
}

std::vector<std::string> weft::pathsOf(Location location) {
  llvm::SetVector<StringRef> paths;
  collectPaths(location, paths);
  return std::vector<std::string>(paths.begin(), paths.end());
}

static void collectLines(Location location, std::vector<std::string> &lines) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collectLines(part, lines);
    return;
  }
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    std::string line =
        file.getFilename().str() + ":" + std::to_string(file.getLine());
    if (!llvm::is_contained(lines, line))
      lines.push_back(line);
    return WalkResult::interrupt();
  });
}

std::vector<std::string> weft::linesOf(Location location) {
  std::vector<std::string> lines;
  collectLines(location, lines);
  return lines;
}

bool weft::isBackward(Location location) {
  bool found = false;
  location->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    found |= name && name.getName().getValue() == kGradientOf;
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

Operation *weft::beginOfBackward(plan::ProgramOp program) {
  for (auto launch : program.getOps<plan::LaunchOp>())
    if (isBackward(launch.getLoc()))
      return launch;
  return nullptr;
}
