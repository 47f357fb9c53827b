//===- ShardingStrings.cpp - XLA's shardings as those of Shardy -----------===//

#include "weft/compiler/frontends/stablehlo/convert/ShardingStrings.h"

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"
#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

#include <numeric>
#include <optional>

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

static constexpr StringLiteral kString = "mhlo.sharding";
static constexpr int64_t kMostDevices = 1 << 20;

namespace {

/// The number of tiles in each dimension, and the device of each tile. A last
/// entry may be the number of copies.
struct Tiling {
  Ints tiles, devices;
  bool hasCopies = false;
};

} // namespace

/// Reads numbers such as "2,1,4", up to another character.
static bool readInts(StringRef &text, Ints &numbers) {
  int64_t number = 0;
  do {
    if (text.consumeInteger(10, number) || number < 0)
      return false;
    numbers.push_back(number);
  } while (text.consume_front(","));
  return true;
}

/// The product of positive sizes; nothing if a size is 0 or the product too
/// large.
static std::optional<int64_t> productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 1 || size > kMostDevices / product)
      return std::nullopt;
    product *= size;
  }
  return product;
}

/// Reads "[2,4]T(1,0)": the devices 0 to n - 1 in this shape, transposed.
static bool readIota(StringRef &text, Ints &devices) {
  Ints sizes, order;
  if (!text.consume_front("[") || !readInts(text, sizes) ||
      !text.consume_front("]"))
    return false;
  if (text.consume_front("T(") &&
      (!readInts(text, order) || !text.consume_front(")")))
    return false;
  if (order.empty()) {
    order.resize(sizes.size());
    std::iota(order.begin(), order.end(), 0);
  }
  Ints sorted = order;
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted))
    if (dim != static_cast<int64_t>(i))
      return false;
  auto count = productOf(sizes);
  if (!count || order.size() != sizes.size())
    return false;
  Ints strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i > 1; --i)
    strides[i - 2] = strides[i - 1] * sizes[i - 1];
  for (int64_t position = 0; position < *count; ++position) {
    int64_t rest = position, device = 0;
    for (size_t i = order.size(); i > 0; --i) {
      int64_t dim = order[i - 1];
      device += rest % sizes[dim] * strides[dim];
      rest /= sizes[dim];
    }
    devices.push_back(device);
  }
  return true;
}

static bool readTiling(StringRef text, Tiling &out) {
  if (!text.consume_front("{devices=[") || !readInts(text, out.tiles) ||
      !text.consume_front("]"))
    return false;
  if (text.consume_front("<=") ? !readIota(text, out.devices)
                               : !readInts(text, out.devices))
    return false;
  out.hasCopies = text.consume_front(" last_tile_dim_replicate") ||
                  text.consume_front(" last_tile_dims={replicated}");
  auto count = productOf(out.tiles);
  return text == "}" && count &&
         *count == static_cast<int64_t>(out.devices.size());
}

/// The sharding as a dictionary of ReaderDialects.h; null for unknown forms.
static DictionaryAttr treeOf(MLIRContext *context, StringRef text,
                             int64_t rank) {
  Builder builder(context);
  Tiling tiling;
  if (text == "{replicated}")
    tiling.tiles.assign(rank, 1), tiling.devices = {0};
  else if (!readTiling(text, tiling))
    return {};
  if (static_cast<int64_t>(tiling.tiles.size()) != rank + tiling.hasCopies)
    return {};
  SmallVector<Attribute> names, sizes, dims;
  for (auto [i, count] : llvm::enumerate(tiling.tiles)) {
    bool isDim = static_cast<int64_t>(i) < rank;
    SmallVector<Attribute> axes;
    if (count > 1) {
      std::string name = isDim ? "tile" + std::to_string(i) : "rest";
      axes.push_back(builder.getStringAttr(name));
      names.push_back(axes.back());
      sizes.push_back(builder.getI64IntegerAttr(count));
    }
    if (isDim)
      dims.push_back(makeShardedDim(builder.getArrayAttr(axes), true, 0));
  }
  if (llvm::equal(tiling.devices, llvm::seq<int64_t>(0, tiling.devices.size())))
    tiling.devices.clear(); // the order of a mesh without a list
  Attribute none = builder.getArrayAttr({});
  return cast<DictionaryAttr>(makeSharding(
      makeMesh(context, names, sizes, tiling.devices), dims, none, none));
}

static FailureOr<DictionaryAttr> translate(Location loc, StringAttr text,
                                           Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  DictionaryAttr tree =
      tensor ? treeOf(loc.getContext(), text.getValue(), tensor.getRank())
             : DictionaryAttr();
  if (!tree)
    return emitError(loc) << "the sharding " << text << " of " << type
                          << " is not supported; known are {replicated}, "
                             "{devices=[2,4]<=[8]} and those with copies in a "
                             "last tile dimension";
  return tree;
}

/// Translates the shardings of a function's arguments or results.
static LogicalResult translatePorts(Operation *op, StringRef key,
                                    TypeRange types) {
  auto list = op->getAttrOfType<ArrayAttr>(key);
  if (!list || list.size() != types.size())
    return success();
  SmallVector<Attribute> ports(list.begin(), list.end());
  for (auto [port, type] : llvm::zip_equal(ports, types)) {
    auto tree = dyn_cast<DictionaryAttr>(port);
    auto text = tree ? tree.getAs<StringAttr>(kString) : StringAttr();
    if (!text)
      continue;
    auto sharding = translate(op->getLoc(), text, type);
    if (failed(sharding))
      return failure();
    NamedAttrList entries(tree);
    entries.set("sdy.sharding", *sharding);
    port = entries.getDictionary(op->getContext());
  }
  op->setAttr(key, ArrayAttr::get(op->getContext(), ports));
  return success();
}

LogicalResult stablehlo::translateShardingStrings(ModuleOp program) {
  auto found = program.walk([](Operation *op) {
    ForeignOp foreign(op);
    if (foreign.name() == "func.func" && op->getNumRegions() == 1 &&
        op->getRegion(0).hasOneBlock() && !op->getRegion(0).front().empty()) {
      Block &body = op->getRegion(0).front();
      return WalkResult(success(
          succeeded(translatePorts(op, "arg_attrs", body.getArgumentTypes())) &&
          succeeded(
              translatePorts(op, "res_attrs", body.back().getOperandTypes()))));
    }
    auto text = op->getAttrOfType<StringAttr>(kString);
    StringRef target = foreign.word("call_target_name");
    if (!text || text.getValue() == "{manual}" || op->getNumResults() != 1 ||
        (target != "Sharding" && target != "SPMDShardToFullShape"))
      return WalkResult::advance();
    auto sharding = translate(op->getLoc(), text, op->getResult(0).getType());
    if (failed(sharding))
      return WalkResult::interrupt();
    op->setAttr("sharding", *sharding);
    return WalkResult::advance();
  });
  return failure(found.wasInterrupted());
}
