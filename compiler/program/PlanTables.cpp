//===- PlanTables.cpp - attributes and ops as tables of plan.fbs ----------===//

#include "weft/compiler/program/PlanTables.h"

#include "weft/base/ElementTypes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
namespace fb = weft::plan;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

/// Whether a type of MLIR, whose class is T, stands for the element type.
template <typename T> static bool isOf(Type type, const ElementFacts &facts) {
  if constexpr (std::is_same_v<T, IntegerType>) {
    auto integer = dyn_cast<IntegerType>(type);
    return integer && int(integer.getWidth()) == facts.bits &&
           integer.isUnsigned() == (facts.kind == ElementKind::Unsigned);
  } else if constexpr (std::is_same_v<T, ComplexType>) {
    auto complex = dyn_cast<ComplexType>(type);
    return complex && complex.getElementType().isF32() == (facts.bits == 64) &&
           complex.getElementType().isF64() == (facts.bits == 128);
  } else {
    return isa<T>(type);
  }
}

std::optional<fb::DType> weft::dtypeOf(Type type) {
#define WEFT_ELEMENT(NAME, name, Name, kind, bits, numpy, Type, ...)           \
  if (isOf<Type>(type, factsOf(ElementType::Name)))                            \
    return fb::DType::name;
#include "weft/base/ElementTypes.def"
  return std::nullopt;
}

/// The value of an enum of plan.fbs that has the name; enums of the plan
/// dialect have the same names.
template <typename Enum, size_t count>
static Enum named(const Enum (&values)[count], const char *(*nameOf)(Enum),
                  StringRef name) {
  return *llvm::find_if(values,
                        [&](Enum value) { return name == nameOf(value); });
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

std::vector<fb::SubAxis> weft::subAxes(ArrayRef<SubAxis> axes) {
  std::vector<fb::SubAxis> result;
  for (const SubAxis &axis : axes)
    result.emplace_back(axis.axis, axis.skip, axis.size);
  return result;
}

static fb::ReduceKind reduceOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return fb::ReduceKind::sum;
  case ReduceKind::Max:
    return fb::ReduceKind::max;
  case ReduceKind::Min:
    return fb::ReduceKind::min;
  case ReduceKind::Prod:
    return fb::ReduceKind::prod;
  case ReduceKind::And:
    return fb::ReduceKind::and_;
  case ReduceKind::Or:
    return fb::ReduceKind::or_;
  }
  return fb::ReduceKind::sum;
}

Offset<fb::Layout> weft::writeLayout(FlatBufferBuilder &builder,
                                     LayoutAttr attr) {
  Layout value = attr.getLayout();
  std::vector<Offset<fb::DimLayout>> dims;
  for (const SubAxes &dim : value.dims) {
    auto axes = subAxes(dim);
    dims.push_back(fb::CreateDimLayoutDirect(builder, &axes));
  }
  auto partial = subAxes(value.partial);
  return fb::CreateLayoutDirect(builder, &dims, &partial,
                                reduceOf(value.reduce));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
/// The kind and table of a collective.
struct Kind {
  fb::CollectiveKind kind = fb::CollectiveKind::NONE;
  Offset<void> table;

  template <typename Table>
  Kind(fb::CollectiveKind kind, Offset<Table> table)
      : kind(kind), table(table.Union()) {}
};
} // namespace

template <typename Table, typename Op>
static Offset<Table> writeMove(FlatBufferBuilder &builder, Op op) {
  auto shape = builder.CreateVector(op.getShape().data(), op.getShape().size());
  auto from = writeLayout(builder, op.getFrom());
  auto to = writeLayout(builder, op.getTo());
  typename Table::Builder table(builder);
  table.add_shape(shape);
  table.add_from(from);
  table.add_to(to);
  return table.Finish();
}

static Kind kindOf(FlatBufferBuilder &builder, Operation *op) {
  using K = fb::CollectiveKind;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case([&](fb::AllReduceOp op) {
        return Kind(K::all_reduce,
                    fb::CreateAllReduce(builder, reduceOf(op.getReduce())));
      })
      .Case([&](fb::AllGatherOp op) {
        return Kind(K::all_gather, fb::CreateAllGather(builder, op.getDim()));
      })
      .Case([&](fb::ReduceScatterOp op) {
        return Kind(K::reduce_scatter,
                    fb::CreateReduceScatter(builder, reduceOf(op.getReduce()),
                                            op.getDim()));
      })
      .Case([&](fb::AllToAllOp op) {
        return Kind(K::all_to_all,
                    fb::CreateAllToAll(builder, op.getSplit(), op.getConcat()));
      })
      .Case([&](fb::PermuteOp op) {
        return Kind(K::permute, writeMove<fb::Permute>(builder, op));
      })
      .Case([&](fb::ExchangeOp op) {
        return Kind(K::exchange, writeMove<fb::Exchange>(builder, op));
      })
      .Case([&](fb::FetchOp op) {
        return Kind(K::fetch,
                    fb::CreateFetch(builder, op.getDim(), op.getSize(),
                                    op.getBlock(), op.getStep(), op.getOffset(),
                                    op.getDivisor(), op.getModulus()));
      })
      .Case([&](fb::PickOp op) {
        return Kind(K::pick, fb::CreatePick(builder, op.getDim()));
      })
      .Case([&](fb::CollectivePermuteOp op) {
        return Kind(K::collective_permute,
                    fb::CreateCollectivePermute(
                        builder, builder.CreateVector(op.getSenders().data(),
                                                      op.getSenders().size())));
      })
      .Case([&](fb::HostCallOp op) {
        return Kind(K::host_call,
                    fb::CreateHostCall(builder, op.getFunction()));
      });
}

