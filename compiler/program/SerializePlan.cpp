//===- SerializePlan.cpp - plan.program to the runtime's file -------------===//

#include "weft/compiler/program/SerializePlan.h"

#include "weft/compiler/program/PlanTables.h"
#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/runtime/abi/PlanPorts.h"
#include "weft/runtime/abi/weft.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace weft;
namespace fb = weft::plan;

namespace {

/// Builds the tables bottom up, as FlatBuffers requires.
class PlanWriter {
public:
  PlanWriter(fb::ProgramOp program,
             const PlanTexts &texts [[clang::lifetimebound]])
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
  std::vector<uint32_t> indices(ValueRange values) {
    std::vector<uint32_t> result;
    for (Value value : values)
      result.push_back(numbers.lookup(value));
    return result;
  }
  /// The number of the Sharing over these axes, -1 for none.
  int32_t sharing(LayoutAttr axes);
  std::vector<flatbuffers::Offset<fb::Sharing>> sharings();
  flatbuffers::Offset<fb::Mesh> mesh();
  std::vector<flatbuffers::Offset<fb::Observation>> observations();
  template <typename Op>
  flatbuffers::Offset<fb::Port> port(Op op, int32_t donatedTo);
  FailureOr<fb::PortRole> role(Operation *op, StringRef name);
  bool hasUnknownRole = false;

