//===- Explain.cpp - what a program communicates and holds -----------------===//

#include "weft/compiler/explain/Explain.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace weft;

static std::string axisText(const Mesh &mesh, const SubAxis &axis) {
  const MeshAxis &whole = mesh.axes[axis.axis];
  if (axis.size == whole.size)
    return whole.name;
  return whole.name + ":(" + std::to_string(axis.skip) + ")" +
         std::to_string(axis.size);
}

static int64_t totalBytes(ValueRange buffers) {
  int64_t bytes = 0;
  for (Value buffer : buffers)
    bytes += plan::byteSize(cast<MemRefType>(buffer.getType()));
  return bytes;
}

/// Bytes one device sends, see the header's formulas.
static int64_t bytesSent(plan::CollectiveOp op, const Mesh &mesh) {
  if (!op.getGroupAttr()) {
    auto type = cast<MemRefType>(op.getSources().front().getType());
    return receiveLowerBound(mesh, op.getFromLayoutAttr().getLayout(),
                             op.getToLayoutAttr().getLayout(), *op.getShape()) *
           plan::elementBytes(type.getElementType());
  }
  int64_t p = shardCount(op.getGroupAttr().getLayout().dims[0]);
  int64_t before = totalBytes(op.getSources());
  int64_t after = totalBytes(op.getTargets());
  if (op.getKind() == "all_reduce")
    return 2 * (p - 1) * before / p;
  if (op.getKind() == "all_gather")
    return (p - 1) * after / p;
  return (p - 1) * before / p; // reduce_scatter: full array; all_to_all: local
}

/// Names of the layers in a location, in order of first mention.
static void collectNames(Location location, llvm::SetVector<StringRef> &names) {
  location->walk([&](Location inner) {
    if (auto name = dyn_cast<NameLoc>(inner))
      names.insert(name.getName().getValue());
    return WalkResult::advance();
  });
}

static CollectiveCost costOf(plan::CollectiveOp op, const Mesh &mesh) {
  CollectiveCost cost;
  cost.kind = op.getKind().str();
  cost.bytes = bytesSent(op, mesh);
  cost.why = op.getReason().value_or("").str();
  llvm::SetVector<StringRef> names;
  collectNames(op.getLoc(), names);
  cost.where = llvm::join(names, ", ");
  if (auto group = op.getGroupAttr()) {
    for (const SubAxis &axis : group.getLayout().dims[0])
      cost.axes.push_back(axisText(mesh, axis));
    return cost;
  }
  llvm::SetVector<unsigned> axes;
  for (LayoutAttr layout : {op.getFromLayoutAttr(), op.getToLayoutAttr()})
    for (const SubAxes &dim : layout.getLayout().dims)
      for (const SubAxis &axis : dim)
        axes.insert(axis.axis);
  for (unsigned axis : axes)
    cost.axes.push_back(mesh.axes[axis].name);
  return cost;
}

static void addInput(plan::InputOp input, MemoryUse &memory) {
  int64_t bytes = plan::byteSize(cast<MemRefType>(input.getBuffer().getType()));
  if (input.getRole() == "weight" || input.getRole() == "state")
    memory.weights += bytes;
  else if (input.getRole() == "slot")
    memory.optimizer += bytes;
  else
    memory.batch += bytes;
}

Explanation weft::explainProgram(plan::ProgramOp program) {
  Explanation result;
  Mesh mesh = program.getMesh().getMesh();
  result.devices = mesh.size();
  for (Operation &op : program.getBody().front()) {
    if (auto collective = dyn_cast<plan::CollectiveOp>(op))
      result.collectives.push_back(costOf(collective, mesh));
    else if (auto input = dyn_cast<plan::InputOp>(op))
      addInput(input, result.memory);
    else if (auto output = dyn_cast<plan::OutputOp>(op)) {
      if (!output.getDonor())
        result.memory.activations +=
            plan::byteSize(cast<MemRefType>(output.getBuffer().getType()));
    }
  }
  result.memory.temporaries = program.getArena();
  return result;
}

