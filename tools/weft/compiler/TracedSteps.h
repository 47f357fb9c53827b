//===- TracedSteps.h - steps of a model that Keras traced -------*- C++ -*-===//
//
//   auto steps = TracedSteps::open(flags);          // step.mlir of weft.trace
//   auto image = steps->compile("train", 32);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_TRACEDSTEPS_H
#define WEFT_TOOLS_WEFT_COMPILER_TRACEDSTEPS_H

#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/tools/weft/training/StepSource.h"

namespace weft::tool {

class ForeignProgram;

class TracedSteps : public StepSource {
public:
  /// Opens a traced model.
  static Result<std::unique_ptr<StepSource>> open(const ModelFlags &flags);

  Result<std::vector<uint8_t>> compile(const std::string &step,
                                       int64_t batchSize) override;
  std::vector<int64_t> batchSizes(const std::string &step) const override;
  Status find(const std::string &step, int64_t batchSize) const override;
  std::string settings() const override;
  Status canCheckNumerics() const override { return {}; }
  Result<std::string>
  findNonFinite(const std::string &step, int64_t batchSize,
                const std::vector<NamedArray> &inputs) override;

private:
  /// Reads the file again: its text and IR are not kept while a step runs.
  Result<std::unique_ptr<ForeignProgram>> read(const std::string &step,
                                               int64_t batchSize) const;
  TracedSteps() = default;
  std::vector<stablehlo::StepFunction> steps;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_TRACEDSTEPS_H