Offset<fb::Collective>
weft::writeCollective(FlatBufferBuilder &builder, fb::CollectiveOpInterface op,
                      const std::vector<uint32_t> &sources,
                      const std::vector<uint32_t> &targets) {
  Kind kind = kindOf(builder, op);
  auto group = subAxes(op.getGroupAxes());
  return fb::CreateCollectiveDirect(builder, kind.kind, kind.table, &sources,
                                    &targets, &group,
                                    op.getReason().value_or("").str().c_str());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Operation *KernelTables::find(StringAttr symbol) const {
  return SymbolTable::lookupNearestSymbolFrom(program, symbol);
}

uint32_t KernelTables::numberOf(StringAttr kernel) {
  auto [entry, isNew] =
      kernels.insert({kernel, static_cast<uint32_t>(kernels.size())});
  uint32_t number = entry->second;
  if (auto contraction =
          dyn_cast_or_null<fb::LibraryContractionOp>(find(kernel)))
    numberOf(contraction.getFallbackAttr().getAttr());
  return number;
}

static fb::ContractionDim dimOf(ArrayRef<int64_t> numbers) {
  return {numbers[0], numbers[1], numbers[2], numbers[3]};
}

FailureOr<Offset<void>> KernelTables::write(fb::LibraryContractionOp op) {
  auto sums = dtypeOf(op.getSums());
  if (!sums)
    return op.emitError("element type ")
           << op.getSums() << " has no counterpart in the runtime";
  std::vector<fb::ContractionDim> batch;
  for (ArrayRef<int64_t> rest = op.getBatch(); !rest.empty();
       rest = rest.drop_front(4))
    batch.push_back(dimOf(rest));
  auto rows = dimOf(op.getRows()), columns = dimOf(op.getColumns()),
       contract = dimOf(op.getContract());
  auto epilogue = named(fb::EnumValuesContractionEpilogue(),
                        fb::EnumNameContractionEpilogue,
                        fb::stringifyEpilogue(op.getEpilogue()));
  return fb::CreateLibraryContractionDirect(
             builder, &batch, &rows, &columns, &contract, *sums, epilogue,
             numberOf(op.getFallbackAttr().getAttr()),
             named(fb::EnumValuesContractionCompute(),
                   fb::EnumNameContractionCompute,
                   fb::stringifyCompute(op.getCompute())))
      .Union();
}

FailureOr<Offset<fb::Kernel>> KernelTables::write(StringAttr symbol) {
  Operation *op = find(symbol);
  uint64_t scratch = op ? fb::scratchBytes(op) : 0;
  auto counted =
      op ? op->getAttrOfType<FloatAttr>(fb::kOperationsAttr) : FloatAttr();
  double operations = counted ? counted.getValueAsDouble() : 0;
  auto made = [&](fb::KernelCode code, Offset<void> table) {
    return fb::CreateKernel(builder, code, table, scratch, operations);
  };
  if (auto device = dyn_cast_or_null<fb::DeviceKernelOp>(op)) {
    uint32_t next = modules.size();
    uint32_t number = modules.insert({device.getInModuleAttr().getAttr(), next})
                          .first->second;
    std::vector<uint32_t> block(device.getBlock().begin(),
                                device.getBlock().end());
    return made(fb::KernelCode::device,
                fb::CreateDeviceKernelDirect(
                    builder, number, device.getSymbol().str().c_str(), &block,
                    device.getBlocks(), device.getShared())
                    .Union());
  }
  if (auto builtin = dyn_cast_or_null<fb::BuiltinOp>(op)) {
    std::vector<int64_t> parameters(builtin.getParameters());
    return made(fb::KernelCode::builtin,
                fb::CreateBuiltinDirect(
                    builder, builtin.getName().str().c_str(), &parameters)
                    .Union());
  }
  if (auto contraction = dyn_cast_or_null<fb::LibraryContractionOp>(op)) {
    auto table = write(contraction);
    if (failed(table))
      return failure();
    return made(fb::KernelCode::contraction, *table);
  }
  return made(
      fb::KernelCode::host,
      fb::CreateHostKernelDirect(builder, symbol.str().c_str()).Union());
}

FailureOr<KernelTables::Tables> KernelTables::write() {
  Tables tables;
  for (auto &[symbol, number] : kernels) {
    auto kernel = write(symbol);
    if (failed(kernel))
      return failure();
    tables.kernels.push_back(*kernel);
  }
  for (auto &[symbol, number] : modules) {
    auto module = cast<fb::DeviceModuleOp>(find(symbol));
    StringRef bytes = module.getData();
    builder.ForceVectorAlignment(bytes.size(), 1, 64);
    auto data = builder.CreateVector(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
    auto chip = builder.CreateString(module.getChip().str());
    auto format = named(fb::EnumValuesCodeFormat(), fb::EnumNameCodeFormat,
                        fb::stringifyModuleFormat(module.getFormat()));
    tables.modules.push_back(
        fb::CreateDeviceModule(builder, chip, format, data));
  }
  return tables;
}
