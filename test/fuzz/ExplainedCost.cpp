//===- ExplainedCost.cpp - explained costs, computed again ----------------===//

#include "weft/test/fuzz/ExplainedCost.h"
#include "weft/compiler/explain/Budget.h"
#include "weft/compiler/report/HtmlReport.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weft {

/// An integer that no program's size overflows: 2^62 elements of 16 bytes on
/// 2^16 devices are 2^82 bytes.
using Wide = __int128;

static std::string text(Wide value) {
  std::string digits;
  for (Wide rest = value < 0 ? -value : value; rest || digits.empty();
       rest /= 10)
    digits.insert(digits.begin(), char('0' + int(rest % 10)));
  return (value < 0 ? "-" : "") + digits;
}

static Wide bytesOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Type element = type.getElementType();
  auto complex = dyn_cast<ComplexType>(element);
  Wide bits = complex ? 2 * complex.getElementType().getIntOrFloatBitWidth()
                      : element.getIntOrFloatBitWidth();
  Wide bytes = (bits + 7) / 8;
  for (int64_t size : type.getShape())
    bytes *= size;
  return bytes;
}

static Wide bytesOf(ValueRange buffers) {
  Wide bytes = 0;
  for (Value buffer : buffers)
    bytes += bytesOf(buffer);
  return bytes;
}

static plan::ProgramOp programOf(ModuleOp planned) {
  return *planned.getOps<plan::ProgramOp>().begin();
}

/// The bytes that one device sends by the formula of its kind, for shards with
/// their padding (RingTraffic.h); nothing if the bytes depend on where elements
/// are.
static std::optional<Wide> sentBytes(plan::StartOp op) {
  Wide devices = 1, before = bytesOf(op.getSources()),
       after = bytesOf(op.getTargets());
  for (SubAxes axes = op.getGroupAxes(); const SubAxis &axis : axes)
    devices *= axis.size;
  auto up = [&](Wide bytes) { return (bytes + devices - 1) / devices; };
  return llvm::StringSwitch<std::optional<Wide>>(op.getName())
      .Case("all_reduce", up(2 * (devices - 1) * before))
      .Case("all_gather", (devices - 1) * before)
      .Case("reduce_scatter", (devices - 1) * after)
      .Case("all_to_all", up((devices - 1) * std::max(before, after)))
      .Default(std::nullopt);
}

static std::string collectiveProblem(plan::ProgramOp program,
                                     const Explanation &explanation) {
  size_t index = 0;
  for (auto op : program.getOps<plan::StartOp>()) {
    if (index == explanation.collectives.size())
      return "has collectives that are not explained";
    const CollectiveCost &cost = explanation.collectives[index++];
    Wide sent = sentBytes(op).value_or(cost.bytes);
    if (cost.kind != op.getName() || cost.bytes < 0 || sent != cost.bytes)
      return op.getName().str() + " sends " + text(sent) + " bytes, " +
             std::to_string(cost.bytes) + " is explained";
  }
  return index == explanation.collectives.size() ? ""
                                                 : "explains too many "
                                                   "collectives";
}

static std::string memoryProblem(plan::ProgramOp program,
                                 const Explanation &explanation) {
  const MemoryUse &memory = explanation.memory;
  const Mesh mesh = program.getMesh().getMesh();
  Wide bytes = 0; // bytes of the device that holds most
  for (int64_t position = 0; position < mesh.size(); ++position) {
    auto held = [&](auto port) {
      return holds(mesh, port.getLayout().getLayout(), position)
                 ? bytesOf(port.getBuffer())
                 : Wide(0);
    };
    Wide own = program.getArena();
    for (auto input : program.getOps<plan::InputOp>())
      own += held(input);
    for (auto output : program.getOps<plan::OutputOp>())
      own += output.getDonated() ? 0 : held(output);
    bytes = std::max(bytes, own);
  }
  for (auto buffer : program.getOps<plan::BufferOp>())
    if (Wide end = buffer.getOffset() + bytesOf(buffer.getBuffer());
        end > program.getArena())
      return "a buffer ends at " + text(end) + ", the arena at " +
             std::to_string(program.getArena());
  bool isNegative = memory.weights < 0 || memory.optimizer < 0 ||
                    memory.activations < 0 || memory.temporaries < 0 ||
                    memory.batch < 0;
  return bytes == memory.total() && !isNegative
             ? ""
             : "takes " + text(bytes) + " bytes, " +
                   std::to_string(memory.total()) + " is explained";
}

