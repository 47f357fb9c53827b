//===- SerializePlan.cpp - plan.program to the runtime's file -------------===//

// Constants are aligned to 64 bytes; FlatBuffers asserts 32 at most, unless told.
#define FLATBUFFERS_MAX_ALIGNMENT 64

#include "weft/compiler/program/SerializePlan.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/abi/weft.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
namespace fb = weft::plan;

namespace {

std::optional<fb::DType> smallFloatOf(Type type) {
  return llvm::TypeSwitch<Type, std::optional<fb::DType>>(type)
      .Case<Float8E4M3FNType>([](auto) { return fb::DType::f8E4M3FN; })
      .Case<Float8E5M2Type>([](auto) { return fb::DType::f8E5M2; })
      .Case<Float8E4M3Type>([](auto) { return fb::DType::f8E4M3; })
      .Case<Float8E3M4Type>([](auto) { return fb::DType::f8E3M4; })
      .Case<Float8E4M3FNUZType>([](auto) { return fb::DType::f8E4M3FNUZ; })
      .Case<Float8E5M2FNUZType>([](auto) { return fb::DType::f8E5M2FNUZ; })
      .Case<Float8E4M3B11FNUZType>(
          [](auto) { return fb::DType::f8E4M3B11FNUZ; })
      .Case<Float8E8M0FNUType>([](auto) { return fb::DType::f8E8M0FNU; })
      .Case<Float4E2M1FNType>([](auto) { return fb::DType::f4E2M1FN; })
      .Default([](Type) { return std::nullopt; });
}

std::optional<fb::DType> dtypeOf(Type type) {
  if (type.isF32())
    return fb::DType::f32;
  if (type.isF64())
    return fb::DType::f64;
  if (type.isF16())
    return fb::DType::f16;
  if (type.isBF16())
    return fb::DType::bf16;
  if (auto small = smallFloatOf(type))
    return small;
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32()   ? std::optional(fb::DType::c64)
           : complex.getElementType().isF64() ? std::optional(fb::DType::c128)
                                              : std::nullopt;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return fb::DType::i1;
  case 2:
    return isUnsigned ? fb::DType::ui2 : fb::DType::i2;
  case 4:
    return isUnsigned ? fb::DType::ui4 : fb::DType::i4;
  case 8:
    return isUnsigned ? fb::DType::ui8 : fb::DType::i8;
  case 16:
    return isUnsigned ? fb::DType::ui16 : fb::DType::i16;
  case 32:
    return isUnsigned ? fb::DType::ui32 : fb::DType::i32;
  case 64:
    return isUnsigned ? fb::DType::ui64 : fb::DType::i64;
  default:
    return std::nullopt;
  }
}

/// Builds the tables bottom up, as FlatBuffers asks.
class PlanWriter {
public:
  PlanWriter(fb::ProgramOp program, const PlanTexts &texts)
      : program(program), texts(texts) {}
  FailureOr<std::vector<uint8_t>> write();

private:
  LogicalResult collectBuffers();
  void addBuffer(Value value, fb::BufferKind kind, uint64_t offset,
                 fb::DType dtype, StringRef name);
  uint64_t addConstant(ElementsAttr value);
  LogicalResult collectInstructions();
  template <typename T>
  void addInstruction(fb::Operation kind, flatbuffers::Offset<T> operation) {
    instructions.push_back(
        fb::CreateInstruction(builder, kind, operation.Union()));
  }
  void addCollective(fb::CollectiveOp op);
  flatbuffers::Offset<fb::Layout> layout(LayoutAttr attr);
  std::vector<fb::SubAxis> subAxes(ArrayRef<SubAxis> axes);
  std::vector<uint32_t> indices(ValueRange values) {
    std::vector<uint32_t> result;
    for (Value value : values)
      result.push_back(numbers.lookup(value));
    return result;
  }
  flatbuffers::Offset<fb::Mesh> mesh();
  std::vector<flatbuffers::Offset<fb::Observation>> observations();
  template <typename Op>
  flatbuffers::Offset<fb::Port> port(Op op, int32_t donatedTo);
  FailureOr<fb::PortRole> role(Operation *op, StringRef name);

