//===- Generators.h - the schedules of the literature -----------*- C++ -*-===//
//
//   gpipe(2, 3)                stage 0: F0 F1 F2 B0 B1 B2
//                              stage 1: F0 F1 F2 B0 B1 B2
//   oneForwardOneBackward(2, 3)  0: F0 F1 B0 F2 B1 B2
//                                1: F0 B0 F1 B1 F2 B2
//   zeroBubble(2, 3)           stage 0: F0 F1 I0 W0 F2 I1 W1 I2 W2
//                              stage 1: F0 I0 F1 I1 W0 F2 I2 W1 W2
//
// With p stages, m microbatches, and times F, B and W of a stage's forward pass
// and its gradients of inputs and weights, stages wait for (m >= p)
//
//   GPipe and 1F1B      (p - 1) (F + B + W)
//   interleaved 1F1B    (p - 1) (F + B + W) / chunks
//   ZB-H1               (p - 1) (F + B - W), where the three times are equal
//
// Sources: GPipe (Huang et al., arXiv:1811.06965), 1F1B and its interleaved form
// (Narayanan et al., arXiv:2104.04473), ZB-H1 (Qi et al., arXiv:2401.10241).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_PIPELINE_GENERATORS_H
#define WEFT_BASE_PIPELINE_GENERATORS_H

#include "weft/base/pipeline/Schedule.h"

namespace weft::pipeline {

// Each needs at least one stage, microbatch and chunk, and at most kMostItems
// items: others are errors.

/// All forward passes, then all backward passes.
Result<Schedule> gpipe(int stages, int microbatches);
/// As few forward passes ahead as keep all stages busy.
Result<Schedule> oneForwardOneBackward(int stages, int microbatches);
/// 1F1B over several chunks of each stage. The number of microbatches must be a
/// multiple of the number of stages.
Result<Schedule> interleaved(int stages, int microbatches, int chunks);
/// ZB-H1: 1F1B whose gradients of weights come later, where stages would wait,
/// with no more live activations than 1F1B has on its first stage.
Result<Schedule> zeroBubble(int stages, int microbatches);
/// The schedule of a name: gpipe, 1f1b, interleaved, zb-h1. An error lists the
/// names; only interleaved takes more than one chunk.
Result<Schedule> generate(const std::string &name, int stages, int microbatches,
                          int chunks = 1);
const std::vector<std::string> &scheduleNames();

} // namespace weft::pipeline

#endif // WEFT_BASE_PIPELINE_GENERATORS_H
