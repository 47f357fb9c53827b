//===- Timeline.cpp - a step, instruction by instruction ------------------===//

#include "weft/compiler/explain/Timeline.h"

#include "weft/compiler/explain/Provenance.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

std::string weft::elementName(Type elementType) {
  if (isa<ComplexType>(elementType))
    return "complex" + std::to_string(8 * bytesOf(elementType));
  if (elementType.isBF16())
    return "bfloat16";
  if (elementType.isF16() || elementType.isF32() || elementType.isF64())
    return "float" + std::to_string(elementType.getIntOrFloatBitWidth());
  if (elementType.isInteger(1))
    return "bool";
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return (integer.isUnsigned() ? "uint" : "int") +
           std::to_string(integer.getWidth());
  std::string text;
  llvm::raw_string_ostream(text) << elementType;
  return text;
}

std::string weft::shapeName(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t n : shape)
    text += (text.empty() ? "" : "x") + std::to_string(n);
  return text.empty() ? "scalar" : text;
}

namespace {

/// Bytes of the arena in use over time; bytes that two buffers share count
/// once.
class Occupancy {
public:
  explicit Occupancy(std::vector<int64_t> bordersOfBuffers)
      : borders(std::move(bordersOfBuffers)) {
    llvm::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    holders.resize(borders.size());
  }

  void change(int64_t begin, int64_t end, int by) {
    for (size_t i = llvm::lower_bound(borders, begin) - borders.begin();
         borders[i] < end; ++i) {
      bool was = holders[i] > 0;
      holders[i] += by;
      bytes += ((holders[i] > 0) - was) * (borders[i + 1] - borders[i]);
    }
  }
  int64_t inUse() const { return bytes; }

private:
  std::vector<int64_t> borders;
  /// The number of values that hold the bytes from each border to the next.
  std::vector<int> holders;
  int64_t bytes = 0;
};

class TimelineReader {
public:
  explicit TimelineReader(plan::ProgramOp program) : program(program) {}
  Timeline read();

private:
  struct Loop {
    size_t first, last;
  };
  struct PlacedValue {
    int64_t begin;
    Resident resident;
  };

  void readInstructions();
  Moment momentOf(Operation &op);
  void readPhases();
  void readBuffers();
  /// Extends the use of carried values to all iterations.
  void stayForLoops(Resident &resident) const;
  void count();
  void fillPeak();

  plan::ProgramOp program;
  Timeline timeline;
  llvm::DenseMap<Operation *, size_t> positions;
  std::vector<Operation *> instructions;
  llvm::StringMap<size_t> labels;
  std::vector<Loop> loops;
  std::vector<PlacedValue> placed;
  size_t collectives = 0;
};

} // namespace

Moment TimelineReader::momentOf(Operation &op) {
  Moment moment;
  moment.where = pathsOf(op.getLoc());
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
    moment.what = launch.getKernel().str();
  } else {
    moment.what = op.getName().stripDialect().str();
    if (auto start = dyn_cast<plan::StartOp>(op)) {
      moment.what = start.getName().str();
      moment.collective = collectives++;
    }
  }
  return moment;
}

void TimelineReader::readInstructions() {
  for (Operation &op : program.getBody().front()) {
    if (auto label = dyn_cast<plan::LabelOp>(op)) {
      labels[label.getName()] = timeline.moments.size();
    } else if (auto output = dyn_cast<plan::OutputOp>(op)) {
      if (!output.getDonated())
        timeline.results +=
            bufferBytes(cast<MemRefType>(output.getBuffer().getType()));
    } else if (auto wait = dyn_cast<plan::WaitOp>(op)) {
      // A part of the moment before it.
      positions[wait] = timeline.moments.size() - 1;
    } else if (plan::isInstruction(op)) {
      positions[&op] = timeline.moments.size();
      instructions.push_back(&op);
      timeline.moments.push_back(momentOf(op));
    }
  }
  for (auto jump : program.getOps<plan::JumpOp>()) {
    size_t first = labels.lookup(jump.getTarget()), last = positions[jump];
    if (first <= last)
      loops.push_back({first, last});
  }
}