  fb::ProgramOp program;
  const PlanTexts &texts;
  flatbuffers::FlatBufferBuilder builder{1 << 16};
  DenseMap<Value, uint32_t> numbers;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers;
  std::vector<flatbuffers::Offset<fb::Instruction>> instructions;
  std::vector<uint8_t> constants;
  llvm::MapVector<StringRef, uint32_t> kernels;
  llvm::StringMap<uint32_t> labels;
};

void PlanWriter::addBuffer(Value value, fb::BufferKind kind, uint64_t offset,
                           fb::DType dtype, StringRef name) {
  auto type = cast<MemRefType>(value.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  numbers[value] = buffers.size();
  buffers.push_back(fb::CreateBufferDirect(builder, kind, offset,
                                           bufferBytes(type), dtype, &shape,
                                           name.str().c_str()));
}

/// Appends a constant's dense bytes, 64-byte aligned; returns its offset.
uint64_t PlanWriter::addConstant(ElementsAttr value) {
  constants.resize(llvm::alignTo(constants.size(), 64));
  uint64_t offset = constants.size();
  auto dense = cast<DenseElementsAttr>(value);
  Type elements = dense.getElementType();
  int64_t width = bytesOf(partType(elements));
  auto append = [&](const APInt &bits) {
    for (int64_t byte = 0; byte < width; ++byte)
      constants.push_back(bits.getZExtValue() >> (8 * byte));
  };
  if (isa<ComplexType>(elements)) {
    for (const auto &number : dense.getValues<std::complex<APFloat>>()) {
      append(number.real().bitcastToAPInt());
      append(number.imag().bitcastToAPInt());
    }
  } else if (isa<FloatType>(elements)) {
    for (const APFloat &number : dense.getValues<APFloat>())
      append(number.bitcastToAPInt());
  } else {
    for (const APInt &number : dense.getValues<APInt>())
      append(number);
  }
  return offset;
}

LogicalResult PlanWriter::collectBuffers() {
  for (Operation &op : program.getBody().front()) {
    if (op.getNumResults() != 1)
      continue;
    Value value = op.getResult(0);
    Type element = cast<MemRefType>(value.getType()).getElementType();
    auto dtype = dtypeOf(element);
    if (!dtype)
      return op.emitError("element type ")
             << element << " has no counterpart in the runtime";
    if (auto input = dyn_cast<fb::InputOp>(op)) {
      addBuffer(value, fb::BufferKind::input, 0, *dtype, input.getName());
    } else if (auto output = dyn_cast<fb::OutputOp>(op)) {
      if (output.getDonor())
        numbers[value] = numbers.lookup(output.getDonor());
      else
        addBuffer(value, fb::BufferKind::output, 0, *dtype, output.getName());
    } else if (auto buffer = dyn_cast<fb::BufferOp>(op)) {
      addBuffer(value, fb::BufferKind::arena, buffer.getOffset(), *dtype, "");
    } else if (auto constant = dyn_cast<fb::ConstantOp>(op)) {
      addBuffer(value, fb::BufferKind::constant,
                addConstant(constant.getValue()), *dtype, "");
    }
  }
  return success();
}

std::vector<fb::SubAxis> PlanWriter::subAxes(ArrayRef<SubAxis> axes) {
  std::vector<fb::SubAxis> result;
  for (const SubAxis &axis : axes)
    result.emplace_back(axis.axis, axis.skip, axis.size);
  return result;
}

flatbuffers::Offset<fb::Layout> PlanWriter::layout(LayoutAttr attr) {
  if (!attr)
    return 0;
  Layout value = attr.getLayout();
  std::vector<flatbuffers::Offset<fb::DimLayout>> dims;
  for (const SubAxes &dim : value.dims) {
    auto axes = subAxes(dim);
    dims.push_back(fb::CreateDimLayoutDirect(builder, &axes));
  }
  auto partial = subAxes(value.partial);
  return fb::CreateLayoutDirect(builder, &dims, &partial,
                                static_cast<fb::ReduceKind>(value.reduce));
}

void PlanWriter::addCollective(fb::CollectiveOp op) {
  static constexpr StringRef names[] = {
      "all_reduce", "all_gather", "reduce_scatter",
      "all_to_all", "permute",    "exchange",
      "fetch",      "pick",       "collective_permute",
      "host_call"};
  auto kind = static_cast<fb::CollectiveKind>(llvm::find(names, op.getKind()) -
                                              std::begin(names));
  auto reduce = op.getReduceAttr()
                    ? static_cast<fb::ReduceKind>(op.getReduceAttr().getValue())
                    : fb::ReduceKind::sum;
  auto sources = indices(op.getSources()), targets = indices(op.getTargets());
  std::vector<fb::SubAxis> axes;
  if (auto group = op.getGroupAttr())
    axes = subAxes(group.getLayout().dims[0]);
  std::vector<int64_t> shape;
  if (auto global = op.getShape())
    shape.assign(global->begin(), global->end());
  auto from = layout(op.getFromLayoutAttr()), to = layout(op.getToLayoutAttr());
  addInstruction(fb::Operation::Collective,
                 fb::CreateCollectiveDirect(
                     builder, kind, reduce, &sources, &targets, &axes,
                     op.getFrom() ? static_cast<int32_t>(*op.getFrom()) : -1,
                     op.getTo() ? static_cast<int32_t>(*op.getTo()) : -1, from,
                     to, &shape, op.getReason().value_or("").str().c_str()));
}

LogicalResult PlanWriter::collectInstructions() {
  uint32_t index = 0;
  for (Operation &op : program.getBody().front()) {
    if (auto label = dyn_cast<fb::LabelOp>(op))
      labels[label.getName()] = index;
    else
      index += op.getNumResults() == 0;
  }
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<fb::LaunchOp>(op)) {
      auto [entry, isNew] = kernels.insert(
          {launch.getKernel(), static_cast<uint32_t>(kernels.size())});
      auto arguments = indices(launch.getBuffers());
      addInstruction(
          fb::Operation::Launch,
          fb::CreateLaunchDirect(builder, entry->second, &arguments));
    } else if (auto collective = dyn_cast<fb::CollectiveOp>(op)) {
      addCollective(collective);
    } else if (auto copy = dyn_cast<fb::CopyOp>(op)) {
      addInstruction(fb::Operation::Copy,
                     fb::CreateCopy(builder, numbers.lookup(copy.getSource()),
                                    numbers.lookup(copy.getTarget())));
    } else if (auto jump = dyn_cast<fb::JumpOp>(op)) {
      addInstruction(fb::Operation::Jump,
                     fb::CreateJump(builder, labels[jump.getTarget()]));
    } else if (auto jump = dyn_cast<fb::JumpUnlessOp>(op)) {
      addInstruction(fb::Operation::JumpUnless,
                     fb::CreateJumpUnless(builder,
                                          numbers.lookup(jump.getCondition()),
                                          labels[jump.getTarget()]));
    }
  }
  addInstruction(fb::Operation::Return, fb::CreateReturn(builder));
  return success();
}

