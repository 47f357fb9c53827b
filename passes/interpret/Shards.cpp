//===- Shards.cpp - between a global tensor and its local blocks ----------===//

#include "weft/passes/interpret/Interpret.h"

#include "weft/base/Text.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

namespace {

/// Calls visit(local element, global element or -1 for padding) for every
/// element of a device's block.
void forEachElement(
    const Box &box, ArrayRef<int64_t> localShape, ArrayRef<int64_t> shape,
    llvm::function_ref<void(int64_t local, int64_t global)> visit) {
  SmallVector<int64_t, 4> strides = stridesOf(shape);
  int64_t count = 1;
  for (int64_t size : localShape)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t global = 0;
    for (auto [dim, index] : llvm::enumerate(indexOf(i, localShape))) {
      if (index >= box[dim].size()) {
        global = -1;
        break;
      }
      global += (box[dim].begin + index) * strides[dim];
    }
    visit(i, global);
  }
}

void undefine(Tensor &block) {
  for (int64_t i = 0; i < block.size(); ++i)
    block.setPadding(i);
}

std::string shapeText(ArrayRef<int64_t> shape) {
  return shape.empty() ? "a scalar" : joined(shape, "x");
}

} // namespace

Tensors shardTensor(const Mesh &mesh, const Layout &layout,
                    const Tensor &global) {
  ArrayRef<int64_t> shape = global.getShape();
  std::vector<int64_t> local = localShape(layout, shape);
  Tensors result;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    Tensor block(local, global.getElementType());
    if (!holds(mesh, layout, position))
      undefine(block);
    else if (layout.isPartial() &&
             coordinate(mesh, position, ArrayRef<SubAxis>(layout.partial)) != 0)
      block = absentTensor(layout.reduce, block.getType());
    else
      forEachElement(own(mesh, layout, shape, position), local, shape,
                     [&](int64_t i, int64_t from) {
                       if (from < 0)
                         block.setPadding(i);
                       else
                         block.copy(i, global, from);
                     });
    result.push_back(std::move(block));
  }
  return result;
}

/// The summand r of the device with the partial coordinate c > 0; the device
/// with coordinate 0 has x minus the others' summands.
static int64_t summandOf(int64_t c, int64_t element) {
  return (c * 7 + element * 3) % 5 - 2;
}

/// Adds n to an element; integers wrap around.
static void addInteger(Tensor &tensor, int64_t i, int64_t n) {
  if (tensor.isFloat())
    tensor.setReal(i, tensor.real(i) + static_cast<double>(n));
  else
    tensor.setInteger(
        i, static_cast<int64_t>(static_cast<uint64_t>(tensor.integer(i)) +
                                static_cast<uint64_t>(n)));
}

Tensors spreadTensor(const Mesh &mesh, const Layout &layout,
                     const Tensor &global) {
  Layout summed = layout;
  summed.partial.clear();
  Tensors result = shardTensor(mesh, summed, global);
  bool sums = layout.reduce == ReduceKind::Sum;
  if (sums &&
      (global.isComplex() || (global.isFloat() && global.bitWidth() < 16)))
    return shardTensor(mesh, layout, global);
  for (int64_t position = 0; sums && position < mesh.size(); ++position) {
    if (!holds(mesh, layout, position))
      continue;
    int64_t summand =
        coordinate(mesh, position, ArrayRef<SubAxis>(layout.partial));
    Tensor &block = result[position];
    forEachElement(own(mesh, layout, global.getShape(), position),
                   block.getShape(), global.getShape(),
                   [&](int64_t i, int64_t from) {
                     if (from < 0)
                       return;
                     if (summand > 0) {
                       block.setBits(i, 0);
                       return addInteger(block, i, summandOf(summand, from));
                     }
                     for (int64_t c = 1; c < shardCount(layout.partial); ++c)
                       addInteger(block, i, -summandOf(c, from));
                   });
  }
  return result;
}

std::string gatherTensor(const Mesh &mesh, const Layout &layout,
                         ArrayRef<int64_t> shape, ArrayRef<Tensor> locals,
                         Tensor &global) {
  std::vector<int64_t> local = localShape(layout, shape);
  int64_t summands = shardCount(layout.partial);
  global = Tensor(shape, locals[0].getElementType());
  // One tensor for each summand, and the device that first set each element.
  SmallVector<Tensor> terms(summands, global);
  std::vector<int64_t> holder(summands * global.size(), -1);
  std::string reason;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    if (!holds(mesh, layout, position))
      continue;
    const Tensor &block = locals[position];
    if (block.getShape() != ArrayRef<int64_t>(local))
      return "device " + std::to_string(position) + " holds " +
             shapeText(block.getShape()) + ", the layout gives it " +
             shapeText(local);
    int64_t summand =
        coordinate(mesh, position, ArrayRef<SubAxis>(layout.partial));
    forEachElement(
        own(mesh, layout, shape, position), local, shape,
        [&](int64_t i, int64_t to) {
          if (to < 0)
            return;
          int64_t &first = holder[summand * global.size() + to];
          if (first < 0) {
            first = position;
            terms[summand].copy(to, block, i);
          } else if (reason.empty() && !terms[summand].equals(to, block, i)) {
            reason = "devices " + std::to_string(first) + " and " +
                     std::to_string(position) + " hold different copies of " +
                     indexText(to, shape) + ": " + terms[summand].text(to) +
                     " != " + block.text(i);
          }
        });
  }
  global = std::move(terms[0]);
  for (int64_t summand = 1; summand < summands; ++summand)
    for (int64_t i = 0; i < global.size(); ++i)
      combineInto(layout.reduce, global, i, terms[summand], i);
  return reason;
}

} // namespace weft