void TimelineReader::readPhases() {
  Operation *border = beginOfBackward(program);
  timeline.trains = border != nullptr;
  if (!border)
    return;
  size_t first = positions[border], last = first;
  for (size_t i = first; i < instructions.size(); ++i)
    if (isBackward(instructions[i]->getLoc()))
      last = i;
  for (size_t i = first; i < timeline.moments.size(); ++i)
    timeline.moments[i].phase =
        i <= last ? StepPhase::Backward : StepPhase::Update;
}

void TimelineReader::stayForLoops(Resident &resident) const {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Loop &loop : loops)
      if (resident.first < loop.first && resident.last >= loop.first &&
          resident.last < loop.last) {
        resident.last = loop.last;
        changed = true;
      }
  }
}

void TimelineReader::readBuffers() {
  Operation *border = beginOfBackward(program);
  for (auto buffer : program.getOps<plan::BufferOp>()) {
    auto type = cast<MemRefType>(buffer.getBuffer().getType());
    if (buffer->use_empty())
      continue;
    PlacedValue value;
    value.begin = buffer.getOffset();
    Resident &resident = value.resident;
    resident.bytes = bufferBytes(type);
    resident.type =
        shapeName(type.getShape()) + " " + elementName(type.getElementType());
    resident.first = timeline.moments.size();
    for (Operation *user : buffer->getUsers()) {
      size_t at = positions[user];
      resident.first = std::min(resident.first, at);
      resident.last = std::max(resident.last, at);
      if (auto start = dyn_cast<plan::StartOp>(user))
        resident.last = std::max(resident.last, positions[start.getWait()]);
    }
    size_t start = border ? positions[border] : 0;
    resident.isKept =
        border && resident.first < start && resident.last >= start;
    stayForLoops(resident);
    std::vector<std::string> paths = pathsOf(buffer.getLoc());
    resident.where = llvm::join(paths, ", ");
    placed.push_back(std::move(value));
  }
}

void TimelineReader::count() {
  std::vector<int64_t> borders;
  size_t n = timeline.moments.size();
  std::vector<std::vector<const PlacedValue *>> come(n), go(n + 1);
  for (const PlacedValue &value : placed) {
    borders.push_back(value.begin);
    borders.push_back(value.begin + value.resident.bytes);
    come[value.resident.first].push_back(&value);
    go[value.resident.last + 1].push_back(&value);
  }
  Occupancy all(borders), kept(borders);
  auto change = [&](const PlacedValue &value, int by) {
    int64_t end = value.begin + value.resident.bytes;
    if (value.resident.bytes == 0)
      return;
    all.change(value.begin, end, by);
    if (value.resident.isKept)
      kept.change(value.begin, end, by);
  };
  for (size_t i = 0; i < n; ++i) {
    for (const PlacedValue *value : go[i])
      change(*value, -1);
    for (const PlacedValue *value : come[i])
      change(*value, 1);
    Moment &moment = timeline.moments[i];
    moment.kept = kept.inUse();
    moment.temporaries = all.inUse() - moment.kept;
    if (moment.inUse() > timeline.moments[timeline.peak].inUse())
      timeline.peak = i;
  }
}

void TimelineReader::fillPeak() {
  for (const PlacedValue &value : placed)
    if (value.resident.first <= timeline.peak &&
        timeline.peak <= value.resident.last)
      timeline.atPeak.push_back(value.resident);
  llvm::stable_sort(timeline.atPeak, [](const Resident &a, const Resident &b) {
    return a.bytes > b.bytes;
  });
}

Timeline TimelineReader::read() {
  timeline.arena = program.getArena();
  readInstructions();
  readPhases();
  readBuffers();
  count();
  fillPeak();
  return std::move(timeline);
}

Timeline weft::timelineOf(plan::ProgramOp program) {
  return TimelineReader(program).read();
}