flatbuffers::Offset<fb::Mesh> PlanWriter::mesh() {
  Mesh value = program.getMesh().getMesh();
  std::vector<flatbuffers::Offset<flatbuffers::String>> names;
  std::vector<int64_t> sizes,
      devices(value.devices.begin(), value.devices.end());
  std::vector<double> latency, bandwidth;
  for (const MeshAxis &axis : value.axes) {
    names.push_back(builder.CreateString(axis.name));
    sizes.push_back(axis.size);
    latency.push_back(axis.latency);
    bandwidth.push_back(axis.bandwidth);
  }
  return fb::CreateMeshDirect(builder, &names, &sizes, &devices, &latency,
                              &bandwidth);
}

std::vector<flatbuffers::Offset<fb::Observation>> PlanWriter::observations() {
  std::vector<flatbuffers::Offset<fb::Observation>> all;
  if (auto observed = program->getAttrOfType<ArrayAttr>(kObservedAttr))
    for (auto pair : observed.getAsRange<ArrayAttr>()) {
      auto name = cast<StringAttr>(pair[0]).getValue().str();
      auto where = layout(cast<LayoutAttr>(pair[1]));
      all.push_back(fb::CreateObservationDirect(builder, name.c_str(), where));
    }
  return all;
}

FailureOr<fb::PortRole> PlanWriter::role(Operation *op, StringRef name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(fb::PortRole::MAX); ++i)
    if (name == fb::EnumNamePortRole(static_cast<fb::PortRole>(i)))
      return static_cast<fb::PortRole>(i);
  return op->emitError("unknown role \"") << name << "\"";
}

