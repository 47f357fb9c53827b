//===- Lapack.cpp - the meaning of calls of LAPACK ------------------------===//

#include "weft/base/lapack/Kernel.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"
#include "weft/passes/interpret/Meanings.h"

#include <cstring>

using namespace mlir;

namespace weft {

/// The bytes of a real tensor, or of pairs, in memory.
static std::vector<char> bytesOf(const Tensor &tensor) {
  Tensor reals = tensor.asReals();
  size_t width = reals.bitWidth() / 8;
  std::vector<char> bytes(size_t(reals.size()) * width);
  for (int64_t i = 0; i < reals.size(); ++i) {
    uint64_t bits = reals.bits(i);
    std::memcpy(bytes.data() + size_t(i) * width, &bits, width);
  }
  return bytes;
}

static Tensor tensorOf(RankedTensorType type, const std::vector<char> &bytes) {
  Tensor reals = Tensor(type).asReals();
  size_t width = reals.bitWidth() / 8;
  for (int64_t i = 0; i < reals.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + size_t(i) * width, width);
    reals.setBits(i, bits);
  }
  return isa<ComplexType>(type.getElementType()) ? Tensor::ofPairs(type, reals)
                                                 : reals;
}

/// The library of this process, which is opened once.
static const Result<std::shared_ptr<const lapack::Library>> &ownLibrary() {
  static const auto library = lapack::Library::open();
  return library;
}

std::optional<Tensors> meaningOfLapack(Operation *op, Operands in) {
  auto call = dyn_cast<LapackOp>(op);
  if (!call)
    return std::nullopt;
  const auto &library = ownLibrary();
  if (!library) {
    op->emitOpError() << "needs LAPACK, and no library was found ("
                      << library.message() << "); " << lapack::wayToLibrary();
    return Tensors();
  }
  Result<lapack::Kernel> kernel =
      lapack::Kernel::make(*call.getCall(), **library);
  if (!kernel) {
    op->emitOpError() << kernel.message();
    return Tensors();
  }
  std::vector<std::vector<char>> arrays;
  for (const Tensor *tensor : in)
    arrays.push_back(bytesOf(*tensor));
  for (Type type : op->getResultTypes())
    arrays.push_back(bytesOf(Tensor(cast<RankedTensorType>(type))));
  std::vector<void *> buffers;
  for (std::vector<char> &bytes : arrays)
    buffers.push_back(bytes.data());
  if (!kernel->run(buffers.data(), 0, kernel->call().batch())) {
    op->emitOpError() << kernel->outOfMemory().message.text();
    return Tensors();
  }
  Tensors results;
  for (auto [n, type] : llvm::enumerate(op->getResultTypes()))
    results.push_back(
        tensorOf(cast<RankedTensorType>(type), arrays[in.size() + n]));
  return results;
}

} // namespace weft