/// Checks that a budget of a program's cost holds, and a smaller one does not.
static std::string budgetProblem(ModuleOp planned, llvm::StringRef subject,
                                 int64_t cost) {
  ScopedDiagnosticHandler silent(planned.getContext(),
                                 [](Diagnostic &) { return success(); });
  std::string name = subject.str(), value = std::to_string(cost);
  if (failed(checkBudget(planned, {name + "<=" + value})))
    return "the budget \"" + name + "<=" + value + "\" is broken";
  if (succeeded(checkBudget(planned, {name + "<" + value})))
    return "the budget \"" + name + "<" + value + "\" holds";
  return "";
}

static std::string reportProblem(plan::ProgramOp program,
                                 const Explanation &explanation) {
  Report report;
  report.explanation = explanation;
  report.mesh = program.getMesh().getMesh();
  report.tensors = tensorLayouts(program);
  report.timeline = timelineOf(program);
  std::string json = llvm::formatv("{0}", toJson(explanation));
  if (!llvm::StringRef(toText(explanation)).contains("Memory of the fullest") ||
      !llvm::StringRef(json).contains("\"memory\"") ||
      !llvm::StringRef(toHtml(report)).contains("</html>"))
    return "is not reported";
  return "";
}

std::string costProblem(ModuleOp planned) {
  plan::ProgramOp program = programOf(planned);
  Explanation explanation = explainProgram(program);
  std::string problem = collectiveProblem(program, explanation);
  if (problem.empty())
    problem = memoryProblem(program, explanation);
  if (problem.empty())
    problem = budgetProblem(planned, "collectives", explanation.totalCount());
  if (problem.empty())
    problem = budgetProblem(planned, "bytes", explanation.totalBytes());
  if (problem.empty())
    problem = budgetProblem(planned, "memory", explanation.memory.total());
  return problem.empty() ? reportProblem(program, explanation) : problem;
}

std::string countProblem(ModuleOp planned,
                         llvm::ArrayRef<weft_counter> counted) {
  plan::ProgramOp program = programOf(planned);
  auto isUnknown = [](plan::StartOp op) { return op.getTimes() == 0; };
  if (llvm::any_of(program.getOps<plan::StartOp>(), isUnknown))
    return "";
  struct Sum {
    uint64_t count = 0, bytes = 0;
  };
  std::map<std::string, Sum> explained, ran;
  const Mesh mesh = program.getMesh().getMesh();
  const Explanation explanation = explainProgram(program);
  for (int64_t position = 0; position < mesh.size(); ++position) {
    std::map<std::string, Sum> own;
    for (const CollectiveCost &cost : explanation.collectives)
      if (isIn(mesh.axes, cost.part, position)) {
        own[cost.kind].count += uint64_t(cost.count);
        own[cost.kind].bytes += uint64_t(cost.count * cost.bytes);
      }
    for (const auto &[kind, its] : own) {
      Sum &most = explained[kind];
      most.count = std::max(most.count, its.count);
      most.bytes = std::max(most.bytes, its.bytes);
    }
  }
  for (const weft_counter &counter : counted)
    ran[counter.kind] = {counter.count, counter.bytes};
  bool branches = llvm::any_of(program.getOps<plan::LabelOp>(), [](auto op) {
    return op.getName().starts_with("else");
  });
  for (const auto &[kind, found] : ran)
    explained.try_emplace(kind);
  for (const auto &[kind, said] : explained) {
    Sum found = ran[kind];
    // Bytes are of the device that sends most; of several exchanges each may
    // have another one, so their sums may differ.
    bool isRing = kind.starts_with("all_") || kind == "reduce_scatter";
    bool sameBytes = !branches && (isRing || said.count <= 1);
    if (found.count > said.count || found.bytes > said.bytes ||
        (!branches && found.count != said.count) ||
        (sameBytes && found.bytes != said.bytes))
      return "runs " + std::to_string(found.count) + " " + kind + " of " +
             std::to_string(found.bytes) + " bytes, " +
             std::to_string(said.count) + " of " + std::to_string(said.bytes) +
             " bytes are explained";
  }
  return "";
}

} // namespace weft
