//===- TensorLayouts.h - layouts of arguments and results -------*- C++ -*-===//
//
//   d1/kernel  weight  784x200 float32  [-,model]  because  layout_map "d1/kernel"
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_TENSORLAYOUTS_H
#define WEFT_COMPILER_EXPLAIN_TENSORLAYOUTS_H

#include "weft/dialects/plan/Plan.h"

#include <string>
#include <vector>

namespace weft {

/// The role of a value inside the step: an output of a layer that has a rule.
inline constexpr char kInside[] = "inside";

struct TensorLayout {
  std::string name; ///< for people: d1/kernel, p['l'][0]['d']
  std::string role; ///< the plan's role: weight, slot, input, metric, ...
  std::string elementType; ///< NumPy's name
  std::vector<int64_t> shape;
  Layout layout;      ///< as many dimensions as the shape
  std::string reason; ///< empty if there is none
  bool isOutput = false;
  std::string key = {}; ///< name of a port's array in files: d1/kernel, in/008
};

/// The layouts of every input, and of every output that does not have the name
/// and layout of the input that it replaces.
std::vector<TensorLayout> tensorLayouts(plan::ProgramOp program);

/// A distinct block of a tensor and its devices. Blocks are in the order of
/// their first positions in the mesh; devices without elements are left out.
struct HeldBlock {
  Box box;
  llvm::SmallVector<int64_t> devices; ///< ids, ascending
};
std::vector<HeldBlock> heldBlocks(const Mesh &mesh, const Layout &layout,
                                  llvm::ArrayRef<int64_t> shape);

/// Ids of the devices that hold no element, ascending.
llvm::SmallVector<int64_t> emptyDevices(const Mesh &mesh, const Layout &layout,
                                        llvm::ArrayRef<int64_t> shape);

/// The text of a list of devices: 0,1,2,3,6 as "0-3,6".
std::string deviceList(llvm::ArrayRef<int64_t> ids);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_TENSORLAYOUTS_H
