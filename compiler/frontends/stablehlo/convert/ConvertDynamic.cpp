//===- ConvertDynamic.cpp - ops whose shapes are operands -----------------===//
//
//   %s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
//   %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xf32>, tensor<2xi32>)
//          -> tensor<?x?xf32>
//
// If these operands are computed from constants, the op is converted like its
// static form, here stablehlo.reshape to tensor<2x3xf32>. Users see that type.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"
#include "weft/compiler/frontends/stablehlo/convert/KnownNumbers.h"
#include "weft/layout/Sizes.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// The numbers in operand `index`; fails unless they are known and `count` in
/// number.
FailureOr<Ints> numbersOf(Converter &c, ForeignOp op, unsigned index,
                          size_t count) {
  auto numbers = knownNumbers(c.input(op, index));
  if (!numbers)
    return op.refuse() << "has operand " << index
                       << " that does not follow from constants, so shapes are "
                          "unknown; export the program for known shapes";
  if (numbers->size() != count)
    return op.refuse() << "has " << numbers->size() << " numbers in operand "
                       << index << ", not " << count;
  return *numbers;
}

/// The result's type with this shape; fails if they are not compatible.
FailureOr<RankedTensorType> resultOf(ForeignOp op, ArrayRef<int64_t> shape) {
  auto type = op.resultType();
  auto known = RankedTensorType::get(shape, type.getElementType());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
      failed(verifyCompatibleShape(type.getShape(), shape)))
    return op.refuse() << "has a result of " << type << ", its operands give "
                       << known;
  return known;
}

/// The result's type with the shape in operand `index`. If the shape is
/// unknown, it is the op's own type, which must then be static.
FailureOr<RankedTensorType> namedResult(Converter &c, ForeignOp op,
                                        unsigned index) {
  auto type = op.resultType();
  auto numbers = knownNumbers(c.input(op, index));
  if (!numbers && type.hasStaticShape())
    return type;
  auto shape = numbersOf(c, op, index, type.getRank());
  if (failed(shape))
    return failure();
  return resultOf(op, *shape);
}

LogicalResult dynamicReshape(Converter &c, ForeignOp op) {
  auto type = namedResult(c, op, 1);
  return failed(type) ? failure()
                      : c.convertAs(op, "reshape", op->getOperand(0), *type);
}

LogicalResult dynamicBroadcast(Converter &c, ForeignOp op) {
  auto type = namedResult(c, op, 1);
  return failed(type)
             ? failure()
             : c.convertAs(op, "broadcast_in_dim", op->getOperand(0), *type);
}

LogicalResult dynamicIota(Converter &c, ForeignOp op) {
  auto type = namedResult(c, op, 0);
  return failed(type) ? failure() : c.convertAs(op, "iota", {}, *type);
}

LogicalResult dynamicPad(Converter &c, ForeignOp op) {
  auto from = op.operandType(0);
  size_t rank = from.getRank();
  auto low = numbersOf(c, op, 2, rank), high = numbersOf(c, op, 3, rank),
       interior = numbersOf(c, op, 4, rank);
  if (failed(low) || failed(high) || failed(interior))
    return failure();
  Ints shape(from.getShape());
  for (size_t d = 0; d < rank; ++d)
    shape[d] = saturatingAdd(
        saturatingAdd(shape[d], saturatingAdd((*low)[d], (*high)[d])),
        saturatingMultiply((*interior)[d], std::max<int64_t>(shape[d] - 1, 0)));
  auto type = resultOf(op, shape);
  return failed(type)
             ? failure()
             : c.convertAs(op, "pad", op->getOperands().take_front(2), *type,
                           {{"edge_padding_low", *low},
                            {"edge_padding_high", *high},
                            {"interior_padding", *interior}});
}

LogicalResult dynamicRangeSlice(Converter &c, ForeignOp op) {
  size_t rank = op.operandType(0).getRank();
  auto start = numbersOf(c, op, 1, rank), limit = numbersOf(c, op, 2, rank),
       stride = numbersOf(c, op, 3, rank);
  if (failed(start) || failed(limit) || failed(stride))
    return failure();
  Ints shape;
  for (size_t d = 0; d < rank; ++d) {
    if ((*stride)[d] < 1)
      return op.refuse() << "has a stride of " << (*stride)[d]
                         << ", the least is 1";
    if ((*start)[d] < 0 || (*limit)[d] < (*start)[d])
      return op.refuse() << "has a range from " << (*start)[d] << " to "
                         << (*limit)[d];
    shape.push_back(llvm::divideCeil((*limit)[d] - (*start)[d], (*stride)[d]));
  }
  auto type = resultOf(op, shape);
  return failed(type) ? failure()
                      : c.convertAs(op, "slice", op->getOperand(0), *type,
                                    {{"start_indices", *start},
                                     {"limit_indices", *limit},
                                     {"strides", *stride}});
}

