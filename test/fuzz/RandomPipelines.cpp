//===- RandomPipelines.cpp - steps whose stages work side by side ---------===//
//
// A chain of small layers on the coordinates of "stage", perhaps with a batch that
// is split over "data", as a step of training or as a forward pass:
//
//   @loss   layers: products with weights, sums with biases, clamps, residuals from
//           earlier stages, weights of earlier stages, tables of constants; on the
//           last stage, or on two, the loss
//   @main   value_and_grad of it, and updates of the weights
//
// with a schedule by name or in lists. Values are clamped, so that all numbers are
// exact: the whole batch at once is the oracle.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/RandomPipelines.h"
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/ScheduleChecks.h"
#include "weft/base/pipeline/SteadyState.h"

#include "llvm/ADT/StringExtras.h"

#include <random>
#include <vector>

namespace weft {

namespace {
class PipelineProgram {
public:
  explicit PipelineProgram(uint64_t seed) : random(seed ^ 0x9e3779b97f4a7c15) {}
  std::string run();

private:
  struct Value {
    std::string name;
    int stage;
  };
  struct Argument {
    std::string name, type, layout, role;
    bool isTrained = false;
  };

  int below(int n) { return int(random() % uint64_t(n)); }
  bool oneIn(int n) { return below(n) == 0; }
  std::string next() { return "%v" + std::to_string(number++); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string matrix() const { return "tensor<" + side + "x" + side + "xf32>"; }
  std::string vector() const { return "tensor<" + side + "xf32>"; }
  std::string rows() const {
    return "tensor<" + std::to_string(batch) + "x" + side + "xf32>";
  }

  void drawSizes();
  std::string drawSchedule();
  std::string drawLists(const std::string &name);
  std::string layoutAt(int rank, int stage, bool isBatch);
  std::string add(const std::string &kind, const std::string &type, int rank,
                  int stage, const std::string &role);
  std::string constrained(const std::string &value, const std::string &type,
                          int rank, int stage);
  /// A value or weight of an earlier stage, here.
  std::string moved(const Value &value, const std::string &type, int stage);
  std::string binary(const std::string &op, const std::string &a,
                     const std::string &b);
  std::string broadcast(const std::string &value);
  std::string clamped(const std::string &value);
  std::string layer(const std::string &value, int stage);
  std::string lossOf(const std::string &value, int stage);
  void layers();
  std::string mainText() const;

  std::mt19937_64 random;
  std::string body, side;
  int number = 0, stages = 2, chunks = 1, devices = 1, batch = 2,
      microbatches = 2;
  bool isTrained = true, showsRows = false;
  std::vector<Argument> arguments;
  std::vector<Value> values, weights;
  std::string loss, shown;
};
} // namespace

void PipelineProgram::drawSizes() {
  stages = 2 + below(3);
  devices = oneIn(2) ? 1 + below(8 / stages) : 1;
  batch = 2 + below(12);
  microbatches = 2 + below(8);
  side = std::to_string(2 + below(2));
  isTrained = !oneIn(5);
  showsRows = oneIn(3);
  if (oneIn(4)) {
    chunks = 2;
    stages = 2;
    microbatches = 2 * (1 + below(4));
  }
}

/// 1F1B or GPipe in lists, in which some backward passes are divided in gradients
/// of inputs and, at once or later, of weights.
std::string PipelineProgram::drawLists(const std::string &name) {
  pipeline::Schedule schedule = *pipeline::generate(name, stages, microbatches);
  using pipeline::Work;
  using pipeline::WorkKind;
  // All passes of a stage are divided, or none, so that there is a loop.
  for (std::vector<Work> &list : schedule.stages) {
    if (oneIn(2))
      continue;
    std::vector<Work> divided, waiting;
    size_t delay = size_t(below(3));
    for (const Work &work : list) {
      if (work.kind != WorkKind::Backward) {
        divided.push_back(work);
        continue;
      }
      divided.push_back({WorkKind::InputGradient, work.microbatch, 0});
      waiting.push_back({WorkKind::WeightGradient, work.microbatch, 0});
      if (waiting.size() > delay) {
        divided.push_back(waiting.front());
        waiting.erase(waiting.begin());
      }
    }
    divided.insert(divided.end(), waiting.begin(), waiting.end());
    list = divided;
  }
  if (!pipeline::check(schedule) || !pipeline::steadyState(schedule))
    return "\"" + name + "\"";
  std::vector<std::string> lists;
  for (const std::vector<Work> &list : schedule.stages)
    lists.push_back("\"" + pipeline::textOf(list) + "\"");
  return "[" + llvm::join(lists, ", ") + "]";
}

std::string PipelineProgram::drawSchedule() {
  if (chunks > 1)
    return "\"interleaved\", chunks = 2 : i64";
  static const char *names[] = {"gpipe", "1f1b", "zb-h1"};
  std::string name = names[below(3)];
  return name != "zb-h1" && oneIn(2) ? drawLists(name) : "\"" + name + "\"";
}

/// A layout on a stage; of rows, perhaps over "data".
std::string PipelineProgram::layoutAt(int rank, int stage, bool isBatch) {
  std::vector<std::string> dims(size_t(rank), "{}");
  if (devices > 1 && (isBatch ? !oneIn(3) : oneIn(4)))
    dims[isBatch ? 0 : size_t(below(rank))] = "{\"data\"}";
  return "#weft.layout<#mesh, [" + llvm::join(dims, ", ") +
         "], at = {\"stage\" = " + std::to_string(stage % stages) + "}>";
}

std::string PipelineProgram::add(const std::string &kind,
                                 const std::string &type, int rank, int stage,
                                 const std::string &role) {
  bool isWeight = role == "weight";
  arguments.push_back({"%" + kind + std::to_string(arguments.size()), type,
                       layoutAt(rank, stage, !isWeight), role,
                       isWeight && isTrained});
  return arguments.back().name;
}

std::string PipelineProgram::constrained(const std::string &value,
                                         const std::string &type, int rank,
                                         int stage) {
  std::string name = next();
  std::vector<std::string> dims(size_t(rank), "{}"), open;
  for (int d = 0; d < rank; ++d)
    open.push_back(std::to_string(d));
  line(name + " = weft.constrain " + value + " to #weft.layout<#mesh, [" +
       llvm::join(dims, ", ") +
       "], at = {\"stage\" = " + std::to_string(stage % stages) +
       "}> {weft.open = array<i64: " + llvm::join(open, ", ") + ">} : " + type +
       " -> " + type);
  return name;
}

std::string PipelineProgram::moved(const Value &value, const std::string &type,
                                   int stage) {
  int rank = type == vector() ? 1 : 2;
  std::string home = constrained(value.name, type, rank, value.stage);
  return value.stage % stages == stage % stages
             ? home
             : constrained(home, type, rank, stage);
}

std::string PipelineProgram::binary(const std::string &op, const std::string &a,
                                    const std::string &b) {
  std::string name = next();
  line(name + " = weft." + op + " " + a + ", " + b + " : " + rows());
  return name;
}

std::string PipelineProgram::broadcast(const std::string &value) {
  std::string name = next();
  line(name + " = weft.broadcast " + value + " dims [1] : " + vector() +
       " -> " + rows());
  return name;
}

std::string PipelineProgram::clamped(const std::string &value) {
  std::string low = next(), high = next();
  line(low + " = weft.constant dense<-3.0> : " + rows());
  line(high + " = weft.constant dense<3.0> : " + rows());
  return binary("min", binary("max", value, low), high);
}

/// Draws a layer on a stage.
std::string PipelineProgram::layer(const std::string &value, int stage) {
  auto dot = [&](const std::string &weight) {
    std::string name = next();
    line(name + " = weft.dot " + value + ", " + weight +
         " contract [1] x [0] : " + rows() + ", " + matrix() + " -> " + rows());
    return clamped(name);
  };
  switch (below(6)) {
  case 0:
    if (!values.empty())
      return clamped(binary(
          "add", value,
          moved(values[size_t(below(int(values.size())))], rows(), stage)));
    [[fallthrough]];
  case 1:
    if (!weights.empty())
      return dot(
          moved(weights[size_t(below(int(weights.size())))], matrix(), stage));
    [[fallthrough]];
  case 2:
    return clamped(binary("add", value,
                          broadcast(add("b", vector(), 1, stage, "weight"))));
  case 3: {
    // Equal tables are one value for all stages.
    std::string table = next();
    line(table + " = weft.constant dense<[" +
         (side == "2" ? "1.0, 2.0" : "1.0, 2.0, -1.0") + "]> : " + vector());
    return clamped(binary(oneIn(2) ? "mul" : "add", value, broadcast(table)));
  }
  case 4:
    if (oneIn(2))
      return clamped(binary("add", value, add("x", rows(), 2, stage, "input")));
    [[fallthrough]];
  default:
    weights.push_back({add("w", matrix(), 2, stage, "weight"), stage});
    return dot(weights.back().name);
  }
}

std::string PipelineProgram::lossOf(const std::string &value, int stage) {
  std::string e = binary("mul", value, add("y", rows(), 2, stage, "label"));
  std::string sum = next();
  line(sum + " = weft.reduce sum " + e + " dims [0, 1] : " + rows() +
       " -> tensor<f32>");
  return sum;
}

void PipelineProgram::layers() {
  std::string value = add("x", rows(), 2, 0, "input");
  int last = stages * chunks - 1;
  for (int stage = 0; stage <= last; ++stage) {
    if (stage > 0)
      value = moved({value, stage - 1}, rows(), stage);
    // Each stage has a weight, and so passes of each kind.
    weights.push_back({add("w", matrix(), 2, stage, "weight"), stage});
    std::string name = next();
    line(name + " = weft.dot " + value + ", " + weights.back().name +
         " contract [1] x [0] : " + rows() + ", " + matrix() + " -> " + rows());
    value = clamped(name);
    for (int n = below(3); n > 0; --n)
      value = layer(value, stage);
    value = constrained(value, rows(), 2, stage);
    values.push_back({value, stage});
  }
  shown = value;
  loss = lossOf(value, last);
  if (oneIn(4)) {
    const Value &other = values[size_t(below(int(values.size())))];
    std::string sum = next();
    line(sum + " = weft.add " + loss + ", " + lossOf(other.name, other.stage) +
         " : tensor<f32>");
    loss = sum;
  }
}

/// @main: the updates, or the forward pass.
std::string PipelineProgram::mainText() const {
  std::vector<std::string> named, typed, types, results, resultTypes, wrt,
      given;
  std::string updates;
  std::vector<std::string> gradients;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    std::string attributes = "weft.layout = " + argument.layout +
                             ", weft.role = \"" + argument.role + "\"";
    if (argument.isTrained) {
      attributes +=
          ", weft.donated = " + std::to_string(results.size()) + " : i64";
      std::string name = "%u" + std::to_string(index);
      updates += "  " + name + " = weft.sub " + argument.name + ", %l#" +
                 std::to_string(wrt.size() + (showsRows ? 2 : 1)) + " : " +
                 argument.type + "\n";
      wrt.push_back(std::to_string(index));
      gradients.push_back(argument.type);
      results.push_back(name);
      given.push_back(argument.type);
      resultTypes.push_back(argument.type +
                            " {weft.layout = " + argument.layout + "}");
    }
    named.push_back(argument.name);
    types.push_back(argument.type);
    typed.push_back(argument.name + ": " + argument.type + " {" + attributes +
                    "}");
  }
  std::vector<std::string> values = {"tensor<f32>"};
  if (showsRows)
    values.push_back(rows());
  std::string call;
  if (isTrained) {
    std::vector<std::string> all = values;
    all.insert(all.end(), gradients.begin(), gradients.end());
    call = "  %l:" + std::to_string(all.size()) +
           " = weft.value_and_grad @loss(" + llvm::join(named, ", ") +
           ") wrt [" + llvm::join(wrt, ", ") + "] : (" +
           llvm::join(types, ", ") + ") -> (" + llvm::join(all, ", ") + ")\n";
  }
  for (size_t i = 0; i < values.size(); ++i) {
    results.push_back(isTrained ? "%l#" + std::to_string(i)
                                : (i == 0 ? loss : shown));
    given.push_back(values[i]);
    resultTypes.push_back(values[i]);
  }
  std::string head = "func.func @main(" + llvm::join(typed, ", ") + ") -> (" +
                     llvm::join(resultTypes, ", ") + ") {\n";
  std::string end = "  return " + llvm::join(results, ", ") + " : " +
                    llvm::join(given, ", ") + "\n}\n";
  if (!isTrained)
    return head + body + end;
  std::vector<std::string> plain;
  for (const Argument &argument : arguments)
    plain.push_back(argument.name + ": " + argument.type);
  return head + call + updates + end + "func.func private @loss(" +
         llvm::join(plain, ", ") + ") -> (" + llvm::join(values, ", ") +
         ") {\n" + body + "  return " + loss + (showsRows ? ", " + shown : "") +
         " : " + llvm::join(values, ", ") + "\n}\n";
}

std::string PipelineProgram::run() {
  drawSizes();
  layers();
  std::string mesh = "\"stage\"=" + std::to_string(stages);
  if (devices > 1)
    mesh += ", \"data\"=" + std::to_string(devices);
  return "#mesh = #weft.mesh<" + mesh +
         ">\nmodule attributes {weft.mesh = #mesh, weft.microbatches = " +
         std::to_string(microbatches) +
         " : i64, weft.pipeline = {axis = \"stage\", schedule = " +
         drawSchedule() + "}} {\n" + mainText() + "}\n";
}

std::string randomPipeline(uint64_t seed) {
  return PipelineProgram(seed).run();
}

} // namespace weft