  fb::ProgramOp program;
  const PlanTexts &texts;
  flatbuffers::FlatBufferBuilder builder{1 << 16};
  DenseMap<Value, uint32_t> numbers;
  llvm::MapVector<LayoutAttr, int32_t> shared;
  std::vector<flatbuffers::Offset<fb::Buffer>> buffers;
  std::vector<flatbuffers::Offset<fb::Instruction>> instructions;
  std::vector<uint8_t> constants;
  KernelTables kernels{program, builder};
  llvm::StringMap<uint32_t> labels;
  DenseMap<Operation *, uint32_t> starts; ///< numbers of instructions
};

void PlanWriter::addBuffer(Value value, fb::BufferKind kind, uint64_t offset,
                           fb::DType dtype, StringRef name) {
  auto type = cast<MemRefType>(value.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  auto inShared =
      value.getDefiningOp()->getAttrOfType<IntegerAttr>(fb::kSharedOffsetAttr);
  uint64_t sharedOffset = inShared ? inShared.getInt() : 0;
  numbers[value] = buffers.size();
  buffers.push_back(fb::CreateBufferDirect(
      builder, kind, offset, bufferBytes(type), dtype, &shape,
      name.str().c_str(), sharing(fb::sharedOver(value)), sharedOffset));
}

int32_t PlanWriter::sharing(LayoutAttr axes) {
  if (!axes)
    return -1;
  return shared.insert({axes, static_cast<int32_t>(shared.size())})
      .first->second;
}

std::vector<flatbuffers::Offset<fb::Sharing>> PlanWriter::sharings() {
  std::vector<flatbuffers::Offset<fb::Sharing>> all;
  for (auto &[axes, number] : shared) {
    auto digits = subAxes(fb::groupAxes(axes));
    all.push_back(fb::CreateSharingDirect(builder, &digits));
  }
  return all;
}

/// Appends a constant's dense bytes, 64-byte aligned; returns its offset.
uint64_t PlanWriter::addConstant(ElementsAttr value) {
  constants.resize(llvm::alignTo(constants.size(), 64));
  uint64_t offset = constants.size();
  auto dense = cast<DenseElementsAttr>(value);
  Type elements = dense.getElementType();
  int64_t width = bytesOf(componentType(elements));
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
    if (op.getNumResults() != 1 || isa<fb::StartOp>(op))
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
      if (output.getDonated())
        numbers[value] = numbers.lookup(output.getDonated());
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

LogicalResult PlanWriter::collectInstructions() {
  uint32_t index = 0;
  for (Operation &op : program.getBody().front()) {
    if (auto label = dyn_cast<fb::LabelOp>(op))
      labels[label.getName()] = index;
    else
      index += fb::isInstruction(op);
  }
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<fb::LaunchOp>(op)) {
      auto arguments = indices(launch.getBuffers());
      Value scratch = launch.getScratch();
      addInstruction(
          fb::Operation::Launch,
          fb::CreateLaunchDirect(
              builder, kernels.numberOf(launch.getKernelAttr().getAttr()),
              &arguments,
              scratch ? static_cast<int32_t>(numbers.lookup(scratch)) : -1,
              sharing(launch->getAttrOfType<LayoutAttr>(fb::kSharedAttr))));
    } else if (auto start = dyn_cast<fb::StartOp>(op)) {
      starts[start] = instructions.size();
      addInstruction(fb::Operation::Start,
                     writeStart(builder, start, indices(start.getSources()),
                                indices(start.getTargets())));
    } else if (auto wait = dyn_cast<fb::WaitOp>(op)) {
      addInstruction(
          fb::Operation::Wait,
          fb::CreateWait(builder,
                         starts.lookup(wait.getStarted().getDefiningOp())));
    } else if (auto copy = dyn_cast<fb::CopyOp>(op)) {
      addInstruction(fb::Operation::Copy,
                     fb::CreateCopy(builder, numbers.lookup(copy.getSource()),
                                    numbers.lookup(copy.getTarget()),
                                    sharing(fb::sharedOver(copy.getTarget()))));
    } else if (auto jump = dyn_cast<fb::JumpOp>(op)) {
      addInstruction(fb::Operation::Jump,
                     fb::CreateJump(builder, labels[jump.getTarget()]));
    } else if (auto jump = dyn_cast<fb::JumpUnlessOp>(op)) {
      addInstruction(
          fb::Operation::JumpUnless,
          fb::CreateJumpUnless(builder, numbers.lookup(jump.getCondition()),
                               labels[jump.getTarget()], jump.getEqual()));
    } else if (auto jump = dyn_cast<fb::JumpOutsideOp>(op)) {
      auto part = writePart(builder, program.getMesh().getMesh(),
                            jump.getPlace().getLayout().part);
      addInstruction(
          fb::Operation::JumpOutside,
          fb::CreateJumpOutside(builder, part, labels[jump.getTarget()]));
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
      auto where = writeLayout(builder, cast<LayoutAttr>(pair[1]).getLayout());
      all.push_back(fb::CreateObservationDirect(builder, name.c_str(), where));
    }
  return all;
}

FailureOr<fb::PortRole> PlanWriter::role(Operation *op, StringRef name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(fb::PortRole::MAX); ++i)
    if (name == fb::EnumNamePortRole(static_cast<fb::PortRole>(i)))
      return static_cast<fb::PortRole>(i);
  if (hasUnknownRole) // Only the first error is reported.
    return failure();
  hasUnknownRole = true;
  return op->emitError("unknown role \"")
         << name << "\"; write weight, state, slot, input, label, "
         << "sample_weight, output, metric, metric_state or other";
}

template <typename Op>
flatbuffers::Offset<fb::Port> PlanWriter::port(Op op, int32_t donatedTo) {
  auto type = cast<RankedTensorType>(op.getGlobalType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  auto portRole = role(op, op.getRole());
  auto where = writeLayout(builder, op.getLayout().getLayout());
  auto facts = writeFacts(builder, verifiedFactsOf(op.getFactsAttr()));
  auto part = writePart(builder, program.getMesh().getMesh(),
                        op.getLayout().getLayout().part);
  return fb::CreatePortDirect(
      builder, op.getName().str().c_str(),
      succeeded(portRole) ? *portRole : fb::PortRole::other,
      numbers.lookup(op.getBuffer()), *dtypeOf(type.getElementType()), &shape,
      where, donatedTo, facts, part);
}

FailureOr<std::vector<uint8_t>> PlanWriter::write() {
  if (failed(collectBuffers()) || failed(collectInstructions()))
    return failure();
  std::vector<flatbuffers::Offset<fb::Port>> inputs, outputs;
  DenseMap<Value, int32_t> donatedTo;
  int32_t index = 0;
  for (auto output : program.getOps<fb::OutputOp>()) {
    if (output.getDonated())
      donatedTo[output.getDonated()] = index;
    outputs.push_back(port(output, -1));
    ++index;
  }
  for (auto input : program.getOps<fb::InputOp>()) {
    auto donated = donatedTo.find(input.getBuffer());
    inputs.push_back(
        port(input, donated == donatedTo.end() ? -1 : donated->second));
  }
  auto code = kernels.write();
  if (failed(code) || hasUnknownRole)
    return failure();
  builder.ForceVectorAlignment(constants.size(), 1, 64);
  auto data = builder.CreateVector(constants);
  auto meshOffset = mesh();
  auto name = builder.CreateString(program.getSymName().str());
  auto target = builder.CreateString(texts.target);
  auto metadata = builder.CreateString(texts.metadata);
  auto bufferTable = builder.CreateVector(buffers);
  auto inputTable = builder.CreateVector(inputs);
  auto outputTable = builder.CreateVector(outputs);
  auto kernelTable = builder.CreateVector(code->kernels);
  auto moduleTable = builder.CreateVector(code->modules);
  auto instructionTable = builder.CreateVector(instructions);
  auto observed = builder.CreateVector(observations());
  auto sharingTable = builder.CreateVector(sharings());
  builder.Finish(fb::CreateProgram(builder, WEFT_ABI_VERSION, name, target,
                                   meshOffset, program.getArena(), bufferTable,
                                   inputTable, outputTable, data, kernelTable,
                                   moduleTable, instructionTable, metadata,
                                   observed, sharingTable),
                 fb::ProgramIdentifier());
  return std::vector<uint8_t>(builder.GetBufferPointer(),
                              builder.GetBufferPointer() + builder.GetSize());
}

} // namespace

FailureOr<std::vector<uint8_t>> weft::serializePlan(fb::ProgramOp program,
                                                    const PlanTexts &texts) {
  return PlanWriter(program, texts).write();
}