template <typename Op>
flatbuffers::Offset<fb::Port> PlanWriter::port(Op op, int32_t donatedTo) {
  auto type = cast<RankedTensorType>(op.getGlobalType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  auto portRole = role(op, op.getRole());
  auto where = layout(op.getLayout());
  return fb::CreatePortDirect(
      builder, op.getName().str().c_str(),
      succeeded(portRole) ? *portRole : fb::PortRole::other,
      numbers.lookup(op.getBuffer()), *dtypeOf(type.getElementType()), &shape,
      where, donatedTo, op.getMetadata().value_or("").str().c_str());
}

FailureOr<std::vector<uint8_t>> PlanWriter::write() {
  if (failed(collectBuffers()) || failed(collectInstructions()))
    return failure();
  std::vector<flatbuffers::Offset<fb::Port>> inputs, outputs;
  DenseMap<Value, int32_t> donatedTo;
  int32_t index = 0;
  for (auto output : program.getOps<fb::OutputOp>()) {
    if (output.getDonor())
      donatedTo[output.getDonor()] = index;
    outputs.push_back(port(output, -1));
    ++index;
  }
  for (auto input : program.getOps<fb::InputOp>()) {
    auto donated = donatedTo.find(input.getBuffer());
    inputs.push_back(
        port(input, donated == donatedTo.end() ? -1 : donated->second));
  }
  std::vector<flatbuffers::Offset<flatbuffers::String>> symbols;
  for (auto &[name, number] : kernels)
    symbols.push_back(builder.CreateString(name.str()));
  builder.ForceVectorAlignment(constants.size(), 1, 64);
  auto data = builder.CreateVector(constants);
  auto meshOffset = mesh();
  auto name = builder.CreateString(program.getSymName().str());
  auto target = builder.CreateString(texts.target);
  auto explanation = builder.CreateString(texts.explanation);
  auto metadata = builder.CreateString(texts.metadata);
  auto bufferTable = builder.CreateVector(buffers);
  auto inputTable = builder.CreateVector(inputs);
  auto outputTable = builder.CreateVector(outputs);
  auto kernelTable = builder.CreateVector(symbols);
  auto instructionTable = builder.CreateVector(instructions);
  auto observed = builder.CreateVector(observations());
  builder.Finish(fb::CreateProgram(builder, WEFT_ABI_VERSION, name, target,
                                   meshOffset, program.getArena(), bufferTable,
                                   inputTable, outputTable, data, kernelTable,
                                   instructionTable, explanation, metadata,
                                   observed),
                 fb::ProgramIdentifier());
  return std::vector<uint8_t>(builder.GetBufferPointer(),
                              builder.GetBufferPointer() + builder.GetSize());
}

} // namespace

FailureOr<std::vector<uint8_t>> weft::serializePlan(fb::ProgramOp program,
                                                    const PlanTexts &texts) {
  return PlanWriter(program, texts).write();
}
