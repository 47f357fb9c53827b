//===- HeldMemory.cpp - which values a device holds when it is fullest -----===//

#include "weft/passes/sharding/propagation/HeldMemory.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

int64_t HeldMemory::bytesOf(RankedTensorType type, const Layout &layout) {
  int64_t bytes = weft::bytesOf(type.getElementType());
  for (int64_t size : localShape(layout, type.getShape()))
    bytes = saturatingMultiply(bytes, size);
  return bytes;
}

HeldMemory::HeldMemory(const LayoutTable &table) : table(table) {
  func::FuncOp function = table.func();
  number(function.getBody().front());
  held.assign(count + 1, 0);
  SmallVector<Value> values;
  function.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(values, block.getArguments());
    llvm::append_range(values, op->getResults());
  });
  llvm::for_each(values, [&](Value value) { hold(value); });
  for (size_t at = 1; at < held.size(); ++at)
    held[at] += held[at - 1];
  most = std::max<int64_t>(*llvm::max_element(held), 1);
  for (Value value : values) {
    if (!table.knows(value))
      continue;
    Operation *def = value.getDefiningOp();
    Operation *from = def ? def : value.getParentBlock()->getParentOp();
    int64_t &share = shares[table.flow().leader(value)];
    share =
        std::max(share, shareIn(positions.lookup(from).first, lastUse(value)));
  }
}

void HeldMemory::number(Block &block) {
  for (Operation &op : block) {
    size_t first = count++;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        number(inner);
    positions[&op] = {first, count - 1};
  }
}

size_t HeldMemory::lastUse(Value value) const {
  Operation *def = value.getDefiningOp();
  size_t last = def ? positions.lookup(def).second : 0;
  for (Operation *user : value.getUsers())
    if (Operation *at = value.getParentBlock()->findAncestorOpInBlock(*user))
      last = std::max(last, positions.lookup(at).second);
  return last;
}

/// Adds the value's bytes where it is held. Arguments of the function are there
/// in any case.
void HeldMemory::hold(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Operation *def = value.getDefiningOp();
  if (!type || !table.knows(value) || table.isSource(value) ||
      (!def && isa<func::FuncOp>(value.getParentBlock()->getParentOp())))
    return;
  Operation *from = def ? def : value.getParentBlock()->getParentOp();
  int64_t bytes = bytesOf(type, table.get(value));
  held[positions.lookup(from).first] += bytes;
  held[lastUse(value) + 1] -= bytes;
}

int64_t HeldMemory::shareIn(size_t first, size_t last) const {
  int64_t fullest = 0;
  for (size_t at = first; at <= last && at < held.size(); ++at)
    fullest = std::max(fullest, held[at]);
  double part = double(fullest) / double(most);
  return int64_t(part * part * double(kQuarters));
}

int64_t HeldMemory::shareOf(Value value) const {
  return shares.lookup(table.flow().leader(value));
}

int64_t HeldMemory::shareAt(Operation *op) const {
  auto [first, last] = positions.lookup(op);
  return shareIn(first, last);
}