static llvm::json::Array stringArray(const std::vector<std::string> &strings) {
  llvm::json::Array array;
  for (const std::string &text : strings)
    array.push_back(text);
  return array;
}

llvm::json::Value weft::toJson(const Explanation &explanation) {
  llvm::json::Array collectives, rules;
  std::map<std::string, std::pair<int64_t, int64_t>> byKind; // count, bytes
  int64_t bytes = 0, count = 0;
  for (const CollectiveCost &cost : explanation.collectives) {
    collectives.push_back(llvm::json::Object{{"kind", cost.kind},
                                             {"axes", stringArray(cost.axes)},
                                             {"bytes", cost.bytes},
                                             {"count", cost.count},
                                             {"where", cost.where},
                                             {"why", cost.why},
                                             {"fix", nullptr}});
    byKind[cost.kind].first += cost.count;
    byKind[cost.kind].second += cost.count * cost.bytes;
    bytes += cost.count * cost.bytes;
    count += cost.count;
  }
  llvm::json::Object kinds;
  for (auto &[kind, sums] : byKind)
    kinds[kind] =
        llvm::json::Object{{"count", sums.first}, {"bytes", sums.second}};
  for (const RuleStatus &rule : explanation.rules)
    rules.push_back(llvm::json::Object{{"key", rule.key},
                                       {"matches", stringArray(rule.matches)},
                                       {"status", rule.status}});
  const MemoryUse &memory = explanation.memory;
  return llvm::json::Object{
      {"collectives", std::move(collectives)},
      {"total", llvm::json::Object{{"bytes", bytes},
                                   {"count", count},
                                   {"by_kind", std::move(kinds)}}},
      {"memory", llvm::json::Object{{"weights", memory.weights},
                                    {"optimizer", memory.optimizer},
                                    {"activations", memory.activations},
                                    {"temporaries", memory.temporaries},
                                    {"batch", memory.batch},
                                    {"total", memory.total()}}},
      {"rules", std::move(rules)}};
}

/// 1234567 -> 1,234,567
static std::string grouped(int64_t value) {
  std::string digits = std::to_string(value);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return digits;
}

static std::string fitted(std::string text, unsigned width) {
  if (text.size() > width)
    text = text.substr(0, width > 3 ? width - 3 : 0) + "...";
  return text;
}

std::string weft::toText(const Explanation &explanation, unsigned width) {
  std::string text;
  llvm::raw_string_ostream out(text);
  int64_t bytes = 0;
  if (explanation.collectives.empty())
    out << "No communication: every device works alone.\n";
  else
    out << "Communication of one step, bytes sent by one device of "
        << explanation.devices << ":\n";
  for (const CollectiveCost &cost : explanation.collectives) {
    out << "  " << llvm::left_justify(cost.kind, 15)
        << llvm::left_justify(llvm::join(cost.axes, ","), 14)
        << llvm::right_justify(grouped(cost.bytes), 13) << "  "
        << fitted(cost.why, width - 47) << "\n";
    bytes += cost.bytes * cost.count;
  }
  if (!explanation.collectives.empty())
    out << "  " << llvm::left_justify("total", 29)
        << llvm::right_justify(grouped(bytes), 13) << "\n";
  const MemoryUse &memory = explanation.memory;
  out << "\nMemory of the fullest device, in bytes:\n";
  for (auto [name, value] : std::initializer_list<std::pair<StringRef, int64_t>>{
           {"weights", memory.weights},
           {"optimizer", memory.optimizer},
           {"batch", memory.batch},
           {"outputs", memory.activations},
           {"arena", memory.temporaries},
           {"total", memory.total()}})
    out << "  " << llvm::left_justify(name, 29)
        << llvm::right_justify(grouped(value), 13) << "\n";
  for (const RuleStatus &rule : explanation.rules)
    if (rule.status != "used")
      out << "\nwarning: layout rule \"" << rule.key << "\" is " << rule.status
          << (rule.advice.empty() ? "" : "; " + rule.advice) << "\n";
  return text;
}
