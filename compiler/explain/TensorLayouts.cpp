//===- TensorLayouts.cpp - layouts of arguments and results ---------------===//

#include "weft/compiler/explain/TensorLayouts.h"

#include "weft/compiler/explain/Timeline.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace weft;

template <typename Port> static TensorLayout layoutOf(Port port) {
  auto type = cast<RankedTensorType>(port.getGlobalType());
  TensorLayout tensor;
  tensor.key = port.getName().str();
  auto named =
      port.getLoc()->template findInstanceOf<FusedLocWith<StringAttr>>();
  tensor.name = named ? named.getMetadata().str() : tensor.key;
  tensor.role = port.getRole().str();
  tensor.elementType = elementName(type.getElementType());
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  tensor.layout = port.getLayout().getLayout();
  tensor.layout.dims.resize(tensor.shape.size());
  tensor.isOutput = std::is_same_v<Port, plan::OutputOp>;
  return tensor;
}

std::vector<TensorLayout> weft::tensorLayouts(plan::ProgramOp program) {
  std::vector<TensorLayout> tensors;
  for (auto input : program.getOps<plan::InputOp>())
    tensors.push_back(layoutOf(input));
  for (auto output : program.getOps<plan::OutputOp>()) {
    auto input = output.getDonated()
                     ? output.getDonated().getDefiningOp<plan::InputOp>()
                     : plan::InputOp();
    if (!input || input.getLayout() != output.getLayout() ||
        input.getName() != output.getName())
      tensors.push_back(layoutOf(output));
  }
  return tensors;
}

std::string weft::deviceList(llvm::ArrayRef<int64_t> ids) {
  std::string text;
  for (size_t i = 0; i < ids.size();) {
    size_t last = i;
    while (last + 1 < ids.size() && ids[last + 1] == ids[last] + 1)
      ++last;
    if (!text.empty())
      text += ",";
    text += std::to_string(ids[i]);
    if (last > i)
      text += (last == i + 1 ? "," : "-") + std::to_string(ids[last]);
    i = last + 1;
  }
  return text;
}

std::vector<HeldBlock> weft::heldBlocks(const Mesh &mesh, const Layout &layout,
                                        llvm::ArrayRef<int64_t> shape) {
  std::vector<HeldBlock> blocks;
  std::map<std::vector<int64_t>, size_t> known; // block number by start
  for (int64_t p = 0; p < mesh.size(); ++p) {
    Box box = own(mesh, layout, shape, p);
    if (!holds(mesh, layout, p) || volume(box) == 0)
      continue;
    std::vector<int64_t> begins;
    for (const Interval &side : box)
      begins.push_back(side.begin);
    auto [entry, isNew] = known.try_emplace(begins, blocks.size());
    if (isNew)
      blocks.push_back({box, {}});
    blocks[entry->second].devices.push_back(deviceAt(mesh, p));
  }
  for (HeldBlock &block : blocks)
    std::sort(block.devices.begin(), block.devices.end());
  return blocks;
}

llvm::SmallVector<int64_t> weft::emptyDevices(const Mesh &mesh,
                                              const Layout &layout,
                                              llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> ids;
  for (int64_t p = 0; p < mesh.size(); ++p)
    if (!holds(mesh, layout, p) || volume(own(mesh, layout, shape, p)) == 0)
      ids.push_back(deviceAt(mesh, p));
  llvm::sort(ids);
  return ids;
}