/// The type of a gather. The offset dimensions have the sizes of slices; the
/// other dimensions are those of the indices except `index_vector_dim`.
FailureOr<RankedTensorType> gatheredType(ForeignOp op,
                                         ArrayRef<int64_t> sizes) {
  auto type = op.resultType(), positions = op.operandType(1);
  Ints offset = op.ints("offset_dims"),
       dropped = op.ints("collapsed_slice_dims");
  dropped.append(op.ints("operand_batching_dims"));
  int64_t vector = op.integer("index_vector_dim").value_or(0);
  Ints inside, outside, shape(type.getRank(), -1);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(dropped, static_cast<int64_t>(dim)))
      inside.push_back(size);
  for (auto [dim, size] : llvm::enumerate(positions.getShape()))
    if (static_cast<int64_t>(dim) != vector)
      outside.push_back(size);
  if (inside.size() != offset.size() ||
      inside.size() + outside.size() != shape.size())
    return op.refuse() << "has a result of " << type << ", its slices and "
                       << "positions have " << inside.size() << " and "
                       << outside.size() << " dimensions";
  size_t in = 0, out = 0;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    bool isOffset = llvm::is_contained(offset, static_cast<int64_t>(dim));
    if (isOffset ? in == inside.size() : out == outside.size())
      return op.refuse() << "has offset dimensions that are not distinct ones "
                            "of "
                         << type;
    size = isOffset ? inside[in++] : outside[out++];
  }
  return resultOf(op, shape);
}

LogicalResult dynamicGather(Converter &c, ForeignOp op) {
  auto sizes = numbersOf(c, op, 2, op.operandType(0).getRank());
  if (failed(sizes))
    return failure();
  auto type = gatheredType(op, *sizes);
  return failed(type)
             ? failure()
             : c.convertAs(op, "gather", op->getOperands().take_front(2), *type,
                           {{"slice_sizes", *sizes}});
}

LogicalResult dynamicConvolution(Converter &c, ForeignOp op) {
  auto type = op.resultType();
  if (!type.hasStaticShape())
    return op.refuse() << "has a result of unknown shape, " << type
                       << "; only known shapes are supported";
  auto padding =
      numbersOf(c, op, 2, 2 * std::max<size_t>(type.getRank(), 2) - 4);
  return failed(padding)
             ? failure()
             : c.convertAs(op, "convolution", op->getOperands().take_front(2),
                           type, {{"padding", *padding}});
}

LogicalResult dimensionSize(Converter &c, ForeignOp op) {
  auto from = op.operandType(0);
  int64_t dim = op.integer("dimension").value_or(-1);
  if (dim < 0 || dim >= from.getRank())
    return op.refuse() << "names dimension " << dim << ", the operand has "
                       << from.getRank();
  if (op.resultType().getRank() != 0 ||
      !isa<IntegerType>(op.resultType().getElementType()))
    return op.refuse() << "has a result of " << op.resultType()
                       << ", not one integer";
  return c.give(op, c.splat(op, static_cast<double>(from.getDimSize(dim)),
                            op.resultType()));
}

constexpr ConversionEntry kEntries[] = {
    {"dynamic_reshape", dynamicReshape, 2, 0, OpRole::GivesShape},
    {"dynamic_broadcast_in_dim", dynamicBroadcast, 2, 0, OpRole::GivesShape},
    {"dynamic_iota", dynamicIota, 1, 0, OpRole::GivesShape},
    {"dynamic_pad", dynamicPad, 5, 0, OpRole::GivesShape},
    {"real_dynamic_slice", dynamicRangeSlice, 4, 0, OpRole::GivesShape},
    {"dynamic_gather", dynamicGather, 3, 0, OpRole::GivesShape},
    {"dynamic_conv", dynamicConvolution, 3, 0, OpRole::GivesShape},
    {"get_dimension_size", dimensionSize},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::dynamicConversions() { return kEntries; }
