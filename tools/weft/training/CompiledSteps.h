//===- CompiledSteps.h - steps that were compiled before --------*- C++ -*-===//
//
//   auto steps = CompiledSteps::open(flags);      // step.weft
//   auto image = steps->compile("train", 32);     // found in it, not compiled
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_COMPILEDSTEPS_H
#define WEFT_TOOLS_WEFT_TRAINING_COMPILEDSTEPS_H

#include "weft/tools/weft/programs/StepArchive.h"
#include "weft/tools/weft/training/StepSource.h"

namespace weft::tool {

class CompiledSteps : public StepSource {
public:
  /// Opens a .weft file.
  static Result<std::unique_ptr<StepSource>> open(const ModelFlags &flags);

  Result<std::vector<uint8_t>> compile(const std::string &step,
                                       int64_t batchSize) override;
  Status find(const std::string &step, int64_t batchSize) const override;
  std::vector<int64_t> batchSizes(const std::string &step) const override;
  /// The hash that noteSource() put into the first step.
  std::string settings() const override;

private:
  CompiledSteps() = default;
  const CompiledStep *step(const std::string &kind, int64_t batchSize) const;
  std::vector<CompiledStep> steps;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_COMPILEDSTEPS_H
