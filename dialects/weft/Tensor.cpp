//===- Tensor.cpp - formulas over tensors ---------------------------------===//

#include "weft/dialects/weft/Tensor.h"

using namespace mlir;
using namespace weft;
using namespace weft::formulas;

llvm::APInt formulas::integerOf(double number, Type element) {
  return llvm::APInt(element.getIntOrFloatBitWidth(), uint64_t(int64_t(number)),
                     /*isSigned=*/false, /*implicitTrunc=*/true);
}

Tensor Tensor::splat(OpBuilder &builder, Location loc, double number,
                     RankedTensorType type) {
  return {builder, loc,
          ConstantOp::create(builder, loc, splatData(number, type))};
}

Tensor Tensor::filled(Tensor like) const {
  if (like.type().getRank() == 0)
    return *this;
  return made(BroadcastOp::create(*builder, loc, value, like.type().getShape(),
                                  ArrayRef<int64_t>{}));
}

std::pair<Tensor, Tensor> Tensor::alike(Tensor a, Tensor b) {
  int64_t rankA = a.type().getRank(), rankB = b.type().getRank();
  if (rankA == rankB)
    return {a, b};
  return {rankA == 0 ? a.filled(b) : a, rankB == 0 ? b.filled(a) : b};
}
