//===- HloNames.cpp - XLA's names of ops and attributes -------------------===//

#include "weft/compiler/hlo/HloNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;

namespace {
struct Renaming {
  const char *from, *to;
};

#define GET_kAttributes_IMPL
#define GET_kCollOps_IMPL
#define GET_kComputations_IMPL
#define GET_kOpcodes_IMPL
#define GET_kWeftOps_IMPL
#include "weft/compiler/hlo/HloNames.inc"
} // namespace

/// The other name in a table; empty if there is none.
static StringRef otherName(ArrayRef<Renaming> table, StringRef name) {
  for (const Renaming &entry : table)
    if (name == entry.from)
      return entry.to;
  return "";
}

/// XLA's opcode of an op of StableHLO.
static std::string opcodeOf(StringRef stablehlo) {
  if (StringRef other = otherName(kOpcodes, stablehlo); !other.empty())
    return other.str();
  if (!llvm::all_of(stablehlo,
                    [](char c) { return llvm::isAlnum(c) || c == '_'; }))
    return "";
  std::string opcode = stablehlo.str();
  llvm::replace(opcode, '_', '-');
  return opcode;
}

static llvm::StringMap<std::string> allOpcodes() {
  llvm::StringMap<std::string> all;
  for (const Renaming &op : kWeftOps)
    all[std::string("weft.") + op.from] = opcodeOf(op.to);
  for (const Renaming &op : kCollOps)
    all[std::string("coll.") + op.from] = op.to;
  return all;
}

std::string hlo::opcodeOf(Operation *op) {
  static const llvm::StringMap<std::string> all = allOpcodes();
  return all.lookup(op->getName().getStringRef());
}

StringRef hlo::attributeName(StringRef name) {
  StringRef other = otherName(kAttributes, name);
  return other.empty() ? name : other;
}

StringRef hlo::computationWords(StringRef opcode) {
  return otherName(kComputations, opcode);
}
