//===- StepCompiler.h - a model's steps as programs -------------*- C++ -*-===//
//
//   auto steps  = StepCompiler::open(flags);
//   auto module = (*steps)->import("train", 128);    // stage `imported`
//   auto image  = (*steps)->compile("train", 128);   // bytes of a .weft file
//
// The common part of the subcommands: it reads model, distribution, seeds and
// devices. MLIR's diagnostics are printed; an error whose diagnostic was has no
// message.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_STEPCOMPILER_H
#define WEFT_TOOLS_WEFT_COMPILER_STEPCOMPILER_H

#include "weft/compiler/driver/Session.h"
#include "weft/compiler/explain/TensorLayouts.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/tools/weft/compiler/Compilation.h"
#include "weft/tools/weft/compiler/ExplainPipeline.h"
#include "weft/tools/weft/training/StepSource.h"

#include <memory>

namespace weft::tool {

struct ModelFile;

/// Prints the errors and warnings of a session to stderr as `weft: error: PLACE:
/// ...` and `weft: warning: ...`; PLACE is a place in a file of IR or else
/// `input`. `namesOps`: ops without a place in a file are named by their
/// locations.
Session::Report printed(const std::string &input, bool namesOps = false);

/// Checks --target, --memory, --expect and --shape, which only the compiler can;
/// FlagValues.h has the other checks.
Status checkFlags(const ModelFlags &flags);

/// The options from flags: target, precision, cache, memory and timing.
CompileOptions compileOptions(const ModelFlags &flags);

class StepCompiler : public StepSource {
public:
  /// Reads everything that the flags name.
  static Result<std::unique_ptr<StepCompiler>> open(const ModelFlags &flags);

  /// The module of a step at stage `imported`.
  Result<Module> import(const std::string &step, int64_t batchSize);
  /// As Compilation::reach.
  Result<Module> reach(const std::string &step, int64_t batchSize, Stage stage,
                       bool *isOverBudget = nullptr) {
    return compilation(step, batchSize).reach(stage, isOverBudget);
  }
  /// Adds the uses of the layout map's rules.
  void explainRules(Explanation &explanation);
  /// The stages of a train step, if the distribution makes a pipeline of it.
  std::optional<PipelineReport> explainPipeline(const std::string &step,
                                                int64_t batchSize) const;
  /// Adds the layout and its reason for ports and for inner tensors with a
  /// rule.
  void explainTensors(std::vector<TensorLayout> &tensors, int64_t batchSize);
  /// Adds fixes of the step that was compiled last: changes of annotations, with
  /// their costs.
  void findFixes(Explanation &explanation, const std::string &step,
                 int64_t batchSize) {
    findFixes(explanation, scheduled, step, batchSize);
  }
  /// Compiles to the bytes of a .weft file.
  Result<std::vector<uint8_t>> compile(const std::string &step,
                                       int64_t batchSize) override;
  /// As Compilation::assembly, for --target.
  Result<std::string> assembly(const std::string &step, int64_t batchSize,
                               const std::vector<std::string> &kernels) {
    return compilation(step, batchSize).assembly(kernels);
  }

  const keras::Model &model() const { return kerasModel; }
  /// Values of a .keras file, by variable path; else none.
  const std::vector<StoredArray> &savedWeights() const override {
    return weights;
  }
  const keras::Distribution *distribution() const {
    return resolved ? &layouts : nullptr;
  }
  bool drawsBySeed() const override { return true; }
  Status canSaveModel(const std::string &) const override { return {}; }
  Status saveModel(const std::string &path, const std::string &weights,
                   const ModelState &state, bool writesFile) const override;
  Status saveWeights(const std::string &path, const ModelState &state,
                     uint64_t mostBytes, bool writesFile) const override;
  Status verify(const std::string &step, int64_t batchSize) override;
  std::string settings() const override;
  Status canCheckNumerics() const override { return {}; }
  Result<std::string>
  findNonFinite(const std::string &step, int64_t batchSize,
                const std::vector<NamedArray> &inputs) override;
  /// Makes programs of train and evaluate take `sample_weight`.
  void takeSampleWeight(const std::map<std::string, Shape> &shapes) override {
    sampleWeights = shapes;
  }

private:
  StepCompiler() = default;
  Status checkShapeNames(const keras::ModelOptions &options) const;
  Status readModel(const ModelFile &file, keras::ModelOptions &options);
  Status readModelFile();
  Status readDistributionFile();
  Status checkRules();
  Status cutPipeline();
  CompileOptions options() const { return compileOptions(flags); }
  /// A step's program, with the budgets of the command line if they are for it.
  Compilation compilation(const std::string &step, int64_t batchSize);
  Result<Module> import(const std::string &step, int64_t batchSize,
                        const keras::Distribution *layouts,
                        bool namesCalls = false);
  void findFixes(Explanation &explanation,
                 const std::optional<Explanation> &costs,
                 const std::string &step, int64_t batchSize);

  keras::Model kerasModel;
  std::vector<StoredArray> weights;
  keras::Distribution layouts;
  std::optional<keras::ResolvedLayouts> resolved; ///< set by a distribution
  std::optional<std::map<std::string, Shape>> sampleWeights;
  /// The explanation of the step that was compiled last, for findFixes().
  std::optional<Explanation> scheduled;
  /// The session, made on demand; compile() frees it.
  Session &liveSession();
  std::unique_ptr<Session> session;
};

Result<std::string> readTextFile(const std::string &path);
/// The text of a JSON file, which has a limit of its own.
Result<std::string> readJsonFile(const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_STEPCOMPILER_H
