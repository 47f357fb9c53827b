//===- PlanTables.cpp - attributes and ops as tables of plan.fbs ----------===//

#include "weft/compiler/program/PlanTables.h"

#include "weft/dialects/plan/KernelResults.h"
#include "weft/dialects/plan/LocalArrays.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace weft;
namespace fb = weft::plan;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

std::optional<fb::DType> weft::dtypeOf(Type type) {
  auto element = fb::elementTypeOf(type);
  if (!element)
    return std::nullopt;
  return fb::DType(*element);
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
  return fb::ReduceKind(kind); // The values of both enums are equal.
}
static_assert(int(ReduceKind::Or) == int(fb::ReduceKind::or_));

Offset<fb::Layout> weft::writeLayout(FlatBufferBuilder &builder,
                                     const Layout &value) {
  std::vector<Offset<fb::DimLayout>> dims;
  for (const SubAxes &dim : value.dims) {
    auto axes = subAxes(dim);
    dims.push_back(fb::CreateDimLayoutDirect(builder, &axes));
  }
  auto partial = subAxes(value.partial);
  return fb::CreateLayoutDirect(builder, &dims, &partial,
                                reduceOf(value.reduce));
}

Offset<fb::MeshPart> weft::writePart(FlatBufferBuilder &builder,
                                     const Mesh &mesh, const MeshPart &part) {
  if (part.empty())
    return {};
  SubAxes axes;
  std::vector<int64_t> values;
  for (auto [axis, coordinate] : part) {
    axes.push_back(fullAxis(mesh, axis));
    values.push_back(coordinate);
  }
  auto digits = subAxes(axes);
  return fb::CreateMeshPartDirect(builder, &digits, &values);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
/// Writes the table of each kind.
struct KindWriter {
  FlatBufferBuilder &builder;
  const Mesh &mesh;
  fb::CollectiveKind kind = fb::CollectiveKind::NONE;

  template <typename Table>
  Offset<void> as(fb::CollectiveKind its, Offset<Table> table) {
    kind = its;
    return table.Union();
  }
  Offset<void> operator()(const Combination &its) {
    return as(
        fb::CollectiveKind::combination,
        fb::CreateCombination(builder, reduceOf(its.kind),
                              static_cast<int32_t>(its.dim.value_or(-1))));
  }
  Offset<void> operator()(const Movement &its) {
    auto from = writeLayout(builder, its.from),
         to = writeLayout(builder, its.to);
    auto fromPart = writePart(builder, mesh, its.from.part),
         toPart = writePart(builder, mesh, its.to.part);
    std::vector<int64_t> boxes = asNumbers(its.boxes);
    std::vector<Offset<fb::MovedSource>> others;
    for (const MovedSource &source : its.others)
      others.push_back(fb::CreateMovedSourceDirect(
          builder, &source.shape, writeLayout(builder, source.layout)));
    return as(fb::CollectiveKind::movement,
              fb::CreateMovementDirect(
                  builder, &its.shape, from, to, its.isRing, fromPart, toPart,
                  its.boxes.empty() ? nullptr : &boxes,
                  its.boxes.empty() ? nullptr : &its.toShape,
                  others.empty() ? nullptr : &others));
  }
  Offset<void> operator()(const Fetching &its) {
    if (!its.positions)
      return as(fb::CollectiveKind::fetching,
                fb::CreateFetching(builder, its.dim));
    const FetchedPositions &p = *its.positions;
    fb::FetchedPositions at(p.size, p.block, p.step, p.offset, p.divisor,
                            p.modulus);
    return as(fb::CollectiveKind::fetching,
              fb::CreateFetching(builder, its.dim, &at));
  }
  Offset<void> operator()(const Sending &its) {
    return as(fb::CollectiveKind::sending,
              fb::CreateSendingDirect(builder, &its.senders));
  }
  Offset<void> operator()(const HostCall &its) {
    return as(fb::CollectiveKind::host_call,
              fb::CreateHostCall(builder, its.function));
  }
};
} // namespace

Offset<fb::Start> weft::writeStart(FlatBufferBuilder &builder, fb::StartOp op,
                                   const std::vector<uint32_t> &sources,
                                   const std::vector<uint32_t> &targets) {
  KindWriter writer{builder, op.getGroup().getMesh().getMesh()};
  Communication communication = op.getCommunication().getCommunication();
  Offset<void> table = std::visit(writer, communication);
  auto group = subAxes(op.getGroupAxes());
  return fb::CreateStartDirect(builder, writer.kind, table, &sources, &targets,
                               &group, op.getName().str().c_str(),
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
  if (auto sequence = dyn_cast_or_null<fb::KernelSequenceOp>(find(kernel)))
    for (auto each : sequence.getKernels().getAsRange<FlatSymbolRefAttr>())
      numberOf(each.getAttr());
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
  ArrayRef<int64_t> first = op.getFirst();
  return fb::CreateLibraryContractionDirect(
             builder, &batch, &rows, &columns, &contract, *sums, epilogue,
             numberOf(op.getFallbackAttr().getAttr()),
             named(fb::EnumValuesContractionCompute(),
                   fb::EnumNameContractionCompute,
                   fb::stringifyCompute(op.getCompute())),
             first.empty() ? 0 : first[0], first.empty() ? 0 : first[1])
      .Union();
}

FailureOr<Offset<fb::Kernel>> KernelTables::write(StringAttr symbol) {
  Operation *op = find(symbol);
  uint64_t scratch = op ? fb::scratchBytes(op) : 0;
  auto counted =
      op ? op->getAttrOfType<FloatAttr>(fb::kOperationsAttr) : FloatAttr();
  double operations = counted ? counted.getValueAsDouble() : 0;
  auto written =
      op ? op->getAttrOfType<IntegerAttr>(fb::kResultsAttr) : IntegerAttr();
  uint32_t results = written ? uint32_t(written.getInt()) : 0;
  if (auto function = dyn_cast_or_null<FunctionOpInterface>(op))
    results = function.getNumResults();
  auto made = [&](fb::KernelCode code, Offset<void> table) {
    return fb::CreateKernel(builder, code, table, scratch, operations, results);
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
  if (auto sequence = dyn_cast_or_null<fb::KernelSequenceOp>(op)) {
    std::vector<uint32_t> numbers;
    for (auto each : sequence.getKernels().getAsRange<FlatSymbolRefAttr>())
      numbers.push_back(numberOf(each.getAttr()));
    return made(fb::KernelCode::sequence,
                fb::CreateKernelSequenceDirect(builder, &numbers).Union());
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
